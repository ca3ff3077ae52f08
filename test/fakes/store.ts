import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreFault } from '../../src/cache/events.ts';
import type {
  LeaseLook,
  LeaseStore,
  LeaseTake,
  LeaseWrite,
  Store,
  StoreEvent,
  StoreRead,
  StoreWrite,
} from '../../src/cache/store.ts';
import { type Clock, systemClock } from '../../src/runtime.ts';

/** The behaviour of the fake: no trouble, a fault at once, refused writes, or a reply only after `replyAfterMs`. */
export type Trouble =
  | { readonly kind: 'none' }
  | { readonly kind: 'down' | 'open' | 'saturated' }
  | { readonly kind: 'refusing' }
  | { readonly kind: 'slow'; readonly replyAfterMs: number };

export interface FakeStore extends Store {
  /** From now on until the next call. */
  readonly meet: (trouble: Trouble) => void;
  /** Names that hold an unexpired value. */
  readonly names: () => readonly string[];
  /** Loses all data: entries, leases, the epoch, the membership. */
  readonly lose: () => void;
}

export interface FakeStoreOptions {
  readonly clock?: Clock;
  readonly observe?: (event: StoreEvent) => void;
}

const NODE = 'memory:0';

/** A store in memory that keeps every promise of the port. */
export function createFakeStore({ clock = systemClock, observe = () => {} }: FakeStoreOptions = {}): FakeStore {
  const entries = new Map<string, { readonly value: Buffer; readonly expiresMs: number }>();
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
      case 'down':
        return { kind: 'fault', fault: 'store-down' };
      case 'open':
        return { kind: 'fault', fault: 'node-open' };
      case 'saturated':
        return { kind: 'fault', fault: 'store-saturated' };
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
    const result = await answer(name, deadlineMs);
    const outcome = result.kind === 'fault' ? result.fault : result.kind;
    const durationMs = clock.monotonicMs() - startedMs;
    observe({ kind: 'command', operation: 'read', node: NODE, result: outcome, durationMs });
    if (result.kind === 'fault' && result.late !== undefined) {
      void result.late.then((late) => {
        const lateMs = clock.monotonicMs() - startedMs;
        observe({ kind: 'late', node: NODE, hit: late !== undefined, durationMs: lateMs });
      });
    }
    return result;
  };

  const keep = (name: string, bytes: Buffer, ttlMs: number): void => {
    entries.set(name, { value: Buffer.from(bytes), expiresMs: clock.monotonicMs() + ttlMs });
  };

  const write = async (name: string, bytes: Buffer, ttlMs: number): Promise<StoreWrite> => {
    const fault = WRITE_FAULTS[trouble.kind];
    const startedMs = clock.monotonicMs();
    if (trouble.kind === 'slow') await sleep(trouble.replyAfterMs);
    if (fault === undefined) keep(name, bytes, ttlMs);
    const durationMs = clock.monotonicMs() - startedMs;
    observe({ kind: 'command', operation: 'write', node: NODE, result: fault ?? 'stored', durationMs });
    return fault === undefined ? { kind: 'stored' } : { kind: 'dropped', fault };
  };

  const values = { get: value, set: keep };
  const faultNow = () => WRITE_FAULTS[trouble.kind];
  // A take that misses its deadline leaves no lease in the end: here it takes none.
  const leases = createFakeLeases(values, clock, () => (trouble.kind === 'slow' ? 'store-slow' : faultNow()));
  const fleet = createFakeFleet(values, clock, NODE, faultNow);

  return {
    leases,
    seedMany: fleet.seedMany,
    epochs: fleet.epochs,
    beat: fleet.beat,
    leave: fleet.leave,
    read,
    readMany: (names, deadlineMs) => Promise.all(names.map((name) => read(name, deadlineMs))),
    write,
    locate: () => ({ node: NODE }),
    nodes: () => [
      {
        node: NODE,
        breaker: trouble.kind === 'open' ? 'open' : 'closed',
        connected: trouble.kind !== 'down',
        outstanding,
      },
    ],
    async close() {
      trouble = { kind: 'down' };
    },
    meet(next) {
      trouble = next;
    },
    lose() {
      entries.clear();
      leases.forget();
      fleet.forget();
    },
    names: () => [...entries.keys()].filter((name) => value(name) !== undefined),
  };
}

const WRITE_FAULTS = {
  none: undefined,
  slow: undefined,
  down: 'store-down',
  open: 'node-open',
  saturated: 'store-saturated',
  refusing: 'refused',
} as const;

/** The entries. A `Map<string, Buffer>` fits, and ignores lifetimes. */
export interface FakeValues {
  readonly get: (name: string) => Buffer | undefined;
  readonly set: (name: string, value: Buffer, ttlMs: number) => unknown;
}

