import { seededRandom } from '../../loadtest/random.ts';
import type { Changed, Control, ControlChange } from '../../src/control/control.ts';
import type { BucketRange, ControlDocument } from '../../src/control/document.ts';
import { OperationError } from '../../src/control/operation-error.ts';
import type { Flush } from '../../src/operations/flush/create-flush.ts';
import type { Erasure, FlushPreview, FlushRequest } from '../../src/operations/flush/flush.ts';
import type { Figures } from '../../src/operations/meter/figures.ts';
import type { Clock } from '../../src/runtime.ts';
import { OUTCOMES } from '../../src/search/outcome.ts';
import { unflushed } from './entry-rules.ts';

/** The control document of one domain, in this process only. */
export function createFakeControl(): Control {
  let document: ControlDocument = {
    revision: 0,
    stamp: 'fake',
    generation: 1,
    ranges: [],
    purges: [],
    suppressed: [],
  };
  const watchers: (() => void)[] = [];
  return {
    rules: unflushed,
    document: () => document,
    watch: (changed) => {
      watchers.push(changed);
    },
    overlay: () => document.overlay,
    state: () => ({
      revision: document.revision,
      generation: document.generation,
      heardMsAgo: 0,
      shared: false,
      standing: 'ok',
    }),
    change: async (change: ControlChange): Promise<Changed> => {
      const before = document;
      const next = change(before);
      if (next !== before) document = { ...next, revision: before.revision + 1 };
      for (const changed of watchers) changed();
      return { before, after: document };
    },
    renew: async () => true,
    report: async () => {},
    reports: async () => new Map(),
    close: async () => {},
  };
}

/** Raises floors and keeps lists like the real flush, without a cache. */
export function createFakeFlush(control: Control, clock: Clock): Flush {
  let erasure: Erasure | undefined;

  const rangesOf = ({ fraction, from = 0 }: FlushRequest): readonly BucketRange[] => {
    if (!(fraction > 0 && fraction <= 1)) {
      throw new OperationError('invalid-fraction', 'A fraction is above 0 and at most 1.', '/fraction');
    }
    return [{ from, to: Math.min(10_000, from + Math.round(fraction * 10_000)) }];
  };
  const raised = (change: ControlChange) => control.change((now) => change({ ...now, generation: now.generation + 1 }));
  const judge = (ask: FlushRequest): void => {
    if (ask.by === 'flushall') {
      throw new OperationError('not-dedicated', 'The store is not declared `dedicated`; use by: unlink.', '/by');
    }
    if (control.overlay() !== undefined) {
      throw new OperationError('drill-running', `Drill ${control.overlay()?.drill} runs; abort it first.`);
    }
  };

  return {
    preview: async (ask) => previewOf(ask.mode, ask.fraction, rangesOf(ask)),
    flush: async (ask) => {
      const ranges = rangesOf(ask);
      judge(ask);
      const done = await raised((now) => {
        if (now.ranges.length >= 32) throw new OperationError('control-full', 'The list of ranges is full (32).');
        const { generation } = now;
        const floor = ask.mode === 'refresh' ? 1 : generation;
        const range = { from: 0, to: 10_000, ...ranges[0], floor, freshFloor: generation, atMs: clock.wallMs() };
        const version = ask.indexVersion === undefined ? {} : { indexVersion: ask.indexVersion };
        return { ...now, ...version, ranges: [...now.ranges, range] };
      });
      if (ask.mode === 'erase') erasure = ERASED;
      return { ...done, ranges, affected: { memory: 9000, store: ask.mode === 'erase' ? 'not-counted' : COUNTED } };
    },
    purge: async ({ text }) => {
      const done = await raised((now) => {
        if (now.purges.length >= 256) throw new OperationError('control-full', 'The list of purges is full (256).');
        return { ...now, purges: [...now.purges, { text, generation: now.generation, atMs: clock.wallMs() }] };
      });
      return { ...done, affected: { memory: 2, firstInStore: 'held' } };
    },
    suppress: (ids, lift = false) =>
      raised((now) => {
        const others = now.suppressed.filter(({ id }) => !ids.includes(id));
        const added = lift ? [] : ids.map((id) => ({ id, generation: now.generation, atMs: clock.wallMs() }));
        const suppressed = [...others, ...added];
        if (suppressed.length <= 1024) return { ...now, suppressed };
        throw new OperationError('control-full', `The list of suppressed documents is full (1024).`, '/ids');
      }),
    erasure: () => erasure,
    erase: async () => ERASED,
    close: () => {},
  };
}

