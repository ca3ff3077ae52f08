import Type from 'typebox';
import { BUCKETS } from '../../cache/invalidation.ts';
import { OVERLAY_RANGE, type OverlayRange } from '../../control/document.ts';
import { OperationError } from '../../control/operation-error.ts';
import { createRecordReader, RECORD_ID, recordTime } from '../../report/record-archive.ts';
import { amount, count, type Decoded, difference, integer, oneOf, share } from '../../schema/fields.ts';
import { ERASE_METHOD, FLUSH_MODE, FLUSH_PREVIEW } from '../flush/flush.ts';
import { FIGURES } from '../meter/figures.ts';
import { GUARD_ACTIONS, GUARD_FIGURES, type Plan } from './plan.ts';

export const MAX_SAMPLES = 4000;
const MAX_ITEMS = 1024;

/*
 * The schema of a journal, with bounds that every reader relies on; it also describes the journal in OpenAPI. Members that
 * another version adds are accepted; figures that older versions did not have are optional.
 */

const index = (description?: string) => Type.Integer({ minimum: 0, maximum: 255, description });
const name = (description?: string) => Type.String({ maxLength: 300, description });
const words = () => Type.String({ maxLength: 4000 });
/** One of the words that this version writes; other versions may have written others. */
const word = (values: readonly string[], description?: string) =>
  Type.String({ maxLength: 300, 'x-written': { enum: values }, description });
const guardFigure = oneOf(GUARD_FIGURES);

const stage = { holdMs: amount('Duration of the stage in milliseconds.'), title: Type.Optional(words()) };

/** A plan in a journal or an answer. Its bounds are wider than those of a plan file, which have changed over time. */
export const JOURNAL_PLAN = Type.Unsafe<Plan>(
  Type.Object({
    name: name('1 to 64 lower-case letters, digits and `-`.'),
    title: words(),
    mode: FLUSH_MODE,
    eraseBy: ERASE_METHOD,
    over: oneOf(['one', 'domains'], '`domains`: the stages run for one domain after another.'),
    baselineMs: amount('Duration of the measurement before the first stage in milliseconds.'),
    afterMs: amount('Duration of the measurement after the cache is restored in milliseconds.'),
    minSearches: count('Minimum number of searches in the baseline; with fewer the drill is refused.'),
    holdout: share('Share of the keys in the control cohort: 0.001–0.5.'),
    stages: Type.Array(
      Type.Union([
        Type.Object({
          ...stage,
          kind: Type.Literal('fraction'),
          fraction: share('Above 0, at most 1, rising from stage to stage.'),
        }),
        Type.Object({
          ...stage,
          kind: Type.Literal('node'),
          node: index('Index of the node in the order of the store, from 0.'),
        }),
        Type.Object({ ...stage, kind: Type.Literal('blackout') }),
      ]),
      { minItems: 1, maxItems: 256, description: '1 to 16.' },
    ),
    guards: Type.Array(
      Type.Object({
        figure: guardFigure,
        max: amount('Maximum of the figure: a rate 0–1, milliseconds, a factor or percentage points.'),
        forMs: amount('Minimum duration without interruption in milliseconds.'),
        follows: Type.Optional(word(['patience'], '`max` is calculated from the patience of the domains.')),
        // biome-ignore lint/suspicious/noThenProperty: the plan's own word; a schema is never awaited.
        then: word(GUARD_ACTIONS),
      }),
      { maxItems: 256 },
    ),
    recovery: Type.Object({
      withinPoints: amount('Points of hit ratio.'),
      timeoutMs: amount('Time for the recovery in milliseconds.'),
    }),
  }),
);

const phase = oneOf(['baseline', 'stage', 'hold', 'recovery', 'after']);
export type DrillPhase = Decoded<typeof phase>;
const at = { atMs: amount('Milliseconds since the start.'), domain: name() };

