import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreFault } from '../../src/cache/events.ts';
import type {
  LeaseLook,
  LeaseStore,
  LeaseTake,
  LeaseWrite,
  SeedItem,
  SeedResult,
  Store,
  StoreBeat,
  StoreEvent,
  StoreRead,
  StoreWrite,
} from '../../src/cache/store.ts';
import { type Clock, systemClock } from '../../src/runtime.ts';

/**
 * The behaviour of the fake: no trouble, a fault at once, refused writes, or a reply only after `replyAfterMs`. With
 * `late` the test itself sends the late reply to the reads.
 */
export type Trouble =
  | { readonly kind: 'none' }
  | { readonly kind: 'fault'; readonly fault: StoreFault; readonly late?: Promise<Buffer | undefined> }
  | { readonly kind: 'refusing' }
  | { readonly kind: 'slow'; readonly replyAfterMs: number };

export interface FakeStore extends Store {
  readonly leases: FakeLeases;
  /** From now on until the next call. */
  readonly meet: (trouble: Trouble) => void;
  /** The unexpired value of a name, whatever the trouble. */
  readonly value: (name: string) => Buffer | undefined;
  /** Names that hold an unexpired value. */
  readonly names: () => readonly string[];
  /** The name of each read until now, in their order. */
  readonly reads: string[];
  /** Loses all data: entries, leases, the epoch, the membership. */
  readonly lose: () => void;
}

interface FakeLeases extends LeaseStore {
  /** Names of the leases that are held now; a pass mark is not a held lease. */
  readonly held: () => readonly string[];
  /** Loses all leases and marks, as a server that loses its memory. */
  readonly forget: () => void;
}

export interface FakeStoreOptions {
  readonly clock?: Clock;
  readonly observe?: (event: StoreEvent) => void;
}

const NODE = 'memory:0';

/** The read of a store that replies with a promise. */
export function readingFrom(reply: (name: string, deadlineMs: number) => Promise<StoreRead>): Store['read'] {
  return (name, deadlineMs, settle) => void reply(name, deadlineMs).then(settle);
}

/** A store in memory that keeps every promise of the port. */
export function createFakeStore({ clock = systemClock, observe = () => {} }: FakeStoreOptions = {}): FakeStore {
  const entries = new Map<string, { readonly value: Buffer; readonly expiresMs: number }>();
  const reads: string[] = [];
  let trouble: Trouble = { kind: 'none' };
  let outstanding = 0;

  const value = (name: string): Buffer | undefined => {
    const entry = entries.get(name);
    if (entry === undefined || clock.monotonicMs() >= entry.expiresMs) return undefined;
    return Buffer.from(entry.value);
  };
  const reply = (name: string): StoreRead => {
    const found = value(name);
    return found === undefined ? { kind: 'absent' } : { kind: 'value', value: found };
  };

  const answer = async (name: string, deadlineMs: number): Promise<StoreRead> => {
    switch (trouble.kind) {
      case 'none':
      case 'refusing':
        return reply(name);
      case 'fault':
        return trouble;
      case 'slow': {
        outstanding += 1;
        const replied = sleep(trouble.replyAfterMs).then(() => {
          outstanding -= 1;
          return value(name);
        });
        if (trouble.replyAfterMs > deadlineMs) {
          await sleep(deadlineMs);
          return { kind: 'fault', fault: 'store-slow', late: replied };
        }
        await replied;
        return reply(name);
      }
    }
  };

  const read = async (name: string, deadlineMs: number): Promise<StoreRead> => {
    const startedMs = clock.monotonicMs();
    reads.push(name);
    const result = await answer(name, deadlineMs);
    const outcome = result.kind === 'fault' ? result.fault : result.kind;
    const durationMs = clock.monotonicMs() - startedMs;
    observe({ kind: 'command', operation: 'read', result: outcome, durationMs });
    if (result.kind === 'fault' && result.late !== undefined) {
      void result.late.then((late) => {
        observe({ kind: 'late', hit: late !== undefined });
      });
    }
    return result;
  };

  const set: FakeValues['set'] = (name, bytes, ttlMs) => {
    entries.set(name, { value: Buffer.from(bytes), expiresMs: clock.monotonicMs() + ttlMs });
  };
  const perform: Perform = async (command, work, failed) => {
    const refused = trouble.kind === 'refusing' && command === 'write';
    const fault = trouble.kind === 'fault' ? trouble.fault : refused ? 'refused' : undefined;
    return fault === undefined ? work() : failed(fault);
  };

  const write = async (name: string, bytes: Buffer, ttlMs: number): Promise<StoreWrite> => {
    const startedMs = clock.monotonicMs();
    if (trouble.kind === 'slow') await sleep(trouble.replyAfterMs);
    const result = await perform(
      'write',
      (): StoreWrite => {
        set(name, bytes, ttlMs);
        return STORED;
      },
      dropped,
    );
    const durationMs = clock.monotonicMs() - startedMs;
    const outcome = result.kind === 'stored' ? result.kind : result.fault;
    observe({ kind: 'command', operation: 'write', result: outcome, durationMs });
    return result;
  };

  const server: FakeServer = { get: value, set, perform, clock };
  const leases = createLeases(server, () => trouble.kind === 'slow');
  const { forget, ...fleet } = createFleet(server);

  return {
    ...fleet,
    leases,
    read: readingFrom(read),
    readMany: (names, deadlineMs) => Promise.all(names.map((name) => read(name, deadlineMs))),
    write,
    locate: () => ({ node: NODE }),
    nodes: () => {
      const fault = trouble.kind === 'fault' ? trouble.fault : undefined;
      const breaker = fault === 'node-open' ? 'open' : 'closed';
      return [{ node: NODE, breaker, connected: fault !== 'store-down', outstanding }];
    },
    trouble: () => undefined,
    async close() {
      trouble = { kind: 'fault', fault: 'store-down' };
    },
    meet(next) {
      trouble = next;
    },
    lose() {
      entries.clear();
      leases.forget();
      forget();
    },
    value,
    names: () => [...entries.keys()].filter((name) => value(name) !== undefined),
    reads,
  };
}

