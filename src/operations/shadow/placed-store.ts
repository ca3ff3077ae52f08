import type { LeaseLook, LeaseNames, SeedItem, Store, StoreBeat, StoreRead, StoreWrite } from '../../cache/store.ts';
import { ownBytes } from '../../cache/tiers.ts';
import type { Placement, StoreRef } from '../../control/document.ts';
import type { Clock } from '../../runtime.ts';
import type { StoreContent } from '../flush/content.ts';
import type { Mirror } from './mirror.ts';

/** A store with its connections. */
export interface OpenStore extends Store {
  readonly content: StoreContent;
  /** Whether the store holds a name; undefined when it did not answer. */
  readonly holds: (storeName: string) => Promise<boolean | undefined>;
}

/** A store that this process declares. */
export interface DeclaredStore {
  readonly ref: StoreRef;
  /** Connects in the background. */
  readonly open: () => OpenStore;
}

/**
 * The store of a domain that declares candidates. It sends every command to the store or stores that the control document
 * names. At each moment one of them is **active**: it is read first, and it holds the leases.
 *
 * | placement | read | leases | written |
 * |---|---|---|---|
 * | none | configured | configured | configured |
 * | prepared | active | active | active, then other |
 * | committed | active, then other | active | active, then other |
 * | settled | active | active | active |
 *
 * Two adjacent rows are in force in a fleet at once, for a poll interval or while a process is cut off. Processes of both rows
 * read every page that the others write. A lease is held in the active store of its process, so while there is another store, a
 * process that has taken a lease looks whether the other one holds a lease too, and waits if it does.
 */
export type PlacedStore = ReturnType<typeof createPlacedStore>;

