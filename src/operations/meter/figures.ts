import Type, { type TNumber } from 'typebox';
import { amount, count, type Decoded, share } from '../../schema/fields.ts';
import { OUTCOMES, type Outcome } from '../../search/outcome.ts';

/**
 * Upper bounds of the duration buckets, in milliseconds: a hit takes tens of microseconds, a miss up to a hard deadline. The
 * last bounds are above the maximum of `patience`, because guards of drills check whether answers take longer than it.
 */
export const DURATION_BOUNDS_MS = [
  0.05, 0.1, 0.2, 0.5, 1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 80, 100, 125, 150, 200, 250, 300, 400, 500, 600, 800,
  1000, 1250, 1500, 2000, 2250, 2500, 3000, 4000, 5000, 6000, 8000, 10_000, 15_000, 20_000, 30_000, 45_000, 60_000,
  90_000, 120_000,
] as const;

/**
 * A count of one process. The maximum is above the counts of any process, and low enough that sums over a fleet stay exact and
 * finite.
 */
const counted = Type.Number({ minimum: 0, maximum: 1e12 });
/** More cohorts than any drill plan has. */
const MAX_READ_COHORTS = 256;

const ENGINE_READING = Type.Object({
  calls: counted,
  failed: counted,
  // The sum of the durations of all calls, in milliseconds.
  busyMs: counted,
  // From here on: current levels in this process, not counts.
  inFlight: counted,
  queued: counted,
  maxConcurrent: counted,
  ceiling: counted,
  breaker: Type.Unsafe<'closed' | 'open' | 'half-open'>(Type.String()),
});
export type EngineReading = Decoded<typeof ENGINE_READING>;

/** `hits`: answered from L1 or L2 with a fresh entry. */
const COHORT_READING = Type.Object({ searches: counted, hits: counted });
export type CohortReading = Decoded<typeof COHORT_READING>;

/**
 * The counters of one process for one domain since its start; only differences of two readings have a meaning. Plain JSON,
 * small enough to be sent every second.
 */
export const METER_READING = Type.Object({
  // On the monotonic clock of the process.
  atMs: counted,
  outcomes: Type.Object(Object.fromEntries(OUTCOMES.map((outcome) => [outcome, counted])) as Record<Outcome, TNumber>),
  // Searches by duration: one count per bound of `DURATION_BOUNDS_MS`, and one for longer durations.
  durations: Type.Array(counted, {
    minItems: DURATION_BOUNDS_MS.length + 1,
    maxItems: DURATION_BOUNDS_MS.length + 1,
  }),
  engine: ENGINE_READING,
  // In the order of the requested cohorts.
  cohorts: Type.Array(COHORT_READING, { maxItems: MAX_READ_COHORTS }),
});
export type MeterReading = Decoded<typeof METER_READING>;

const COHORT_FIGURES = Type.Object({
  searches: count(),
  hitRatio: Type.Optional(share('Hit ratio of the cohort, 0–1; absent without searches.')),
});
const MAX_COHORTS = 1024;

/** The figures of a domain between two readings, summed over all processes that reported both. */
export const FIGURES = Type.Object({
  seconds: amount(),
  processes: count('Processes that reported at both moments.'),
  searches: count(),
  searchesPerSecond: amount(),
  outcomes: Type.Object(
    Object.fromEntries(OUTCOMES.map((outcome) => [outcome, count()])) as Record<Outcome, ReturnType<typeof count>>,
  ),
  hitRatio: Type.Optional(share('Fresh from memory or the store (`hit-l1`, `hit-l2`), 0–1; absent without searches.')),
  errorRate: Type.Optional(share('Share of `failed`, 0–1.')),
  shedRate: Type.Optional(share('Share of shed searches, 0–1.')),
  p50Ms: Type.Optional(amount()),
  p99Ms: Type.Optional(amount()),
  engineCallsPerSecond: amount(),
  engineCallMs: Type.Optional(amount('Mean duration of an engine call; absent without calls.')),
  engineFailures: count(),
  // From here on: sums over all processes at the second reading.
  engineInFlight: count(),
  engineQueued: count(),
  engineMax: count('Sum of the present concurrency limits: never more than `maxConcurrent` of the fleet.'),
  engineCeiling: count(),
  breakersOpen: count(),
  cohorts: Type.Array(COHORT_FIGURES, { maxItems: MAX_COHORTS }),
});

