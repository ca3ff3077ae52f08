import { type TProperties, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { BUCKETS } from '../../cache/invalidation.ts';
import { FLUSH_MODES, type OverlayRange } from '../../control/document.ts';
import { OperationError } from '../../control/operation-error.ts';
import { OUTCOMES } from '../../search/outcome.ts';
import type { FlushPreview } from '../flush/flush.ts';
import type { Figures } from '../meter/figures.ts';
import { GUARD_FIGURES, type GuardFigure, type Plan } from './plan.ts';

/** The id of a drill. A word that does not match is never used as a file name. */
export const DRILL_ID = /^[0-9]{8}-[0-9]{6}-[a-z0-9_-]{1,200}$/;

/** Everything a drill did and measured, in order. The report is rendered from it alone. */
export interface Journal {
  /** `20261121-064348-goods-canary-x7`: sorts by time, safe as a file name. */
  readonly id: string;
  readonly plan: Plan;
  /** In the order in which they are drilled; one domain, unless the plan is over domains. */
  readonly domains: readonly string[];
  readonly reason: string;
  readonly by: string;
  readonly owner: string;
  /** Wall time. */
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  /** The dry run of the last stage, per domain, as shown before the start. */
  readonly previews: Readonly<Record<string, FlushPreview>>;
  /** About two per second; with `MAX_SAMPLES` samples every second one is dropped. */
  readonly samples: readonly Sample[];
  readonly marks: readonly Mark[];
  readonly state: DrillState;
  readonly verdict?: Verdict;
  /** One result per drilled domain. */
  readonly learned: readonly DomainResult[];
  /** The drill that this one continues. */
  readonly resumes?: string;
  /** The bucket where its stages begin; the same for a resumed drill. */
  readonly offset?: number;
}

export const MAX_SAMPLES = 4000;

export type DrillPhase = 'baseline' | 'stage' | 'hold' | 'recovery' | 'after';

export type DrillState =
  | { readonly kind: 'running'; readonly phase: DrillPhase; readonly domain: string; readonly stage: number }
  /** The cache is restored and the last figures are being taken. `ended`: a result that these figures do not change. */
  | { readonly kind: 'ending'; readonly ended?: Pick<Verdict, 'kind' | 'detail'> }
  | { readonly kind: 'over' };

export const VERDICTS = ['passed', 'failed', 'not-measured', 'refused', 'aborted', 'lost'] as const;

/**
 * `passed`: every stage finished, no guard broke, the cache recovered. `failed`: a guard ended it, the cache did not recover,
 * or the hypothesis did not hold afterwards. `not-measured`: too few searches for either. `refused`: the hypothesis failed
 * before the first stage; nothing was flushed. `aborted`: by an operator, a halt or SIGTERM. `lost`: the owner could not
 * renew it, so every process ended it by itself.
 */
export interface Verdict {
  readonly kind: (typeof VERDICTS)[number];
  /** One sentence for people. */
  readonly detail: string;
  /** The first unfinished stage. Absent: there is nothing to resume. */
  readonly resumable?: { readonly domain: string; readonly stage: number };
}

export interface Sample {
  /** Time since the start. */
  readonly atMs: number;
  readonly domain: string;
  readonly phase: DrillPhase;
  readonly stage: number;
  /** Over the time since the previous sample, about half a second. */
  readonly figures: Figures;
  /** Over the last two seconds or more: the values that guards check. */
  readonly guards: readonly { readonly figure: GuardFigure; readonly value?: number; readonly broken: boolean }[];
}

export type Mark = { readonly atMs: number; readonly domain: string } & (
  | { readonly kind: 'phase'; readonly phase: DrillPhase }
  | {
      readonly kind: 'stage';
      readonly stage: number;
      /** Each with its floor: entries of a lower generation were flushed. */
      readonly ranges: readonly OverlayRange[];
      readonly title: string;
    }
  | {
      readonly kind: 'guard';
      readonly figure: GuardFigure;
      readonly value: number;
      readonly max: number;
      readonly then: string;
    }
  | { readonly kind: 'guard-holds'; readonly figure: GuardFigure }
  | { readonly kind: 'recovered'; readonly stage: number; readonly afterMs: number }
  | { readonly kind: 'restored'; readonly why: string }
);

/** The result of a drill for one domain. */
export interface DomainResult {
  readonly domain: string;
  /** Before the first stage. */
  readonly baseline: Figures;
  /** After the cache was restored. */
  readonly after?: Figures;
  readonly stages: readonly StageResult[];
  /** Absent in journals of old versions, which had single figures instead of ranges. */
  readonly survival?: Survival;
}

export interface StageResult {
  readonly stage: number;
  readonly title: string;
  /** Hit ratio of the cohort of this stage: before the drill, at its lowest, at the end of the stage. 0–1. */
  readonly before?: number;
  readonly lowest?: number;
  readonly end?: number;
  /** The control cohort at the same time. */
  readonly control?: number;
  /** Time until the cohort was back within the plan's points of its own past; absent when it was not. */
  readonly refillMs?: number;
  readonly peakEngineCallsPerSecond: number;
}

/** A figure with its error: twice the standard error of the counted events. `high` absent: there is no upper bound. */
export interface Range {
  readonly low: number;
  readonly high?: number;
}

/** The measured effect of the cache loss in one domain. A figure is absent when the load was too small to measure it. */
export interface Survival {
  /** H: capacity of the engine ÷ its calls in the baseline. */
  readonly headroom?: Range;
  /** The same at the worst moment. */
  readonly headroomLeft?: Range;
  /** A: engine calls with nothing cached ÷ those of the baseline. */
  readonly amplification?: Range;
  /** f* = (H − 1) ÷ (A − 1): the share of the keys that may be lost at once, 0–1. */
  readonly survivable?: Range;
}

/** JSON strings contain no raw line end, so the samples are found without parsing. */
const SAMPLES = ',"samples":[\n';
const MAX_WHY_CHARACTERS = 200;

export type ReadJournal =
  | { readonly kind: 'journal'; readonly journal: Journal }
  /** `why`: in words for people, bounded. */
  | { readonly kind: 'unreadable'; readonly why: string };

/** JSON with one sample per line and the samples last, so that the head can be read without them. */
export function encodeJournal({ samples, ...head }: Journal): string {
  const lines = samples.map((sample) => JSON.stringify(sample)).join(',\n');
  return `${JSON.stringify(head).slice(0, -1)}${SAMPLES}${lines}\n]}\n`;
}

export function decodeJournal(text: string): ReadJournal {
  try {
    return readJournal(JSON.parse(text));
  } catch {
    return { kind: 'unreadable', why: 'it is no JSON' };
  }
}

/** Decodes a journal without its samples. */
export function decodeJournalHead(text: string): ReadJournal {
  const end = text.indexOf(SAMPLES);
  if (end < 0) return { kind: 'unreadable', why: 'it is no journal of a drill' };
  return decodeJournal(`${text.slice(0, end)},"samples":[]}`);
}

/** Validates every member, because another version or anyone with access to the store may have written it. Never throws. */
export function readJournal(value: unknown): ReadJournal {
  if (isJournal(value)) return { kind: 'journal', journal: value };
  const [first] = schema.Errors(value);
  if (first === undefined) return { kind: 'unreadable', why: 'it is no journal of a drill' };
  const where = first.instancePath === '' ? 'the journal' : first.instancePath;
  return { kind: 'unreadable', why: `${where} ${first.message}`.slice(0, MAX_WHY_CHARACTERS) };
}

function isJournal(value: unknown): value is Journal {
  return schema.Check(value);
}

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

/*
 * The schema of a journal, with bounds that every reader relies on. Members that another version adds are accepted; figures
 * that older versions did not have are optional.
 */

/**
 * Maximum of counts, rates, sizes and durations. JSON itself has no bound: 1e999 is read as infinity. The maximum is
 * higher than any figure computed from readings that the meter accepts, so a planted reading cannot make the report of
 * a drill unreadable.
 */
const MAX_AMOUNT = 1e30;
const amount = Type.Number({ minimum: 0, maximum: MAX_AMOUNT });
/** Figures that may be negative. */
const difference = Type.Number({ minimum: -MAX_AMOUNT, maximum: MAX_AMOUNT });
const ratio = Type.Number({ minimum: 0, maximum: 1 });
/** Until 2100: a later time would always be first in the list and cannot be shown. */
const wallMs = Type.Number({ minimum: 0, maximum: Date.UTC(2100, 0, 1) });
const index = Type.Integer({ minimum: 0, maximum: 255 });
const name = Type.String({ maxLength: 300 });
const words = Type.String({ maxLength: 4000 });
const oneOf = (values: readonly string[]) => Type.Enum([...values]);
const optional = (properties: TProperties): TProperties => Type.Partial(Type.Object(properties)).properties;
const listOf = (item: TSchema, maxItems: number) => Type.Array(item, { maxItems });
const MAX_ITEMS = 1024;

const range = Type.Object({
  from: Type.Integer({ minimum: 0, maximum: BUCKETS }),
  to: Type.Integer({ minimum: 0, maximum: BUCKETS }),
  ...optional({ floor: Type.Integer({ minimum: 1, maximum: 2 ** 32 }) }),
});
const guardFigure = oneOf(GUARD_FIGURES);

const figures = Type.Object({
  ...{ seconds: amount, processes: amount, searches: amount, searchesPerSecond: amount },
  outcomes: Type.Object(Object.fromEntries(OUTCOMES.map((outcome) => [outcome, amount]))),
  ...optional({ hitRatio: ratio, errorRate: ratio, shedRate: ratio }),
  ...optional({ p50Ms: amount, p99Ms: amount, engineCallMs: amount }),
  ...{ engineCallsPerSecond: amount, engineFailures: amount, engineInFlight: amount, engineQueued: amount },
  ...{ engineMax: amount, engineCeiling: amount, breakersOpen: amount },
  cohorts: listOf(Type.Object({ searches: amount, ...optional({ hitRatio: ratio }) }), MAX_ITEMS),
});

const stage = {
  holdMs: amount,
  ...optional({ title: words }),
};
const plan = Type.Object({
  name,
  title: words,
  mode: oneOf(FLUSH_MODES),
  eraseBy: oneOf(['unlink', 'flushall']),
  over: oneOf(['one', 'domains']),
  ...{ baselineMs: amount, afterMs: amount, minSearches: amount, holdout: ratio },
  stages: Type.Array(
    Type.Union([
      Type.Object({ ...stage, kind: Type.Literal('fraction'), fraction: ratio }),
      Type.Object({ ...stage, kind: Type.Literal('node'), node: index }),
      Type.Object({ ...stage, kind: Type.Literal('blackout') }),
    ]),
    { minItems: 1, maxItems: 256 },
  ),
  guards: listOf(
    Type.Object({
      ...{ figure: guardFigure, max: amount, forMs: amount },
      ...optional({ follows: name }),
      // biome-ignore lint/suspicious/noThenProperty: the plan's own word; a schema is never awaited.
      then: name,
    }),
    256,
  ),
  recovery: Type.Object({ withinPoints: amount, timeoutMs: amount }),
});

const preview = Type.Object({
  mode: oneOf(FLUSH_MODES),
  fraction: ratio,
  ranges: listOf(range, MAX_ITEMS),
  nodes: listOf(
    Type.Object({ node: name, keys: amount, bytes: amount, exact: Type.Boolean(), ...optional({ detail: words }) }),
    MAX_ITEMS,
  ),
  memory: Type.Object({ entries: amount, bytes: amount }),
  engine: Type.Object({
    ...{ seconds: amount, searches: amount, engineCallsPerSecond: amount },
    ...optional({ hitRatio: ratio, engineCallMs: amount, extraCallsPerSecond: amount }),
    ...optional({ headroom: amount, amplification: amount, survivable: amount }),
  }),
});

const phase = oneOf(['baseline', 'stage', 'hold', 'recovery', 'after']);
const at = { atMs: amount, domain: name };

const sample = Type.Object({
  ...at,
  phase,
  stage: index,
  figures,
  guards: listOf(Type.Object({ figure: guardFigure, broken: Type.Boolean(), ...optional({ value: difference }) }), 256),
});

const mark = Type.Union([
  Type.Object({ ...at, kind: Type.Literal('phase'), phase }),
  Type.Object({ ...at, kind: Type.Literal('stage'), stage: index, ranges: listOf(range, MAX_ITEMS), title: words }),
  Type.Object({
    ...{ ...at, kind: Type.Literal('guard'), figure: guardFigure, value: difference, max: amount },
    // biome-ignore lint/suspicious/noThenProperty: the journal's own word; a schema is never awaited.
    then: name,
  }),
  Type.Object({ ...at, kind: Type.Literal('guard-holds'), figure: guardFigure }),
  Type.Object({ ...at, kind: Type.Literal('recovered'), stage: index, afterMs: amount }),
  Type.Object({ ...at, kind: Type.Literal('restored'), why: words }),
]);

const interval = Type.Object({ low: amount, ...optional({ high: amount }) });
const learned = Type.Object({
  domain: name,
  baseline: figures,
  ...optional({ after: figures }),
  stages: listOf(
    Type.Object({
      ...{ stage: index, title: words, peakEngineCallsPerSecond: amount },
      ...optional({ before: ratio, lowest: ratio, end: ratio, control: ratio, refillMs: amount }),
    }),
    256,
  ),
  ...optional({
    survival: Type.Object(
      optional({ headroom: interval, headroomLeft: interval, amplification: interval, survivable: interval }),
    ),
  }),
});

const ending = { kind: oneOf(VERDICTS), detail: words };

const JOURNAL = Type.Object({
  id: Type.String({ pattern: DRILL_ID.source }),
  plan,
  domains: Type.Array(name, { minItems: 1, maxItems: 256 }),
  ...{ reason: words, by: name, owner: name, startedAtMs: wallMs },
  previews: Type.Record(Type.String({ maxLength: 300 }), preview),
  samples: listOf(sample, MAX_SAMPLES + 1),
  marks: listOf(mark, 10_000),
  state: Type.Union([
    Type.Object({ kind: Type.Literal('running'), phase, domain: name, stage: index }),
    Type.Object({ kind: Type.Literal('ending'), ...optional({ ended: Type.Object(ending) }) }),
    Type.Object({ kind: Type.Literal('over') }),
  ]),
  learned: listOf(learned, 256),
  ...optional({
    endedAtMs: wallMs,
    verdict: Type.Object({ ...ending, ...optional({ resumable: Type.Object({ domain: name, stage: index }) }) }),
    resumes: name,
    offset: Type.Integer({ minimum: 0, maximum: BUCKETS }),
  }),
});

const schema = Compile(JOURNAL);
