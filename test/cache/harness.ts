import type { TestContext } from 'node:test';
import { type Backfill, type BackfillOptions, createBackfill } from '../../src/cache/backfill.ts';
import type { Entry } from '../../src/cache/entry.ts';
import type { CacheEvent } from '../../src/cache/events.ts';
import type { SeedItem, SeedResult, StoreEpoch } from '../../src/cache/store.ts';
import { createMemoryTier } from '../../src/stores/memory/memory-tier.ts';
import { createFakeClock, type FakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';
import { unflushed } from '../fakes/entry-rules.ts';
import { idle } from '../fakes/idle.ts';

/** Keys are numbers. The number is the bucket, and odd keys are on the second node. */
export interface BackfillHarness {
  readonly clock: FakeClock;
  readonly memory: ReturnType<typeof createMemoryTier>;
  readonly backfill: Backfill;
  readonly events: CacheEvent[];
  /** The parts of the store with their epochs. */
  readonly epochs: Map<string, StoreEpoch>;
  /** Empties a part and gives it another epoch. */
  readonly loseData: (part: 'even' | 'odd') => void;
  /** The content of the store, and every batch that was sent. */
  readonly values: Map<string, SeedItem>;
  readonly batches: string[][];
  /** The result of each write of the next batches, which then write nothing. */
  fault: SeedResult | undefined;
  /** The node that serves the even keys now. */
  moved: string | undefined;
  readonly hold: (key: number, parts?: Parameters<typeof entryOf>[1]) => Entry;
  /** Holds every even key below this number; a second later the part loses its data. */
  readonly loseEven: (below: number, parts?: Parameters<typeof entryOf>[1]) => Promise<void>;
  /** Lets time pass in steps of 50 ms; ready work runs after each step. */
  readonly pass: (ms: number) => Promise<void>;
}

export const nameOf = (key: string): { storeName: string; bucket: number } => ({
  storeName: `sc1:goods:{${key}}`,
  bucket: Number(key),
});

export function harness(t: TestContext, options: Partial<BackfillOptions> = {}): BackfillHarness {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  const memory = createMemoryTier({ maxBytes: 1 << 28, emptyMaxBytes: 1 << 20 });
  const events: CacheEvent[] = [];
  const values = new Map<string, SeedItem>();
  const batches: string[][] = [];
  const epochs = new Map<string, StoreEpoch>([
    ['even', { part: 'even', node: 'a:1', epoch: 'one' }],
    ['odd', { part: 'odd', node: 'b:1', epoch: 'one' }],
  ]);
  const partOf = (name: string): 'even' | 'odd' => (Number(/\d+(?=})/.exec(name)?.[0]) % 2 === 0 ? 'even' : 'odd');
  const store: BackfillOptions['store'] = {
    epochs: async () => [...epochs.values()],
    locate: (name) => ({ node: partOf(name) === 'even' ? (made.moved ?? 'a:1') : 'b:1' }),
    seedMany: async (items) => {
      batches.push(items.map(({ name }) => name.replace(/.*{(\d+)}/, '$1')));
      return items.map((item): SeedResult => {
        if (made.fault !== undefined) return made.fault;
        if (values.has(item.name)) return { kind: 'kept' };
        values.set(item.name, item);
        return { kind: 'stored' };
      });
    },
  };
  const backfill = createBackfill({
    domain: 'goods',
    store,
    memory,
    fleet: { live: () => 1, rank: () => 0 },
    rules: unflushed,
    nameOf,
    hottest: () => [],
    perSecond: 1000,
    clock,
    random: () => 0.5,
    observe: (event) => events.push(event),
    ...options,
  });
  t.after(backfill.close);
  const made: BackfillHarness = {
    clock,
    memory,
    backfill,
    events,
    epochs,
    values,
    batches,
    fault: undefined,
    moved: undefined,
    loseData: (part) => {
      for (const name of [...values.keys()]) if (partOf(name) === part) values.delete(name);
      const known = epochs.get(part);
      if (known !== undefined) epochs.set(part, { ...known, epoch: `${known.epoch}'` });
    },
    hold: (key, parts) => {
      const entry = entryOf(clock, parts);
      memory.set(`${key}`, entry);
      return entry;
    },
    loseEven: async (below, parts) => {
      for (let key = 0; key < below; key += 2) made.hold(key, parts);
      await made.pass(1000);
      made.loseData('even');
    },
    pass: async (ms) => {
      await idle();
      for (let passed = 0; passed < ms; passed += 50) {
        clock.advance(50);
        t.mock.timers.tick(50);
        await idle();
      }
    },
  };
  return made;
}
