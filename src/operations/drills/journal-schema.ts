import { type TProperties, type TSchema, Type } from 'typebox';
import { BUCKETS } from '../../cache/invalidation.ts';
import { FLUSH_MODES } from '../../control/document.ts';
import { OUTCOMES } from '../../search/events.ts';
import { DRILL_ID } from './drills.ts';
import { MAX_SAMPLES, VERDICTS } from './journal.ts';
import { GUARD_FIGURES } from './plan.ts';

/**
 * The shape of a journal, member by member, with the bounds that keep every reader from failing. Members that another
 * version adds are let through; figures that older versions did not have are optional.
 */

/**
 * Counts, rates, sizes and durations. JSON has no other bound than that of a double, and 1e999 is read as infinite. Above
 * what is computed from any readings that `meter/fleet.ts` lets in: or whoever plants one spoils the report of a drill.
 */
const MOST = 1e30;
const amount = Type.Number({ minimum: 0, maximum: MOST });
/** What may be a difference. */
const difference = Type.Number({ minimum: -MOST, maximum: MOST });
const ratio = Type.Number({ minimum: 0, maximum: 1 });
/** Until 2100: a later time sorts before everything and cannot be shown. */
const wallMs = Type.Number({ minimum: 0, maximum: Date.UTC(2100, 0, 1) });
const place = Type.Integer({ minimum: 0, maximum: 255 });
const name = Type.String({ maxLength: 300 });
const words = Type.String({ maxLength: 4000 });
const oneOf = (values: readonly string[]) => Type.Enum([...values]);
const optional = (properties: TProperties): TProperties => Type.Partial(Type.Object(properties)).properties;
const listOf = (item: TSchema, maxItems: number) => Type.Array(item, { maxItems });
const MAX_PARTS = 1024;

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
  cohorts: listOf(Type.Object({ searches: amount, ...optional({ hitRatio: ratio }) }), MAX_PARTS),
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
      Type.Object({ ...stage, kind: Type.Literal('node'), node: place }),
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
  ranges: listOf(range, MAX_PARTS),
  nodes: listOf(
    Type.Object({ node: name, keys: amount, bytes: amount, exact: Type.Boolean(), ...optional({ detail: words }) }),
    MAX_PARTS,
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
  stage: place,
  figures,
  guards: listOf(Type.Object({ figure: guardFigure, broken: Type.Boolean(), ...optional({ value: difference }) }), 256),
});

const mark = Type.Union([
  Type.Object({ ...at, kind: Type.Literal('phase'), phase }),
  Type.Object({ ...at, kind: Type.Literal('stage'), stage: place, ranges: listOf(range, MAX_PARTS), title: words }),
  Type.Object({
    ...{ ...at, kind: Type.Literal('guard'), figure: guardFigure, value: difference, max: amount },
    // biome-ignore lint/suspicious/noThenProperty: the journal's own word; a schema is never awaited.
    then: name,
  }),
  Type.Object({ ...at, kind: Type.Literal('guard-holds'), figure: guardFigure }),
  Type.Object({ ...at, kind: Type.Literal('recovered'), stage: place, afterMs: amount }),
  Type.Object({ ...at, kind: Type.Literal('restored'), why: words }),
]);

const interval = Type.Object({ low: amount, ...optional({ high: amount }) });
const learned = Type.Object({
  domain: name,
  baseline: figures,
  ...optional({ after: figures }),
  stages: listOf(
    Type.Object({
      ...{ stage: place, title: words, peakEngineCallsPerSecond: amount },
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

export const JOURNAL = Type.Object({
  id: Type.String({ pattern: DRILL_ID.source }),
  plan,
  domains: Type.Array(name, { minItems: 1, maxItems: 256 }),
  ...{ reason: words, by: name, owner: name, startedAtMs: wallMs },
  previews: Type.Record(Type.String({ maxLength: 300 }), preview),
  samples: listOf(sample, MAX_SAMPLES + 1),
  marks: listOf(mark, 10_000),
  state: Type.Union([
    Type.Object({ kind: Type.Literal('running'), phase, domain: name, stage: place }),
    Type.Object({ kind: Type.Literal('ending'), ...optional({ ended: Type.Object(ending) }) }),
    Type.Object({ kind: Type.Literal('over') }),
  ]),
  learned: listOf(learned, 256),
  ...optional({
    endedAtMs: wallMs,
    verdict: Type.Object({ ...ending, ...optional({ resumable: Type.Object({ domain: name, stage: place }) }) }),
    resumes: name,
    offset: Type.Integer({ minimum: 0, maximum: BUCKETS }),
  }),
});
