import Type from 'typebox';
import type { FlushMode } from '../../control/document.ts';
import {
  choice,
  closed,
  type Decoded,
  duration,
  fraction,
  integer,
  kind,
  partOf,
  section,
  text,
} from '../../schema/fields.ts';
import { bodyForm } from '../../schema/read.ts';
import { HOUR, MINUTE, SECOND } from '../../schema/units.ts';
import { ERASE_METHOD, type EraseBy, FLUSH_MODE } from '../flush/flush.ts';

export const MAX_STAGES = 16;

/** Without days: the longest duration of a plan is an hour, and a plan with `0.01d` has always been refused. */
const PLAN_DURATION = '^[0-9]{1,9}(\\.[0-9]{1,3})?(ms|s|m|h)$';
const time = (description: string, min: number, max: number, byDefault?: string) =>
  duration(description, { min, max, pattern: PLAN_DURATION, default: byDefault });

const title = Type.Optional(text('Title.', { maxLength: 120 }));
const stageMembers = { hold: time('Duration of the stage.', SECOND, HOUR), title };

const stage = Type.Union(
  [
    Type.Object(
      {
        kind: kind('fraction'),
        ...stageMembers,
        fraction: partOf('Share of the keys, rising from stage to stage.', {
          'x-allowed': 'a number above 0 and at most 1, rising',
        }),
      },
      closed('A share of the keys.'),
    ),
    Type.Object(
      {
        kind: kind('node'),
        ...stageMembers,
        // `each` is replaced by one stage per node before a plan is used.
        node: Type.Unsafe<number>({
          anyOf: [
            { type: 'integer', minimum: 0, maximum: 255 },
            { type: 'string', const: 'each' },
          ],
          description: 'Index of the node in the order of the store, from 0; `each`: one stage per node.',
          'x-allowed': 'the place of a node in the store, counted from 0',
        }),
      },
      closed('Every key on one node.'),
    ),
    Type.Object({ kind: kind('blackout'), ...stageMembers }, closed('The engine is treated as dead.')),
  ],
  {
    description: 'A stage.',
    'x-discriminator': 'kind',
    'x-implied': true,
    'x-allowed': 'a mapping: fraction, node or kind: blackout, each with its hold',
  },
);

export const GUARD_FIGURES = [
  'errorRate',
  'shedRate',
  'p99Ms',
  'engineInFlightShare',
  'engineRateFactor',
  'hitRatioDrop',
] as const;

export const GUARD_ACTIONS = ['rollback', 'hold', 'continue'] as const;

/** Limit of `max: patience` until the domains of the plan are known: that of a patience of 2 s. */
export const UNFITTED_PATIENCE_LIMIT_MS = 2250;

const guard = Type.Object(
  {
    figure: choice(
      GUARD_FIGURES,
      '`errorRate`, `shedRate`: 0–1. `p99Ms`. `engineInFlightShare`: in flight ÷ the ceiling of the fleet. `engineRateFactor`: engine calls per second ÷ those of the baseline. `hitRatioDrop`: points (0–100) that the control cohort has lost to its own past, which is harm to keys that the drill did not flush.',
    ),
    max: Type.Unsafe<number>({
      anyOf: [
        { type: 'number', minimum: 0, maximum: 1e6 },
        { type: 'string', const: 'patience' },
      ],
      description:
        'The steady-state hypothesis: the figure is never above this limit: a rate 0–1, milliseconds, a factor or percentage points. Checked before the first stage, during the drill and after. `patience`, for p99Ms: the maximum time that a client waits, and some slack.',
      'x-allowed': 'a number from 0 to 1000000, or patience for p99Ms',
    }),
    follows: Type.Optional(
      choice(['patience'], '`max` was `patience`: it is calculated again for the domains of a drill.'),
    ),
    for: time('Minimum time for which the figure must exceed `max` without a break.', 0, 5 * MINUTE, '1s'),
    // biome-ignore lint/suspicious/noThenProperty: a word of the plan, and never awaited.
    then: choice(
      GUARD_ACTIONS,
      '`rollback`: ends the drill. `hold`: no further stage until it holds again. `continue`: only recorded.',
    ),
  },
  closed('A limit of a figure.'),
);