export type Figures = Decoded<typeof FIGURES>;
export type CohortFigures = Decoded<typeof COHORT_FIGURES>;

/** Answers of a domain that the audit compared since the start of the process. */
const AUDIT_FIGURES = Type.Object({
  audited: count('Hits compared with the engine.'),
  stale: count('Those that the engine would have answered otherwise.'),
  perMillion: Type.Optional(
    Type.Object(
      { found: amount(), from: amount(), to: amount() },
      { description: 'Stale answers per million, and the interval that has the true figure with 95 % confidence.' },
    ),
  ),
});
type AuditFigures = Decoded<typeof AUDIT_FIGURES>;

/** The feed of changes of one domain. */
export const CHANGES_LOOK = Type.Object(
  {
    following: Type.Boolean({ description: 'The stream was read to its end within the last second.' }),
    shared: Type.Boolean({ description: 'Other processes follow the same stream.' }),
    heardMsAgo: Type.Number(),
    changedMsAgo: Type.Optional(Type.Number({ description: 'Since the last change; absent: none came yet.' })),
    changes: Type.Integer({ description: 'Changes of documents since the start of the process.' }),
    perSecond: Type.Optional(Type.Number()),
    gaps: Type.Integer({ description: 'Moments before which every page counts as changed.' }),
    lagMs: Type.Number({ description: 'Time of the last change from the stream to this process.' }),
    filled: Type.Number({ description: 'Share of the newer half of the table of documents that is used, 0–1.' }),
    coversMs: Type.Optional(
      Type.Number({ description: 'Time back to which every change is known; absent: none was dropped.' }),
    ),
    texts: Type.Integer({ description: 'Changes whose words may be new.' }),
    known: Type.Integer({ description: 'Changes of documents that were there before.' }),
    sourceFault: Type.Optional(Type.String({ description: 'Why the stream of the configuration is not read.' })),
    pages: Type.Record(Type.String(), Type.Integer(), { description: 'Pages that the feed made stale, by reason.' }),
    audit: AUDIT_FIGURES,
  },
  { description: 'The feed of changes, in a domain that has one.' },
);
export type ChangesLook = Decoded<typeof CHANGES_LOOK>;

/** Quantile of the normal distribution for 95 %. */
const Z = 1.96;

/** @param audits answers by result, `equal` or why they were stale. The interval is that of Wilson (1927), which is right for few and for none. */
export function auditFigures(audits: Readonly<Record<string, number>>): AuditFigures {
  const audited = sum(Object.values(audits));
  const stale = audited - (audits['equal'] ?? 0);
  if (audited === 0) return { audited, stale };
  const found = stale / audited;
  const part = Z ** 2 / audited;
  const centre = found + part / 2;
  const reach = Math.sqrt(part * (found * (1 - found) + part / 4));
  const perMillion = (value: number): number => Math.round(1e6 * Math.min(1, Math.max(0, value)));
  return {
    audited,
    stale,
    perMillion: {
      found: perMillion(found),
      from: perMillion((centre - reach) / (1 + part)),
      to: perMillion((centre + reach) / (1 + part)),
    },
  };
}

type Readings = ReadonlyMap<string, MeterReading>;

/** Minimum duration for rates, which would have no bound otherwise. No process reports twice within this time. */
const MIN_DURATION_MS = 1;

interface Pair {
  readonly before: MeterReading;
  readonly after: MeterReading;
}

/**
 * The figures between two sets of readings. A process is included when it reported both times and its clock has moved on. A
 * process that started, died or fell silent in between is left out, because its counts for this time are unknown.
 */
