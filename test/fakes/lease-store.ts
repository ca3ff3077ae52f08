import type { StoreFault } from '../../src/cache/events.ts';
import type { LeaseLook, LeaseStore, LeaseTake, LeaseWrite } from '../../src/cache/store.ts';
import type { Clock } from '../../src/runtime.ts';

/** Where entries live: a `Map<string, Buffer>` is one, and forgets their lifetimes. */
export interface FakeValues {
  readonly get: (name: string) => Buffer | undefined;
  readonly set: (name: string, value: Buffer, ttlMs: number) => unknown;
}

export interface FakeLeases extends LeaseStore {
  /** Names of leases somebody holds now; those with a pass mark are not held. */
  readonly held: () => readonly string[];
  /** All leases and marks are lost, as with the server's memory. */
  readonly forget: () => void;
}

/** What whoever asks meets; undefined when all is well. */
export type FakeFault = () => StoreFault | 'refused' | undefined;

interface Held {
  /** Undefined: a pass mark. */
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
      // A server that refuses to write still deletes.
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