const SAMPLE = Type.Object({
  ...at,
  phase,
  stage: index(),
  // Over the time since the previous sample, about half a second.
  figures: FIGURES,
  guards: Type.Array(Type.Object({ figure: guardFigure, broken: Type.Boolean(), value: Type.Optional(difference()) }), {
    maxItems: 256,
    description: 'Over the last two seconds or more: the values that guards check.',
  }),
});
export type Sample = Decoded<typeof SAMPLE>;

const MARK = Type.Union([
  Type.Object({ ...at, kind: Type.Literal('phase'), phase }),
  Type.Object({
    ...at,
    kind: Type.Literal('stage'),
    stage: index(),
    ranges: Type.Array(OVERLAY_RANGE, { maxItems: MAX_ITEMS }),
    title: words(),
  }),
  Type.Object({
    ...at,
    kind: Type.Literal('guard'),
    figure: guardFigure,
    value: difference(),
    max: amount(),
    // biome-ignore lint/suspicious/noThenProperty: the journal's own word; a schema is never awaited.
    then: name(),
  }),
  Type.Object({ ...at, kind: Type.Literal('guard-holds'), figure: guardFigure }),
  Type.Object({ ...at, kind: Type.Literal('recovered'), stage: index(), afterMs: amount() }),
  Type.Object({ ...at, kind: Type.Literal('restored'), why: words() }),
]);
export type Mark = Decoded<typeof MARK>;

/** A figure with its error: twice the standard error of the counted events. */
const RANGE = Type.Object({
  low: amount(),
  high: Type.Optional(amount('Absent: no upper bound could be measured.')),
});
export type Range = Decoded<typeof RANGE>;
const range = (description: string) => Type.Optional({ ...RANGE, description });

const STAGE_RESULT = Type.Object({
  stage: index(),
  title: words(),
  before: Type.Optional(share('Hit ratio of the cohort of this stage before the drill, 0–1.')),
  lowest: Type.Optional(share('The same at its lowest.')),
  end: Type.Optional(share('The same at the end of the stage.')),
  control: Type.Optional(share('The control cohort at the same time.')),
  refillMs: Type.Optional(
    amount("Time until the cohort was back within the plan's points of its own past; absent when it was not."),
  ),
  peakEngineCallsPerSecond: amount(),
});
export type StageResult = Decoded<typeof STAGE_RESULT>;

/** The measured effect of the cache loss in one domain. A figure is absent when the load was too small to measure it. */
const SURVIVAL = Type.Object(
  {
    headroom: range('H: capacity of the engine ÷ its calls in the baseline.'),
    headroomLeft: range('The same at the worst moment.'),
    amplification: range('A: engine calls with nothing cached ÷ those of the baseline.'),
    survivable: range('f* = (H − 1) ÷ (A − 1): the share of the keys that may be lost at once, 0–1.'),
  },
  {
    description:
      'The range of each figure; a figure is absent when there was too little load to measure it. Absent in journals of old versions, which had single figures.',
  },
);
export type Survival = Decoded<typeof SURVIVAL>;

/** The result of a drill for one domain. */
const DOMAIN_RESULT = Type.Object({
  domain: name(),
  // Before the first stage.
  baseline: FIGURES,
  // After the cache was restored.
  after: Type.Optional(FIGURES),
  stages: Type.Array(STAGE_RESULT, { maxItems: 256 }),
  survival: Type.Optional(SURVIVAL),
});
export type DomainResult = Decoded<typeof DOMAIN_RESULT>;

export const VERDICTS = ['passed', 'failed', 'not-measured', 'refused', 'aborted', 'lost'] as const;

/**
 * `passed`: every stage finished, no guard broke, the cache recovered. `failed`: a guard ended it, the cache did not recover,
 * or the hypothesis did not hold afterwards. `not-measured`: too few searches for either. `refused`: the hypothesis failed
 * before the first stage; nothing was flushed. `aborted`: by an operator, a halt or SIGTERM. `lost`: the owner could not
 * renew it, so every process ended it by itself.
 */