export function figuresBetween(before: Readings, after: Readings): Figures {
  const pairs = pairsOf(before, after);
  const grown = (of: (reading: MeterReading) => number): number => grownIn(pairs, of);
  const perSecond = (of: (reading: MeterReading) => number): number =>
    sum(
      pairs.map(
        ({ before: then, after: now }) =>
          (Math.max(0, of(now) - of(then)) * 1000) / Math.max(MIN_DURATION_MS, now.atMs - then.atMs),
      ),
    );
  const level = (of: (engine: EngineReading) => number): number => sum(pairs.map(({ after: now }) => of(now.engine)));

  const outcomes = outcomesOf(pairs);
  const searches = sum(Object.values(outcomes));
  const durations = [...DURATION_BOUNDS_MS, 0].map((_, index) => grown((reading) => reading.durations[index] ?? 0));
  const calls = grown((reading) => reading.engine.calls);
  const seconds =
    pairs.length === 0 ? 0 : sum(pairs.map((pair) => pair.after.atMs - pair.before.atMs)) / pairs.length / 1000;
  const cohorts = Math.max(0, ...pairs.map((pair) => pair.after.cohorts.length));
  return {
    seconds,
    processes: pairs.length,
    searches,
    searchesPerSecond: perSecond((reading) => sum(Object.values(reading.outcomes))),
    outcomes,
    hitRatio: ratio(outcomes['hit-l1'] + outcomes['hit-l2'], searches),
    errorRate: ratio(outcomes.failed, searches),
    shedRate: ratio(outcomes.shed, searches),
    p50Ms: quantile(durations, 0.5),
    p99Ms: quantile(durations, 0.99),
    engineCallsPerSecond: perSecond((reading) => reading.engine.calls),
    engineCallMs: ratio(
      grown((reading) => reading.engine.busyMs),
      calls,
    ),
    engineFailures: grown((reading) => reading.engine.failed),
    engineInFlight: level((engine) => engine.inFlight),
    engineQueued: level((engine) => engine.queued),
    engineMax: level((engine) => engine.maxConcurrent),
    engineCeiling: level((engine) => engine.ceiling),
    breakersOpen: level((engine) => (engine.breaker === 'closed' ? 0 : 1)),
    cohorts: Array.from({ length: cohorts }, (_, at): CohortFigures => {
      const searched = grownInCohort(pairs, at, 'searches');
      const hit = grownInCohort(pairs, at, 'hits');
      // The report of another process may hold more hits than searches.
      return { searches: searched, hitRatio: ratio(Math.min(hit, searched), searched) };
    }),
  };
}

/**
 * The count of searches as in `figuresBetween`, without the other figures: cheap enough for every reading that is kept.
 * @param cohorts indices of the cohorts to count; absent: all searches
 */
export function searchesBetween(before: Readings, after: Readings, cohorts?: readonly number[]): number {
  const pairs = pairsOf(before, after);
  return cohorts === undefined
    ? sum(Object.values(outcomesOf(pairs)))
    : sum(cohorts.map((at) => grownInCohort(pairs, at, 'searches')));
}

function pairsOf(before: Readings, after: Readings): readonly Pair[] {
  return [...after].flatMap(([id, now]): Pair[] => {
    const then = before.get(id);
    return then !== undefined && now.atMs > then.atMs ? [{ before: then, after: now }] : [];
  });
}

function grownIn(pairs: readonly Pair[], of: (reading: MeterReading) => number): number {
  return sum(pairs.map((pair) => Math.max(0, of(pair.after) - of(pair.before))));
}

function outcomesOf(pairs: readonly Pair[]): Record<Outcome, number> {
  const grown = OUTCOMES.map((outcome) => [outcome, grownIn(pairs, (reading) => reading.outcomes[outcome])]);
  return Object.fromEntries(grown) as Record<Outcome, number>;
}

/** Leaves out processes that did not know the drill at the first reading. */
function grownInCohort(pairs: readonly Pair[], at: number, what: 'searches' | 'hits'): number {
  const both = pairs.filter((pair) => pair.before.cohorts.length > at && pair.after.cohorts.length > at);
  return grownIn(both, (reading) => reading.cohorts[at]?.[what] ?? 0);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function ratio(part: number, whole: number): number | undefined {
  return whole >= 1 ? part / whole : undefined;
}

/** The upper bound of the bucket that holds the quantile; the last bound for longer durations. */
export function quantile(counts: readonly number[], share: number): number | undefined {
  const wanted = sum(counts) * share;
  if (wanted === 0) return undefined;
  let seen = 0;
  const index = counts.findIndex((count) => {
    seen += count;
    return seen >= wanted;
  });
  return DURATION_BOUNDS_MS[index] ?? DURATION_BOUNDS_MS.at(-1);
}