export interface FakeLeases extends LeaseStore {
  /** Names of the leases that are held now; a pass mark is not a held lease. */
  readonly held: () => readonly string[];
  /** Loses all leases and marks, as a server that loses its memory. */
  readonly forget: () => void;
}

/** The current fault; undefined without one. */
export type FakeFault = () => StoreFault | 'refused' | undefined;

interface Held {
  /** Undefined for a pass mark. */
  readonly token?: string;
  readonly expiresMs: number;
}

/** Leases in memory that keep every promise of their port. */
export function createFakeLeases(values: FakeValues, clock: Clock, fault: FakeFault = () => undefined): FakeLeases {
  const leases = new Map<string, Held>();

  const current = (lease: string): Held | undefined => {
    const held = leases.get(lease);
    return held !== undefined && clock.monotonicMs() < held.expiresMs ? held : undefined;
  };
  const entryValue = (entry: string): { readonly value?: Buffer } => {
    const value = values.get(entry);
    return value === undefined ? {} : { value: Buffer.from(value) };
  };
  const isHolder = (lease: string, token: string): boolean => current(lease)?.token === token;

  return {
    async take(names, token, ttlMs): Promise<LeaseTake> {
      const broken = fault();
      if (broken !== undefined) return { kind: 'fault', fault: broken };
      const held = current(names.lease);
      if (held !== undefined) return held.token === undefined ? { kind: 'pass' } : { kind: 'held' };
      leases.set(names.lease, { token, expiresMs: clock.monotonicMs() + ttlMs });
      return { kind: 'taken', ...entryValue(names.entry) };
    },
    async writeAndRelease(names, token, value, ttlMs): Promise<LeaseWrite> {
      const broken = fault();
      // A server that refuses writes still deletes.
      if (broken === 'refused' && isHolder(names.lease, token)) leases.delete(names.lease);
      if (broken !== undefined) return { kind: 'dropped', fault: broken };
      if (!isHolder(names.lease, token)) return { kind: 'dropped', fault: 'fenced' };
      values.set(names.entry, Buffer.from(value), ttlMs);
      leases.delete(names.lease);
      return { kind: 'stored' };
    },
    async release(names, token, passForMs) {
      const broken = fault();
      if ((broken !== undefined && broken !== 'refused') || !isHolder(names.lease, token)) return;
      leases.delete(names.lease);
      if (broken === undefined && passForMs !== undefined) {
        leases.set(names.lease, { expiresMs: clock.monotonicMs() + passForMs });
      }
    },
    async look(names): Promise<LeaseLook> {
      const broken = fault();
      if (broken !== undefined && broken !== 'refused') return { kind: 'fault', fault: broken };
      const held = current(names.lease);
      if (held !== undefined) return held.token === undefined ? { kind: 'pass' } : { kind: 'held' };
      return { kind: 'free', ...entryValue(names.entry) };
    },
    held: () => [...leases.keys()].filter((lease) => current(lease)?.token !== undefined),
    forget: () => leases.clear(),
  };
}

export interface FakeFleet extends Pick<Store, 'seedMany' | 'epochs' | 'beat' | 'leave'> {
  /** Loses the epoch and the membership, as a server that loses its memory. The caller empties `values`. */
  readonly forget: () => void;
}

/**
 * The shared data of a store beside entries and leases, in memory: backfill, one part with its epoch, the membership.
 */
export function createFakeFleet(
  values: FakeValues,
  clock: Clock,
  node = 'memory:0',
  fault: FakeFault = () => undefined,
): FakeFleet {
  const fleet = new Map<string, number>();
  let words = 0;
  let epoch: string | undefined;

  return {
    seedMany: async (items) =>
      items.map(({ name, value, ttlMs }) => {
        const broken = fault();
        if (broken !== undefined) return { kind: 'dropped', fault: broken };
        if (values.get(name) !== undefined) return { kind: 'kept' };
        values.set(name, Buffer.from(value), ttlMs);
        return { kind: 'stored' };
      }),
    async epochs() {
      if (fault() !== undefined) return [];
      if (epoch === undefined) {
        words += 1;
        epoch = `epoch-${words}`;
      }
      return [{ part: 'memory', node, epoch }];
    },
    async beat(id, ttlMs) {
      const broken = fault();
      if (broken !== undefined) return { kind: 'fault', fault: broken };
      const nowMs = clock.monotonicMs();
      fleet.set(id, nowMs + ttlMs);
      for (const [each, untilMs] of [...fleet]) if (untilMs <= nowMs) fleet.delete(each);
      return { kind: 'fleet', live: fleet.size, rank: [...fleet.keys()].sort().indexOf(id) };
    },
    async leave(id) {
      if (fault() === undefined) fleet.delete(id);
    },
    forget() {
      epoch = undefined;
      fleet.clear();
    },
  };
}