interface PlacedStoreOptions {
  readonly configured: DeclaredStore;
  readonly candidates: readonly DeclaredStore[];
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

interface Opened {
  readonly ref: StoreRef;
  readonly store: OpenStore;
}

interface Route {
  readonly active: Opened;
  readonly other: Opened | undefined;
  readonly phase: Placement['phase'] | undefined;
}

/** The share of a read's deadline that the active store gets while the other one is asked after it. */
const FIRST_SHARE = 0.5;
/** A read with less time left is not begun. */
const MIN_READ_MS = 1;
/** A larger value is not copied: the search may refuse it, and would not keep its bytes. */
const MAX_COPIED_BYTES = 2 ** 20;
/** A count of live processes is forgotten after this time. */
const BEAT_KEPT_MS = 5000;

export function createPlacedStore({ configured, candidates, clock }: PlacedStoreOptions) {
  const declared = new Map([configured, ...candidates].map((one) => [one.ref.fingerprint, one]));
  const open = new Map<string, Opened>();
  /** The store in which each lease of this process was taken. Every lease ends, so the map is bounded by the loads. */
  const holders = new Map<string, Opened>();
  const beats = new Map<string, { readonly ids: readonly string[]; readonly atMs: number }>();
  let mirror: Mirror | undefined;
  let isolated = false;
  let closed = false;

  const openedAs = ({ fingerprint }: Pick<StoreRef, 'fingerprint'>): Opened | undefined => {
    const known = open.get(fingerprint);
    const one = declared.get(fingerprint);
    if (known !== undefined || one === undefined || closed) return known;
    const opened = { ref: one.ref, store: one.open() };
    open.set(fingerprint, opened);
    return opened;
  };
  const first = openedAs(configured.ref);
  if (first === undefined) throw new Error('the configured store is not declared');
  let route: Route = { active: first, other: undefined, phase: undefined };

  const readsOther = ({ other, phase }: Route): boolean => other !== undefined && (phase === 'committed' || isolated);
  const inUse = (): readonly Opened[] => (route.other === undefined ? [route.active] : [route.active, route.other]);

  /** Both reads end within one deadline. When neither store has the value, the miss has the active store's reason. */
  const readBehind = (other: Opened, name: string, deadlineMs: number, settle: (read: StoreRead) => void): void => {
    const startedMs = clock.monotonicMs();
    route.active.store.read(name, deadlineMs * FIRST_SHARE, (read) => {
      const leftMs = deadlineMs - (clock.monotonicMs() - startedMs);
      if (read.kind === 'value' || leftMs < MIN_READ_MS) {
        settle(read);
        return;
      }
      other.store.read(name, leftMs, (older) => {
        settle(older.kind === 'value' ? found(older, read) : read);
      });
    });
  };
  const readPlaced: Store['read'] = (name, deadlineMs, settle) => {
    const { active, other } = route;
    if (other !== undefined && readsOther(route)) readBehind(other, name, deadlineMs, settle);
    else active.store.read(name, deadlineMs, settle);
  };
  /** The mirror sees the result after the search has it, and both keep the same bytes. */
  const read: Store['read'] = (name, deadlineMs, settle) => {
    const seen = mirror;
    if (seen === undefined || !seen.samples(name)) {
      readPlaced(name, deadlineMs, settle);
      return;
    }
    const startedMs = clock.monotonicMs();
    readPlaced(name, deadlineMs, (read) => {
      const durationMs = clock.monotonicMs() - startedMs;
      const own = withOwnBytes(read);
      settle(own ?? read);
      if (own !== undefined) seen.noteRead(name, own, durationMs);
    });
  };

  const readMany: Store['readMany'] = async (names, deadlineMs) => {
    const { active, other } = route;
    const behind = other !== undefined && readsOther(route) ? other : undefined;
    const startedMs = clock.monotonicMs();
    const firstMs = behind === undefined ? deadlineMs : deadlineMs * FIRST_SHARE;
    const reads = [...(await active.store.readMany(names, firstMs))];
    const leftMs = deadlineMs - (clock.monotonicMs() - startedMs);
    const missing = names.flatMap((name, at) => (reads[at]?.kind === 'value' ? [] : [{ name, at }]));
    if (behind !== undefined && missing.length > 0 && leftMs >= MIN_READ_MS) {
      const wanted = missing.map(({ name }) => name);
      const older = await behind.store.readMany(wanted, leftMs);
      for (const [index, { at }] of missing.entries()) {
        const value = older[index];
        if (value?.kind === 'value') reads[at] = found(value, reads[at]);
      }
    }
    return reads.map((one, at) => {
      const name = names[at] ?? '';
      const own = mirror?.samples(name) === true ? withOwnBytes(one) : undefined;
      // The time of a batch is not that of a read, which the candidate gets instead.
      if (own !== undefined) mirror?.noteRead(name, own, undefined);
      return own ?? one;
    });
  };

  /** A candidate that is written anyway gets no copies of writes: a late one would undo a newer page. */
  const mirrorWrite = (item: SeedItem, written: StoreWrite): void => {
    const isDirect = inUse().some(({ ref }) => ref.fingerprint === mirror?.candidate.fingerprint);
    mirror?.noteWrite(item, written, isDirect);
  };

  const writeTo = (targets: readonly Opened[], { name, value, ttlMs }: SeedItem): void => {
    for (const { store } of targets) void store.write(name, value, ttlMs);
  };

  /** The lease of a key in the other store, or its page there. Undefined: neither, or it does not answer in time. */
  const lookBehind = async (
    other: Opened | undefined,
    names: LeaseNames,
    deadlineMs: number,
    startedMs: number,
  ): Promise<LeaseLook | undefined> => {
    const leftMs = Math.min(deadlineMs * FIRST_SHARE, deadlineMs - (clock.monotonicMs() - startedMs));
    if (other === undefined || leftMs < MIN_READ_MS) return undefined;
    const look = await other.store.leases.look(names, leftMs);
    // A page of a store that is only prepared is not served yet.
    return look.kind === 'held' || (look.kind === 'free' && readsOther(route)) ? look : undefined;
  };

  const leases: Store['leases'] = {
    take: async (names, token, ttlMs, deadlineMs) => {
      const { active, other } = route;
      const startedMs = clock.monotonicMs();
      const taken = await active.store.leases.take(names, token, ttlMs, deadlineMs);
      if (taken.kind !== 'taken') return taken;
      const look = taken.value === undefined ? await lookBehind(other, names, deadlineMs, startedMs) : undefined;
      if (look?.kind === 'held') {
        void active.store.leases.release(names, token);
        return look;
      }
      holders.set(token, active);
      // A page that was stored between the read and the lease.
      return look?.kind === 'free' && look.value !== undefined ? { ...taken, value: look.value } : taken;
    },
    writeAndRelease: async (names, token, value, ttlMs) => {
      const holder = holders.get(token) ?? route.active;
      holders.delete(token);
      const written = await holder.store.leases.writeAndRelease(names, token, value, ttlMs);
      // A process that has lost its lease writes nowhere: the next holder's page is newer.
      if (written.kind === 'dropped' && written.fault === 'fenced') return written;
      const item = { name: names.entry, value, ttlMs };
      writeTo(
        inUse().filter((one) => one !== holder),
        item,
      );
      mirrorWrite(item, written);
      return written;
    },
    release: (names, token, passForMs) => {
      const holder = holders.get(token) ?? route.active;
      holders.delete(token);
      return holder.store.leases.release(names, token, passForMs);
    },
    look: async (names, deadlineMs) => {
      const { active, other } = route;
      const startedMs = clock.monotonicMs();
      const look = await active.store.leases.look(names, deadlineMs);
      const isEmpty = look.kind === 'free' && look.value === undefined;
      return (isEmpty ? await lookBehind(other, names, deadlineMs, startedMs) : undefined) ?? look;
    },
  };

  const noteBeat = ({ fingerprint }: StoreRef, reply: StoreBeat): StoreBeat => {
    if (reply.kind === 'fleet') beats.set(fingerprint, { ids: reply.ids, atMs: clock.monotonicMs() });
    return reply;
  };

  const contentAt = (node: string): StoreContent => {
    const owner = [...open.values()].find(({ store }) => store.content.nodes().includes(node));
    return (owner ?? route.active).store.content;
  };
  const content: StoreContent = {
    nodes: () => route.active.store.content.nodes(),
    scan: (node, cursor, count) => contentAt(node).scan(node, cursor, count),
    sizes: (node, names) => contentAt(node).sizes(node, names),
    unlink: (node, names) => contentAt(node).unlink(node, names),
    count: (node) => contentAt(node).count(node),
    flushNode: (node) => contentAt(node).flushNode(node),
    info: (node) => contentAt(node).info(node),
    sample: (node, pattern, count) => contentAt(node).sample(node, pattern, count),
    lifeMs: (name) => route.active.store.content.lifeMs(name),
  };
  const isWritten = (one: Opened): boolean =>
    inUse().includes(one) || one.ref.fingerprint === mirror?.candidate.fingerprint;

  const commands: Store = {
    read,
    readMany,
    write: async (name, value, ttlMs) => {
      const { active, other } = route;
      const written = await active.store.write(name, value, ttlMs);
      const item = { name, value, ttlMs };
      if (other !== undefined) writeTo([other], item);
      mirrorWrite(item, written);
      return written;
    },
    seedMany: (items) => route.active.store.seedMany(items),
    leases,
    epochs: async (deadlineMs) => {
      const { active, other } = route;
      // Planted in the other store too: after a commit, a missing word would look like a loss of its data.
      void other?.store.epochs(deadlineMs);
      const epochs = await active.store.epochs(deadlineMs);
      if (active.ref.fingerprint === configured.ref.fingerprint) return epochs;
      return epochs.map((one) => ({ ...one, part: `${active.ref.fingerprint} ${one.part}` }));
    },
    beat: async (id, ttlMs, deadlineMs) => {
      const { active, other } = route;
      void other?.store.beat(id, ttlMs, deadlineMs).then((reply) => noteBeat(other.ref, reply));
      return noteBeat(active.ref, await active.store.beat(id, ttlMs, deadlineMs));
    },
    leave: async (id, deadlineMs) => {
      await Promise.all(inUse().map(({ store }) => store.leave(id, deadlineMs)));
    },
    locate: (name) => route.active.store.locate(name),
    nodes: () => inUse().flatMap(({ store }) => store.nodes()),
    trouble: () => inUse().flatMap(({ store }) => store.trouble() ?? [])[0],
    close: async () => {
      closed = true;
      await Promise.all([...open.values()].map(({ store }) => store.close()));
    },
  };
  return {
    ...commands,
    content,
    /** As `content`, which is that of the active store, over the nodes of every store that is written: for erasures. */
    everywhere: {
      ...content,
      nodes: () => [...open.values()].filter(isWritten).flatMap(({ store }) => store.content.nodes()),
    },
    holds: (name: string) => route.active.store.holds(name),
    /** Follows the placement of the control document. False: this process does not declare a store that it names. */
    follow: (placement: Placement | undefined): boolean => {
      const active = placement === undefined ? first : openedAs(placement.active);
      const other = placement?.other === undefined ? undefined : openedAs(placement.other);
      if (active === undefined || (placement?.other !== undefined && other === undefined)) return false;
      const isSame = route.active === active && route.other === other && route.phase === placement?.phase;
      if (!isSame) route = { active, other, phase: placement?.phase };
      return true;
    },
    /** Whether the control store has been silent for a lease time: both stores are then read and written. */
    setIsolated: (next: boolean) => {
      isolated = next;
    },
    isIsolated: (): boolean => isolated,
    /** Copies go to it. Undefined: there is no shadow. */
    setMirror: (next: Mirror | undefined) => {
      mirror = next;
    },
    active: (): StoreRef => route.active.ref,
    other: (): StoreRef | undefined => route.other?.ref,
    /** The open store, opened when it was not. Undefined: it is not declared here. */
    opened: (fingerprint: string): OpenStore | undefined => openedAs({ fingerprint })?.store,
    /** The stores in use of which a node is not connected, or no node is known. */
    away: (): readonly StoreRef[] => inUse().flatMap(({ ref, store }) => (isConnected(store) ? [] : [ref])),
    /** Whether a node of the store is connected, and its breaker closed. */
    answers: (fingerprint: string): boolean =>
      open
        .get(fingerprint)
        ?.store.nodes()
        .some(({ connected, breaker }) => connected && breaker === 'closed') === true,
    /** Whether at least one node of the store is known here. */
    reaches: (fingerprint: string): boolean => (open.get(fingerprint)?.store.content.nodes().length ?? 0) > 0,
    /** Closes the candidates that are neither active nor other nor get copies. */
    releaseUnused: () => {
      for (const [fingerprint, one] of open) {
        if (one === first || isWritten(one)) continue;
        open.delete(fingerprint);
        void one.store.close();
      }
    },
    /** Ids of the processes that live by the heartbeats of the stores in use; undefined until one of them has answered. */
    liveIds: (): ReadonlySet<string> | undefined => {
      const nowMs = clock.monotonicMs();
      const recent = inUse().flatMap(({ ref }) => beats.get(ref.fingerprint) ?? []);
      const counted = recent.filter(({ atMs }) => nowMs - atMs < BEAT_KEPT_MS);
      return counted.length === 0 ? undefined : new Set(counted.flatMap(({ ids }) => ids));
    },
  };
}

/** Only a page that the active store lacks is copied there: one that it fails to answer may be there. */
function found(older: Extract<StoreRead, { kind: 'value' }>, read: StoreRead | undefined): StoreRead {
  return read?.kind === 'absent' ? { ...older, behind: true } : older;
}

/** Undefined: the value is too large to be copied. */
function withOwnBytes(read: StoreRead): StoreRead | undefined {
  if (read.kind !== 'value') return read;
  return read.value.length > MAX_COPIED_BYTES ? undefined : { ...read, value: ownBytes(read.value) };
}

/** Whether every node is connected. A store that was never reached has no nodes. */
export function isConnected(store: Pick<Store, 'nodes'>): boolean {
  const nodes = store.nodes();
  return nodes.length > 0 && nodes.every(({ connected }) => connected);
}
