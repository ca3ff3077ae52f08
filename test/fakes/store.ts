import { setTimeout as sleep } from 'node:timers/promises';
import type { Store, StoreEvent, StoreRead, StoreWrite } from '../../src/cache/store.ts';
import { type Clock, systemClock } from '../../src/runtime.ts';
import { createFakeLeases } from './lease-store.ts';
import { createFakeFleet } from './store-fleet.ts';

/** What a command meets at the fake: everything well, a fault at once, or a reply only after `replyAfterMs`. */
export type Trouble =
  | { readonly kind: 'none' }
  | { readonly kind: 'down' | 'open' | 'saturated' }
  | { readonly kind: 'refusing' }
  | { readonly kind: 'slow'; readonly replyAfterMs: number };

export interface FakeStore extends Store {
  /** From now on, until told otherwise. */
  readonly meet: (trouble: Trouble) => void;
  /** Names that hold an unexpired value. */
  readonly names: () => readonly string[];
  /** Everything it held is lost: entries, leases, its epoch, the fleet. */
  readonly lose: () => void;
}

export interface FakeStoreOptions {
  readonly clock?: Clock;
  readonly observe?: (event: StoreEvent) => void;
}

const NODE = 'memory:0';

/** A store in memory that keeps every promise of the port, for tests of what stands on it. */
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
  // A take that is not answered in time holds nothing in the end: here it takes nothing at all.
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
