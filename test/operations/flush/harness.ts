import type { TestContext } from 'node:test';
import type { Control } from '../../../src/control/control.ts';
import { createControl } from '../../../src/control/create-control.ts';
import type { Flush } from '../../../src/operations/flush/create-flush.ts';
import { createFlush, type FlushOptions } from '../../../src/operations/flush/create-flush.ts';
import type { FlushEvent, QueryPages } from '../../../src/operations/flush/flush.ts';
import { keyOf, type SearchKey, storedNameOf } from '../../../src/search/key.ts';
import { createMemoryControlStore } from '../../../src/stores/memory/control-store.ts';
import { createMemoryTier } from '../../../src/stores/memory/memory-tier.ts';
import { createVirtualTime, type FakeClock } from '../../fakes/clock.ts';
import { createFakeContent, type FakeContent } from '../../fakes/content.ts';
import { entryOf } from '../../fakes/entry.ts';

export interface FlushHarness {
  readonly flush: Flush;
  readonly control: Control;
  readonly content: FakeContent;
  readonly memory: ReturnType<typeof createMemoryTier>;
  readonly clock: FakeClock;
  readonly events: FlushEvent[];
  /** Puts `count` entries into the store, spread over its nodes, and into L1. */
  readonly hold: (count: number, nodes?: readonly string[]) => readonly SearchKey[];
  readonly held: () => readonly string[];
  /** Advances time in steps of 50 ms, and lets pending work run. */
  readonly pass: (ms: number) => Promise<void>;
}

export interface FlushHarnessOptions extends Partial<FlushOptions> {
  readonly nodes?: readonly string[];
  readonly store?: false;
}

/** A store of two nodes, the real control room in memory, and a fake clock. */
export function flushHarness(t: TestContext, given: FlushHarnessOptions = {}): FlushHarness {
  const { nodes = ['a:1', 'b:1'], store, ...options } = given;
  const clock = createVirtualTime(t, 50);
  const events: FlushEvent[] = [];
  const content = createFakeContent({ domain: 'goods', nodes });
  const memory = createMemoryTier({ maxBytes: 1 << 26, emptyMaxBytes: 1 << 20 });
  const control = createControl({
    domain: 'goods',
    store: createMemoryControlStore({ clock }),
    shared: false,
    locate: () => undefined,
    clock,
    random: Math.random,
    observe: () => {},
    longestLifeMs: 3_600_000,
  });
  t.after(control.close);
  const flush = createFlush({
    domain: 'goods',
    control,
    ...(store !== false && { content }),
    memory,
    bucketOf,
    dedicated: false,
    controlElsewhere: false,
    recent: () => undefined,
    clock,
    random: Math.random,
    observe: (event) => events.push(event),
    ...options,
  });
  t.after(flush.close);
  return {
    flush,
    control,
    content,
    memory,
    clock,
    events,
    hold: (count, on = nodes) =>
      Array.from({ length: count }, (_, place) => {
        const key = keyOf(`query ${place}`, 'goods');
        content.put(on[place % on.length] ?? '', key.storeName, Buffer.alloc(100));
        memory.set(key.key, entryOf(clock));
        return key;
      }),
    held: () => nodes.flatMap((node) => content.held(node)),
    pass: clock.pass,
  };
}

/** The pages of one query, with the canonical forms of these tests. */
export function pagesOf(text: string): QueryPages {
  const canonicalStart = `goods@p?q=${text}`;
  return { text, canonicalStart, firstStoreName: keyOf(canonicalStart, 'goods').storeName };
}

/** The same as in the composition root. */
export const bucketOf = (key: string): number => storedNameOf(key, 'goods').bucket;
