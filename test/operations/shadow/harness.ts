import type { Placement, StoreRef } from '../../../src/control/document.ts';
import { createPlacedStore, type OpenStore, type PlacedStore } from '../../../src/operations/shadow/placed-store.ts';
import { type Clock, systemClock } from '../../../src/runtime.ts';
import { keyOf } from '../../../src/search/key.ts';
import { createFakeContent, type FakeContent } from '../../fakes/content.ts';
import { entryOf } from '../../fakes/entry.ts';
import { createFakeStore, type FakeStore } from '../../fakes/store.ts';

export const DOMAIN = 'goods';

export type FakeOpenStore = FakeStore & OpenStore & { readonly content: FakeContent };

export function createFakeOpenStore(node: string, clock: Clock = systemClock): FakeOpenStore {
  const store = createFakeStore({ clock });
  const content = createFakeContent({ domain: DOMAIN, nodes: [node] });
  return {
    ...store,
    content,
    holds: async (name) => store.value(name) !== undefined,
    locate: () => ({ node }),
    epochs: async (deadlineMs) => (await store.epochs(deadlineMs)).map((one) => ({ ...one, node })),
    nodes: () => store.nodes().map((one) => ({ ...one, node })),
  };
}

export const OLD: StoreRef = { name: 'store', fingerprint: 'old-fingerprint-' };
export const NEW: StoreRef = { name: 'valkey', fingerprint: 'new-fingerprint-' };

export interface Pair {
  readonly old: FakeOpenStore;
  readonly candidate: FakeOpenStore;
  readonly placed: PlacedStore;
  /** Number of times that the candidate was opened. */
  readonly openings: () => number;
}

export function createPair(clock: Clock = systemClock): Pair {
  const [old, candidate] = [createFakeOpenStore('old:1', clock), createFakeOpenStore('new:1', clock)];
  let openings = 0;
  const placed = createPlacedStore({
    configured: { ref: OLD, open: () => old },
    candidates: [
      {
        ref: NEW,
        open: () => {
          openings += 1;
          return candidate;
        },
      },
    ],
    clock,
  });
  return { old, candidate, placed, openings: () => openings };
}

const by = { id: 'one', by: 'ann', atMs: 1 } as const;
export const PREPARED: Placement = { ...by, phase: 'prepared', active: OLD, other: NEW };
export const COMMITTED: Placement = { ...by, phase: 'committed', active: NEW, other: OLD };
export const REVERSED: Placement = { ...by, id: 'two', phase: 'committed', active: OLD, other: NEW };
export const SETTLED: Placement = { ...by, phase: 'settled', active: NEW };

/** A page of the text `n`: its stored name and its bytes. */
export function pageOf(n: number | string, clock: Clock = systemClock, parts: Parameters<typeof entryOf>[1] = {}) {
  const canonical = `${DOMAIN}@x?q=${n}`;
  const { encoded } = entryOf(clock, { canonical, body: Buffer.from(`{"query":"${n}"}`), ...parts });
  return { name: keyOf(canonical, DOMAIN).storeName, value: encoded, canonical };
}

export const leaseOf = (name: string) => ({ entry: name, lease: name.replace('{', 'lease:{') });