export const ENDING = Type.Object({ kind: oneOf(VERDICTS), detail: words() });
export const VERDICT = Type.Object({
  ...ENDING.properties,
  resumable: Type.Optional(
    Type.Object(
      { domain: name(), stage: index() },
      { description: 'The first unfinished stage. Absent: there is nothing to resume.' },
    ),
  ),
});
export type Verdict = Decoded<typeof VERDICT>;

const STATE = Type.Union([
  Type.Object({ kind: Type.Literal('running'), phase, domain: name(), stage: index() }),
  Type.Object(
    { kind: Type.Literal('ending'), ended: Type.Optional(ENDING) },
    {
      description:
        'The cache is restored and the last figures are being taken. `ended`: a result that they do not change.',
    },
  ),
  Type.Object({ kind: Type.Literal('over') }),
]);
export type DrillState = Decoded<typeof STATE>;

/** Everything a drill did and measured, in order. The report is rendered from it alone. */
export const JOURNAL = Type.Object(
  {
    id: Type.String({
      pattern: RECORD_ID.source,
      description: '`20261121-064348-goods-canary-x7`: sorts by time, safe as a file name.',
    }),
    plan: JOURNAL_PLAN,
    domains: Type.Array(name(), {
      minItems: 1,
      maxItems: 256,
      description: 'In the order in which they are drilled; one domain, unless the plan is over domains.',
    }),
    reason: words(),
    by: name(),
    owner: name('The process that runs the drill.'),
    startedAtMs: recordTime(),
    // The dry run of the last stage, per domain, as shown before the start.
    previews: Type.Record(Type.String({ maxLength: 300 }), FLUSH_PREVIEW),
    samples: Type.Array(SAMPLE, {
      maxItems: MAX_SAMPLES + 1,
      description: `About two a second; with ${MAX_SAMPLES} samples every second one is dropped.`,
    }),
    marks: Type.Array(MARK, { maxItems: 10_000 }),
    state: STATE,
    learned: Type.Array(DOMAIN_RESULT, { maxItems: 256, description: 'One result per drilled domain.' }),
    endedAtMs: Type.Optional(recordTime()),
    verdict: Type.Optional(VERDICT),
    resumes: Type.Optional(name('The drill that this one continues.')),
    offset: Type.Optional(
      integer('The bucket where its stages begin; the same for a resumed drill.', { minimum: 0, maximum: BUCKETS }),
    ),
  },
  { description: 'Everything that the drill did and measured, in order.' },
);
export type Journal = Decoded<typeof JOURNAL>;

export const JOURNALS = createRecordReader(JOURNAL, 'journal', 'a drill');

/** Where a stopped drill continues. */
export interface ResumePoint {
  readonly id: string;
  readonly stage: number;
  readonly offset: number | undefined;
  /** The flushed ranges of the domain, each with its floor; undefined: nothing was flushed. */
  readonly ranges: readonly OverlayRange[] | undefined;
  /** The last stage that began. */
  readonly flushedStage: number | undefined;
}

/** The resume point, and the domains still to be drilled. @throws OperationError drill-running, drill-over */
export function resumePoint(journal: Journal): { readonly point: ResumePoint; readonly domains: readonly string[] } {
  const { id, verdict, state, marks, domains, offset } = journal;
  if (state.kind !== 'over') throw new OperationError('drill-running', `Drill ${id} still runs.`);
  const resumable = verdict?.resumable;
  if (resumable === undefined) {
    throw new OperationError('drill-over', `Drill ${id} ended (${verdict?.kind}) with nothing left to go on with.`);
  }
  const { domain, stage } = resumable;
  const last = marks.flatMap((mark) => (mark.kind === 'stage' && mark.domain === domain ? [mark] : [])).at(-1);
  return {
    point: { id, stage, offset, ranges: last?.ranges, flushedStage: last?.stage },
    domains: domains.slice(Math.max(0, domains.indexOf(domain))),
  };
}