const STORED = { kind: 'stored' } as const;
const dropped = <F extends Fault>(fault: F) => ({ kind: 'dropped', fault }) as const;
const faulty = (fault: Fault) => ({ kind: 'fault', fault }) as const;

type Fault = StoreFault | 'refused';

/** Every command but `read`: runs `work`, or `failed` with the fault of the moment. Only writes are refused. */
type Perform = <T>(command: 'read' | 'write', work: () => T, failed: (fault: Fault) => T) => Promise<T>;

interface FakeValues {
  readonly get: (name: string) => Buffer | undefined;
  readonly set: (name: string, value: Buffer, ttlMs: number) => void;
}

interface FakeServer extends FakeValues {
  readonly perform: Perform;
  readonly clock: Clock;
}

interface Held {
  /** Undefined for a pass mark. */
  readonly token?: string;
  readonly expiresMs: number;
}

/** The leases of the fake. A take that misses its deadline leaves no lease in the end: here it takes none. */
function createLeases({ get, set, perform, clock }: FakeServer, isSlow: () => boolean): FakeLeases {
  const leases = new Map<string, Held>();

  const current = (lease: string): Held | undefined => {
    const held = leases.get(lease);
    return held !== undefined && clock.monotonicMs() < held.expiresMs ? held : undefined;
  };
  /** Why the lease is not free. */
  const occupied = (lease: string) => {
    const held = current(lease);
    return held === undefined ? undefined : ({ kind: held.token === undefined ? 'pass' : 'held' } as const);
  };
  /** Deletes the lease if it is the token's. @returns whether it was. */
  const giveBack = (lease: string, token: string): boolean => current(lease)?.token === token && leases.delete(lease);

  return {
    async take(names, token, ttlMs) {
      if (isSlow()) return faulty('store-slow');
      const taken = (): LeaseTake => {
        leases.set(names.lease, { token, expiresMs: clock.monotonicMs() + ttlMs });
        return { kind: 'taken', value: get(names.entry) };
      };
      return perform('write', (): LeaseTake => occupied(names.lease) ?? taken(), faulty);
    },
    writeAndRelease: (names, token, value, ttlMs) =>
      perform(
        'write',
        (): LeaseWrite => {
          if (!giveBack(names.lease, token)) return { kind: 'dropped', fault: 'fenced' };
          set(names.entry, value, ttlMs);
          return STORED;
        },
        (fault) => {
          // A server that refuses writes still deletes.
          if (fault === 'refused') giveBack(names.lease, token);
          return dropped(fault);
        },
      ),
    release: (names, token, passForMs) =>
      perform(
        'write',
        () => {
          if (!giveBack(names.lease, token) || passForMs === undefined) return;
          leases.set(names.lease, { expiresMs: clock.monotonicMs() + passForMs });
        },
        (fault) => {
          if (fault === 'refused') giveBack(names.lease, token);
        },
      ),
    look: (names) =>
      perform('read', (): LeaseLook => occupied(names.lease) ?? { kind: 'free', value: get(names.entry) }, faulty),
    held: () => [...leases.keys()].filter((lease) => current(lease)?.token !== undefined),
    forget: () => leases.clear(),
  };
}

interface FakeFleet extends Pick<Store, 'seedMany' | 'epochs' | 'beat' | 'leave'> {
  /** Loses the epoch and the membership, as a server that loses its memory. */
  readonly forget: () => void;
}

/** The other data that processes share: backfill, one part with its epoch, the membership. */
function createFleet({ get, set, perform, clock }: FakeServer): FakeFleet {
  const fleet = new Map<string, number>();
  let epochCount = 0;
  let epoch: string | undefined;

  const seed = ({ name, value, ttlMs }: SeedItem): Promise<SeedResult> =>
    perform(
      'write',
      (): SeedResult => {
        if (get(name) !== undefined) return { kind: 'kept' };
        set(name, value, ttlMs);
        return STORED;
      },
      dropped,
    );

  return {
    seedMany: (items) => Promise.all(items.map(seed)),
    epochs: () =>
      perform(
        'write',
        () => {
          if (epoch === undefined) {
            epochCount += 1;
            epoch = `epoch-${epochCount}`;
          }
          return [{ part: 'memory', node: NODE, epoch }];
        },
        () => [],
      ),
    beat: (id, ttlMs) =>
      perform(
        'write',
        (): StoreBeat => {
          const nowMs = clock.monotonicMs();
          fleet.set(id, nowMs + ttlMs);
          for (const [each, untilMs] of [...fleet]) if (untilMs <= nowMs) fleet.delete(each);
          const ids = [...fleet.keys()].sort();
          return { kind: 'fleet', live: ids.length, rank: ids.indexOf(id), ids };
        },
        faulty,
      ),
    leave: (id) =>
      perform(
        'write',
        () => void fleet.delete(id),
        () => {},
      ),
    forget() {
      epoch = undefined;
      fleet.clear();
    },
  };
}
