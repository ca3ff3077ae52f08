import type { TestContext } from 'node:test';
import { seededRandom } from '../../../loadtest/random.ts';
import type { WarmEvent, WarmUp } from '../../../src/operations/warm/warm.ts';
import type { WarmUps } from '../../../src/operations/warm/warm-ups.ts';
import { createWarmUps } from '../../../src/operations/warm/warm-ups.ts';
import { createVirtualTime, type FakeClock } from '../../fakes/clock.ts';

export interface WarmHarness {
  readonly warmUps: WarmUps;
  readonly clock: FakeClock;
  readonly events: WarmEvent[];
  /** Searches in the order in which they were begun. */
  readonly asked: string[];
  /** Duration of an engine call, and the number of engine slots. */
  engineMs: number;
  slots: number;
  /** Slots in use by interactive searches. */
  interactive: number;
  /** The answer of the cache and the engine to a line. */
  answer: (line: string) => 'cached' | 'computed' | 'refused';
  /** Maximum of calls that ran at the same time. */
  readonly most: () => number;
  /** The latest state of a warm-up. */
  readonly look: (id: string) => WarmUp;
  /** Advances time in steps of 10 ms, and lets pending work run. */
  readonly pass: (ms: number) => Promise<void>;
}

/** Two domains, `goods` and `auto`, with an engine of eight slots and 20 ms per call. A line with `?` is no valid search. */
export function warmHarness(t: TestContext, popular: readonly string[] | Error = []): WarmHarness {
  const clock = createVirtualTime(t);
  const events: WarmEvent[] = [];
  let running = 0;
  let most = 0;

  const warm = async (line: string): Promise<'cached' | 'computed'> => {
    harness.asked.push(line);
    const answer = harness.answer(line);
    if (answer === 'cached') return 'cached';
    if (answer === 'refused') throw new Error('shed');
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, harness.engineMs));
    running -= 1;
    return 'computed';
  };
  const domain = {
    prepare: (line: string): string => {
      if (line.includes('?')) throw new Error('no search');
      return line;
    },
    warm,
    spare: () => Math.max(0, harness.slots - harness.interactive - running),
    popular: async (n: number) => {
      if (popular instanceof Error) throw popular;
      return popular.slice(0, n);
    },
  };
  const warmUps = createWarmUps({
    domains: new Map([
      ['goods', domain],
      ['auto', domain],
    ]),
    clock,
    random: seededRandom(7),
    observe: (event) => events.push(event),
  });
  t.after(warmUps.close);
  const harness: WarmHarness = {
    warmUps,
    clock,
    events,
    asked: [],
    engineMs: 20,
    slots: 8,
    interactive: 0,
    answer: () => 'computed',
    most: () => most,
    look: (id) => {
      const found = warmUps.list().find((each) => each.id === id);
      if (found === undefined) throw new Error(`${id} is forgotten`);
      return found;
    },
    pass: clock.pass,
  };
  return harness;
}

export function numbered(count: number, word = 'query'): readonly string[] {
  return Array.from({ length: count }, (_, place) => `${word} ${place}`);
}
