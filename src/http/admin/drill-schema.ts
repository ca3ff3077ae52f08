import { type TSchema, Type } from 'typebox';
import type { DrillRequest } from '../../operations/drills/drills.ts';
import { By, FlushPreviewBody, Mode } from './flush-schema.ts';
import { AtMs, BucketRange, choice, Domain, Reason } from './input.ts';
import { closed } from './openapi.ts';
import { EndingBody, FiguresBody, VerdictBody } from './state-route.ts';

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
export const PlanChoice = Type.Unsafe<DrillRequest['plan']>({
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

const Domains = Type.Optional(
  Type.Array(Domain, {
    minItems: 1,
    maxItems: 256,
    description: 'The domain to drill; with a plan over domains several, all unless said.',
  }),
);

export const PreviewAsk = Type.Object({ plan: PlanChoice, domains: Domains }, closed);
export const StartAsk = Type.Object({ plan: PlanChoice, domains: Domains, reason: Reason }, closed);

/** The same for readers. */
export const PreviewAskBody = Type.Object({ plan: PlanAsk, domains: Domains }, closed);
export const StartAskBody = Type.Object({ plan: PlanAsk, domains: Domains, reason: Reason }, closed);

const Forecast = Type.Object({
  share: Type.Number({ description: 'Of the keys, 0–1.' }),
  searchesPerSecond: Type.Optional(Type.Number()),
  enoughMs: Type.Optional(Type.Number({ description: 'Until there are as many searches as tell anything.' })),
});

export const DrillPreviewBody = Type.Object({
  plan: PlanBody,
  domains: Type.Array(
    Type.Object({
      domain: Type.String(),
      stages: Type.Array(Type.Object({ title: Type.String(), preview: FlushPreviewBody })),
      cohorts: Type.Object(
        { control: Forecast, stages: Type.Array(Forecast), flushed: Forecast },
        { description: 'What each cohort will be asked, on average, by the latest searches of this process.' },
      ),
    }),
  ),
  warnings: Type.Array(Type.String(), { description: 'What speaks against it.' }),
});

const Phase = choice(['baseline', 'stage', 'hold', 'recovery', 'after']);
const at = { atMs: Type.Number({ description: 'Milliseconds since the start.' }), domain: Type.String() };

const Sample = Type.Object({
  ...at,
  phase: Phase,
  stage: Type.Integer(),
  figures: FiguresBody,
  guards: Type.Array(
    Type.Object({ figure: GUARD_FIGURES_BODY, value: Type.Optional(Type.Number()), broken: Type.Boolean() }),
  ),
});

const Mark = Type.Union([
  Type.Object({ ...at, kind: Type.Literal('phase'), phase: Phase }),
  Type.Object({
    ...at,
    kind: Type.Literal('stage'),
    stage: Type.Integer(),
    ranges: Type.Array(
      Type.Object({
        ...BucketRange.properties,
        floor: Type.Optional(Type.Integer({ description: 'Entries of a lower generation were flushed.' })),
      }),
    ),
    title: Type.String(),
  }),
  Type.Object({
    ...at,
    kind: Type.Literal('guard'),
    figure: GUARD_FIGURES_BODY,
    value: Type.Number(),
    max: Type.Number(),
    // biome-ignore lint/suspicious/noThenProperty: the journal's own word; a schema is never awaited.
    then: Type.String(),
  }),
  Type.Object({ ...at, kind: Type.Literal('guard-holds'), figure: GUARD_FIGURES_BODY }),
  Type.Object({ ...at, kind: Type.Literal('recovered'), stage: Type.Integer(), afterMs: Type.Number() }),
  Type.Object({ ...at, kind: Type.Literal('restored'), why: Type.String() }),
]);

const Ratio = Type.Optional(Type.Number());

const Range = Type.Optional(
  Type.Object({
    low: Type.Number(),
    high: Type.Optional(Type.Number({ description: 'Absent: more than can be told.' })),
  }),
);

const Learned = Type.Object({
  domain: Type.String(),
  baseline: FiguresBody,
  after: Type.Optional(FiguresBody),
  stages: Type.Array(
    Type.Object({
      ...{ stage: Type.Integer(), title: Type.String() },
      ...{ before: Ratio, lowest: Ratio, end: Ratio, control: Ratio },
      refillMs: Type.Optional(Type.Number()),
      peakEngineCallsPerSecond: Type.Number(),
    }),
  ),
  survival: Type.Optional(
    Type.Object(
      { headroom: Range, headroomLeft: Range, amplification: Range, survivable: Range },
      {
        description: 'Of each figure the range; what is absent had too little load to say. Absent in journals of old.',
      },
    ),
  ),
});

export const JournalBody = Type.Object(
  {
    id: Type.String(),
    plan: PlanBody,
    domains: Type.Array(Type.String()),
    reason: Type.String(),
    by: Type.String(),
    owner: Type.String({ description: 'The process that runs it.' }),
    startedAtMs: AtMs,
    endedAtMs: Type.Optional(AtMs),
    previews: Type.Record(Type.String(), FlushPreviewBody),
    samples: Type.Array(Sample, { description: 'About two a second.' }),
    marks: Type.Array(Mark),
    state: Type.Union([
      Type.Object({ kind: Type.Literal('running'), phase: Phase, domain: Type.String(), stage: Type.Integer() }),
      Type.Object({ kind: Type.Literal('ending'), ended: Type.Optional(EndingBody) }),
      Type.Object({ kind: Type.Literal('over') }),
    ]),
    verdict: Type.Optional(VerdictBody),
    learned: Type.Array(Learned),
    resumes: Type.Optional(Type.String({ description: 'The drill this one goes on with.' })),
    offset: Type.Optional(Type.Integer({ description: 'The bucket where its stages begin.' })),
  },
  { description: 'Everything the drill did and saw, in the order it happened.' },
);