/** Errors, refusals and slow answers roll back first; a busy engine only holds the next stage. */
const DEFAULT_GUARDS = (
  [
    ['errorRate', 0.02, '500ms', 'rollback'],
    ['shedRate', 0.1, '500ms', 'rollback'],
    ['p99Ms', UNFITTED_PATIENCE_LIMIT_MS, '500ms', 'rollback'],
    ['engineInFlightShare', 0.95, '2s', 'hold'],
    ['engineRateFactor', 20, '2s', 'continue'],
    ['hitRatioDrop', 25, '2s', 'rollback'],
  ] as const
).map(([figure, max, longerThan, then]) => {
  return { figure, max, follows: figure === 'p99Ms' ? 'patience' : undefined, for: longerThan, then };
});

export const PLAN = Type.Object(
  {
    name: text('1 to 64 lower-case letters, digits and `-`.', {
      pattern: '^[a-z0-9][a-z0-9-]{0,63}$',
      'x-allowed': '1 to 64 characters: a lower-case letter or digit, then these and -',
    }),
    title,
    mode: Type.Unsafe<FlushMode>({ ...FLUSH_MODE, default: 'drop' }),
    eraseBy: Type.Unsafe<EraseBy>({ ...ERASE_METHOD, default: 'unlink' }),
    over: choice(['one', 'domains'], '`domains`: the stages run for each named domain, one domain after another.', {
      default: 'one',
    }),
    baseline: time(
      'Duration of the baseline before the first stage, up to a minute longer with little traffic. Cohorts are compared with the baseline.',
      SECOND,
      10 * MINUTE,
      '10s',
    ),
    holdout: fraction('Share of the keys that no stage touches: the control cohort.', {
      minimum: 0.001,
      maximum: 0.5,
      default: 0.01,
    }),
    stages: Type.Array(stage, {
      minItems: 1,
      maxItems: MAX_STAGES,
      'x-what': 'stages',
      description: 'They run one after another.',
    }),
    guards: Type.Array(guard, {
      maxItems: 16,
      default: DEFAULT_GUARDS,
      'x-what': 'guards',
      description: 'The limits that must hold.',
    }),
    recovery: Type.Object(
      {
        withinPoints: fraction('Points of hit ratio.', {
          minimum: 0.1,
          maximum: 100,
          default: 5,
          'x-what': 'points of hit ratio',
        }),
        // The default lifetime of an entry: by then every page would have been computed again without any drill.
        timeout: time('Time for the recovery.', SECOND, HOUR, '5m'),
      },
      section('After the last stage the flushed cohort must come back to within this many points of its own past.'),
    ),
    after: time(
      'Duration of the measurement after the cache is restored, in which the hypothesis must hold again.',
      SECOND,
      10 * MINUTE,
      '10s',
    ),
    minSearches: integer(
      'With fewer searches in the baseline the drill is refused, because nothing could be concluded.',
      { minimum: 1, maximum: 1e9, default: 100 },
    ),
  },
  closed('A custom plan. A missing member has the value of the ready-made plans.'),
);

/** A plan in a request, where `hold: 10s` of a file is `holdMs: 10000`. */
export const PLAN_BODY = bodyForm(PLAN);

/** A plan that may have no title, and `node: each` for a node. */
export type DraftPlan = Decoded<typeof PLAN>;
/** A drill as it is written down: its stages, the limits that must hold, and what happens when one is exceeded. */
export interface Plan extends DraftPlan {
  readonly title: string;
}
export type PlanStage = Plan['stages'][number];
export type GuardRule = Plan['guards'][number];
export type GuardFigure = GuardRule['figure'];