const COUNTED = { pages: 48_210, exact: true };

const ERASED: Erasure = {
  state: 'done',
  nodes: [{ node: '127.0.0.1:6379', by: 'unlink', state: 'done', scanned: 48_210, removed: 48_210 }],
  seconds: 3.2,
};

/** A dry run of a domain with two nodes. */
export function previewOf(
  mode: FlushRequest['mode'],
  fraction: number,
  ranges: readonly BucketRange[],
  engine: Partial<FlushPreview['engine']> = {},
): FlushPreview {
  const keys = Math.round(48_210 * fraction);
  return {
    mode,
    fraction,
    ranges,
    nodes: [
      { node: '127.0.0.1:6379', keys: Math.round(keys * 0.52), bytes: keys * 1800, exact: true },
      { node: '127.0.0.1:6380', keys: Math.round(keys * 0.48), bytes: keys * 1700, exact: false, detail: 'a sample' },
    ],
    memory: { entries: Math.round(9000 * fraction), bytes: Math.round(31_000_000 * fraction) },
    engine: {
      seconds: 60,
      searches: 14_400,
      hitRatio: 0.89,
      engineCallMs: 24,
      engineCallsPerSecond: 24,
      extraCallsPerSecond: Math.round(213 * fraction),
      headroom: 4.2,
      amplification: 9.1,
      survivable: 0.395,
      ...engine,
    },
  };
}

const SEARCHES_PER_SECOND = 240;
const ENGINE_CALL_MS = 24;

/** Figures of a domain under steady load, with a hit ratio of 0.89. */
export function figuresAt(atMs: number, seconds: number): Figures {
  const random = seededRandom(Math.round(atMs));
  const noise = (value: number, share: number): number => value * (1 + (random() - 0.5) * share);
  const searches = Math.round(noise(SEARCHES_PER_SECOND * seconds, 0.1));
  const hitRatio = Math.min(0.99, noise(0.89, 0.02));
  const misses = Math.round(searches * (1 - hitRatio));
  const callsPerSecond = (misses * 0.9) / seconds;
  const outcomes = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<
    (typeof OUTCOMES)[number],
    number
  >;
  outcomes['hit-l1'] = Math.round((searches - misses) * 0.8);
  outcomes['hit-l2'] = searches - misses - outcomes['hit-l1'];
  outcomes.collapsed = Math.round(misses * 0.1);
  outcomes.engine = misses - outcomes.collapsed;
  const inFlight = Math.min(8, Math.ceil((callsPerSecond * ENGINE_CALL_MS) / 1000));
  return {
    seconds,
    processes: 1,
    searches,
    searchesPerSecond: searches / seconds,
    outcomes,
    hitRatio,
    errorRate: 0,
    shedRate: 0,
    p50Ms: noise(0.4, 0.2),
    p99Ms: noise(30, 0.1),
    engineCallsPerSecond: callsPerSecond,
    engineCallMs: noise(ENGINE_CALL_MS, 0.1),
    engineFailures: 0,
    engineInFlight: inFlight,
    engineQueued: inFlight === 8 ? 3 : 0,
    engineMax: 8,
    engineCeiling: 8,
    breakersOpen: 0,
    cohorts: [],
  };
}
