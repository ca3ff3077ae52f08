import fc from 'fast-check';
import {
  type DomainResult,
  type Journal,
  type Mark,
  type Range,
  type Sample,
  type Survival,
  VERDICTS,
} from '../../../../src/operations/drills/journal.ts';
import { GUARD_FIGURES, type GuardRule, type Plan, type PlanStage } from '../../../../src/operations/drills/plan.ts';
import type { Figures } from '../../../../src/operations/meter/figures.ts';
import { OUTCOMES } from '../../../../src/search/outcome.ts';

/** Any number that arithmetic can produce, NaN and infinities included. */
const number = fc.oneof(
  { weight: 6, arbitrary: fc.double({ min: 0, max: 1e4, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(0, -1, 1e-9, 1e21, Number.MAX_VALUE, Number.POSITIVE_INFINITY, Number.NaN) },
);
const times = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 900_000 }) },
  { weight: 1, arbitrary: number },
);
/** Any text without the words that the test searches for. */
const words = fc
  .string({ unit: 'binary', maxLength: 20 })
  .filter((text) => !/NaN|undefined|Infinity|null|object/.test(text));
const domain = fc.constantFrom('goods', 'auto');
const phase = fc.constantFrom('baseline', 'stage', 'hold', 'recovery', 'after' as const);
const stageNumber = fc.integer({ min: 0, max: 5 });
const figure = fc.constantFrom(...GUARD_FIGURES);
const some = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(one, { maxLength: 4 });
const shape = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }, requiredKeys: (keyof T)[]): fc.Arbitrary<T> =>
  fc.record(model, { requiredKeys }) as fc.Arbitrary<T>;

const outcomes = fc.record(Object.fromEntries(OUTCOMES.map((name) => [name, number]))) as fc.Arbitrary<
  Figures['outcomes']
>;
const cohort = shape<{ searches: number; hitRatio?: number }>({ searches: number, hitRatio: number }, ['searches']);
const FIGURES = [
  ...['seconds', 'processes', 'searches', 'searchesPerSecond', 'hitRatio', 'errorRate', 'shedRate', 'p50Ms', 'p99Ms'],
  ...['engineCallsPerSecond', 'engineCallMs', 'engineFailures', 'engineInFlight', 'engineQueued', 'engineMax'],
  ...['engineCeiling', 'breakersOpen'],
];
const OPTIONAL = ['hitRatio', 'errorRate', 'shedRate', 'p50Ms', 'p99Ms', 'engineCallMs'];
const figures = fc.record<Record<string, unknown>>(
  { ...Object.fromEntries(FIGURES.map((name) => [name, number])), outcomes, cohorts: some(cohort) },
  { requiredKeys: [...FIGURES.filter((name) => !OPTIONAL.includes(name)), 'outcomes', 'cohorts'] },
) as fc.Arbitrary<unknown> as fc.Arbitrary<Figures>;

const guardState = shape<Sample['guards'][number]>({ figure, value: number, broken: fc.boolean() }, [
  'figure',
  'broken',
]);
const sample = fc.record({
  atMs: times,
  domain,
  phase,
  stage: stageNumber,
  figures,
  guards: some(guardState),
}) as fc.Arbitrary<Sample>;
const then = fc.constantFrom('rollback', 'hold', 'continue' as const);
const at = { atMs: times, domain };
const ranges = fc.constant([{ from: 0, to: 100, floor: 7 }]);
const mark = fc.oneof(
  fc.record({ ...at, kind: fc.constant('phase'), phase }),
  fc.record({ ...at, kind: fc.constant('stage'), stage: stageNumber, ranges, title: words }),
  fc.record({ ...at, kind: fc.constant('guard'), figure, value: number, max: number, then }),
  fc.record({ ...at, kind: fc.constant('guard-holds'), figure }),
  fc.record({ ...at, kind: fc.constant('recovered'), stage: stageNumber, afterMs: number }),
  fc.record({ ...at, kind: fc.constant('restored'), why: words }),
) as fc.Arbitrary<Mark>;

const stageLearned = shape<DomainResult['stages'][number]>(
  {
    ...{ stage: stageNumber, title: words, before: number, lowest: number, end: number, control: number },
    ...{ refillMs: number, peakEngineCallsPerSecond: number },
  },
  ['stage', 'title', 'peakEngineCallsPerSecond'],
);
const range = shape<Range>({ low: number, high: number }, ['low']);
const survival = shape<Survival>({ headroom: range, headroomLeft: range, amplification: range, survivable: range }, []);
const learned = shape<DomainResult>(
  {
    ...{ domain, baseline: figures, after: figures, stages: some(stageLearned) },
    survival,
  },
  ['domain', 'baseline', 'stages'],
);

const stage = fc.oneof(
  fc.record({
    kind: fc.constant('fraction'),
    fraction: fc.double({ min: 0.001, max: 1, noNaN: true }),
    holdMs: number,
  }),
  fc.record({ kind: fc.constant('node'), node: fc.integer({ min: 0, max: 9 }), holdMs: number }),
  fc.record({ kind: fc.constant('blackout'), holdMs: number, title: words }),
) as fc.Arbitrary<PlanStage>;
const guard = fc.record({
  ...{ figure, max: number, forMs: number },
  then,
}) as fc.Arbitrary<GuardRule>;
const plan: fc.Arbitrary<Plan> = fc.record({
  ...{ name: words, title: words, stages: some(stage), guards: some(guard) },
  mode: fc.constantFrom('refresh', 'drop', 'erase'),
  eraseBy: fc.constantFrom('unlink', 'flushall'),
  over: fc.constantFrom('one', 'domains'),
  ...{ baselineMs: number, holdout: number, afterMs: number, minSearches: number },
  recovery: fc.record({ withinPoints: number, timeoutMs: number }),
});

export const anyJournal: fc.Arbitrary<Journal> = shape<Journal>(
  {
    ...{ id: words, plan, reason: words, by: words, owner: words, startedAtMs: times, endedAtMs: times },
    domains: fc.constantFrom([], ['goods'], ['goods', 'auto']),
    previews: fc.constant({}),
    ...{
      samples: fc.array(sample, { maxLength: 30 }),
      marks: fc.array(mark, { maxLength: 8 }),
      learned: some(learned),
    },
    state: fc.constantFrom(
      { kind: 'ending' },
      { kind: 'ending', ended: { kind: 'aborted', detail: '<b>' } },
      { kind: 'over' },
    ),
    verdict: shape<NonNullable<Journal['verdict']>>(
      {
        kind: fc.constantFrom(...VERDICTS),
        detail: words,
        resumable: fc.record({ domain, stage: stageNumber }),
      },
      ['kind', 'detail'],
    ),
    ...{ resumes: words, offset: fc.integer({ min: 0, max: 9999 }) },
  },
  ['id', 'plan', 'domains', 'reason', 'by', 'owner', 'startedAtMs', 'previews', 'samples', 'marks', 'state', 'learned'],
);
