import { type TSchema, Type } from 'typebox';
import type { DrillAsk } from '../../drills/drills.ts';
import { choice } from './fields.ts';
import { By, Mode } from './flush-schema.ts';

const Ms = (description: string) => Type.Number({ description: `${description} Milliseconds.` });

const StageBody = Type.Object({
  kind: choice(['fraction', 'node', 'blackout']),
  holdMs: Ms('How long it is held.'),
  title: Type.Optional(Type.String()),
  fraction: Type.Optional(
    Type.Number({ description: 'With `fraction`: above 0, at most 1, rising from stage to stage.' }),
  ),
  node: Type.Optional(Type.Integer({ description: 'With `node`: its place in the store’s order, from 0.' })),
});

export const GUARD_FIGURES_BODY = choice([
  'errorRate',
  'shedRate',
  'p99Ms',
  'engineInFlightShare',
  'engineRateFactor',
  'hitRatioDrop',
]);

const guardOf = <Max extends TSchema>(max: Max) => ({
  figure: GUARD_FIGURES_BODY,
  max,
  follows: Type.Optional(choice(['patience'], '`max` is told from the patience of the domains.')),
  forMs: Ms('For so long without a break.'),
  // biome-ignore lint/suspicious/noThenProperty: the plan's own word; a schema is never awaited.
  then: choice(['rollback', 'hold', 'continue']),
});
const MAX = 'Never above it: rates 0–1, milliseconds, factors, points.';
const GuardBody = Type.Object(guardOf(Type.Number({ description: MAX })));
/** As it may be asked for. */
const GuardAsk = Type.Object(
  guardOf(
    Type.Union([Type.Number(), Type.Literal('patience')], {
      description: `${MAX} \`patience\`, for p99Ms: the longest a client waits, and some slack.`,
    }),
  ),
);

const defaulted = {
  title: Type.String(),
  mode: Mode,
  eraseBy: By,
  over: choice(['one', 'domains'], '`domains`: the stages are run for one domain after another.'),
  baselineMs: Ms('Measured before the first stage.'),
  holdout: Type.Number({ description: 'The control cohort: 0.001–0.5 of the keys.' }),
  guards: Type.Array(GuardBody),
  recovery: Type.Object({ withinPoints: Type.Number(), timeoutMs: Ms('') }),
  afterMs: Ms('Measured after the cache is restored.'),
  minSearches: Type.Integer({ description: 'In the baseline; with fewer the drill is refused.' }),
};
const required = {
  name: Type.String({ description: '1 to 64 lower-case letters, digits and `-`.' }),
  stages: Type.Array(StageBody, { description: '1 to 16.' }),
};

/** A plan as it is run, and shown. */
export const PlanBody = Type.Object({ ...required, ...defaulted });

/** What a request may hold in its place. The drills room judges a written one, and says everything that is wrong at once. */
export const PlanChoice = Type.Unsafe<DrillAsk['plan']>({
  type: ['string', 'object'],
  minLength: 1,
  maxLength: 64,
  description: 'The name of a ready-made plan, or a plan of one’s own.',
});

/** The same for readers, in full. */
export const PlanAsk = Type.Union([
  Type.String({ minLength: 1, maxLength: 64, description: 'The name of a ready-made plan.' }),
  Type.Object(
    { ...required, ...Type.Partial(Type.Object({ ...defaulted, guards: Type.Array(GuardAsk) })).properties },
    { description: 'A plan of one’s own. What is left out has the value the ready-made plans have.' },
  ),
]);
