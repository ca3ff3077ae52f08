import { type TSchema, Type } from 'typebox';
import type { DrillRequest } from '../../operations/drills/drills.ts';
import { OUTCOMES } from '../../search/outcome.ts';
import { choice } from '../search-api/openapi.ts';
import { By, FlushPreviewBody, Mode } from './flush-schema.ts';
import { AtMs, BucketRange, closed, Domain, Reason } from './input.ts';

const Share = (description: string) => Type.Optional(Type.Number({ description: `${description}, 0–1.` }));

/** The figures of a domain between two moments. */
export const FiguresBody = Type.Object({
  seconds: Type.Number(),
  processes: Type.Integer({ description: 'Processes that reported at both moments.' }),
  searches: Type.Integer(),
  searchesPerSecond: Type.Number(),
  outcomes: Type.Object(Object.fromEntries(OUTCOMES.map((outcome) => [outcome, Type.Integer()]))),
  hitRatio: Share('Fresh from memory or the store'),
  errorRate: Share('Failed'),
  shedRate: Share('Shed'),
  p50Ms: Type.Optional(Type.Number()),
  p99Ms: Type.Optional(Type.Number()),
  engineCallsPerSecond: Type.Number(),
  engineCallMs: Type.Optional(Type.Number({ description: 'Mean duration of an engine call.' })),
  engineFailures: Type.Integer(),
  engineInFlight: Type.Integer(),
  engineQueued: Type.Integer(),
  engineMax: Type.Integer({ description: 'Sum of the present concurrency limits.' }),
  engineCeiling: Type.Integer(),
  breakersOpen: Type.Integer(),
  cohorts: Type.Array(Type.Object({ searches: Type.Integer(), hitRatio: Share('Hit ratio of the cohort') })),
});

const EndingBody = Type.Object({
  kind: choice(['passed', 'failed', 'not-measured', 'refused', 'aborted', 'lost']),
  detail: Type.String(),
});

const VerdictBody = Type.Object({
  ...EndingBody.properties,
  resumable: Type.Optional(Type.Object({ domain: Type.String(), stage: Type.Integer() })),
});

/** One line of the list of drills. */
export const DrillSummaryBody = Type.Object({
  id: Type.String(),
  plan: Type.String(),
  title: Type.String(),
  domains: Type.Array(Type.String()),
  startedAtMs: AtMs,
  endedAtMs: Type.Optional(AtMs),
  running: Type.Boolean({ description: 'False as soon as the cache is restored.' }),
  ending: Type.Optional(
    Type.Object(
      { ended: Type.Optional(EndingBody) },
      {
        description:
          'The cache is restored; the last figures are being measured. `ended`: the result, when it is known.',
      },
    ),
  ),
  here: Type.Boolean({ description: 'False: another process runs the drill and has its report.' }),
  verdict: Type.Optional(VerdictBody),
});

export const UnreadableReportBody = Type.Object(
  {
    id: Type.Optional(Type.String()),
    where: Type.String({ description: 'The file, or the domain in whose control store it was.' }),
    why: Type.String(),
  },
  { description: 'A report that is damaged or was not written by serpcache.' },
);

const Ms = (description: string) => Type.Number({ description: `${description} Milliseconds.` });

const StageBody = Type.Object({
  kind: choice(['fraction', 'node', 'blackout']),
  holdMs: Ms('Duration of the stage.'),
  title: Type.Optional(Type.String()),
  fraction: Type.Optional(
    Type.Number({ description: 'With `fraction`: above 0, at most 1, rising from stage to stage.' }),
  ),
  node: Type.Optional(Type.Integer({ description: 'With `node`: its index in the order of the store, from 0.' })),
});

const GUARD_FIGURES_BODY = choice([
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
  follows: Type.Optional(choice(['patience'], '`max` is calculated from the patience of the domains.')),
  forMs: Ms('Minimum duration without interruption.'),
  // biome-ignore lint/suspicious/noThenProperty: a key of the plan; a schema is never awaited.
  then: choice(['rollback', 'hold', 'continue']),
});
const MAX = 'Maximum of the figure: a rate 0–1, milliseconds, a factor or percentage points.';
const GuardBody = Type.Object(guardOf(Type.Number({ description: MAX })));
/** A guard as a request may give it. */
const GuardAsk = Type.Object(
  guardOf(
    Type.Union([Type.Number(), Type.Literal('patience')], {
      description: `${MAX} \`patience\`, for p99Ms: the maximum time that a client waits, and some slack.`,
    }),
  ),
);

const defaulted = {
  title: Type.String(),
  mode: Mode,
  eraseBy: By,
  over: choice(['one', 'domains'], '`domains`: the stages run for one domain after another.'),
  baselineMs: Ms('Duration of the measurement before the first stage.'),
  holdout: Type.Number({ description: 'Share of the keys in the control cohort: 0.001–0.5.' }),
  guards: Type.Array(GuardBody),
  recovery: Type.Object({ withinPoints: Type.Number(), timeoutMs: Ms('') }),
  afterMs: Ms('Duration of the measurement after the cache is restored.'),
  minSearches: Type.Integer({
    description: 'Minimum number of searches in the baseline; with fewer the drill is refused.',
  }),
};
const required = {
  name: Type.String({ description: '1 to 64 lower-case letters, digits and `-`.' }),
  stages: Type.Array(StageBody, { description: '1 to 16.' }),
};

/** A plan in an answer: every member is present. */
export const PlanBody = Type.Object({ ...required, ...defaulted });

/** The plan in a request. The drills room checks a plan that is written out, and names all its faults at once. */
const PlanChoice = Type.Unsafe<DrillRequest['plan']>({
  type: ['string', 'object'],
  minLength: 1,
  maxLength: 64,
  description: 'The name of a ready-made plan, or a custom plan.',
});

/** The same choice with the whole schema of a plan, for the API description. */
const PlanAsk = Type.Union([
  Type.String({ minLength: 1, maxLength: 64, description: 'The name of a ready-made plan.' }),
  Type.Object(
    { ...required, ...Type.Partial(Type.Object({ ...defaulted, guards: Type.Array(GuardAsk) })).properties },
    { description: 'A custom plan. A missing member has the value of the ready-made plans.' },
  ),
]);

const Domains = Type.Optional(
  Type.Array(Domain, {
    minItems: 1,
    maxItems: 256,
    description: 'The domain to drill. A plan over domains takes several; without this field it takes all.',
  }),
);

export const PreviewAsk = Type.Object({ plan: PlanChoice, domains: Domains }, closed);
export const StartAsk = Type.Object({ plan: PlanChoice, domains: Domains, reason: Reason }, closed);

/** `PreviewAsk` with the whole schema of a plan, for the API description. */
export const PreviewAskBody = Type.Object({ plan: PlanAsk, domains: Domains }, closed);
export const StartAskBody = Type.Object({ plan: PlanAsk, domains: Domains, reason: Reason }, closed);

const Forecast = Type.Object({
  share: Type.Number({ description: 'Share of the keys, 0–1.' }),
  searchesPerSecond: Type.Optional(Type.Number()),
  enoughMs: Type.Optional(Type.Number({ description: 'Time until there are enough searches for a result.' })),
});

export const DrillPreviewBody = Type.Object({
  plan: PlanBody,
  domains: Type.Array(
    Type.Object({
      domain: Type.String(),
      stages: Type.Array(Type.Object({ title: Type.String(), preview: FlushPreviewBody })),
      cohorts: Type.Object(
        { control: Forecast, stages: Type.Array(Forecast), flushed: Forecast },
        { description: 'Expected searches of each cohort, on average, from the latest searches of this process.' },
      ),
    }),
  ),
  warnings: Type.Array(Type.String(), { description: 'Reasons against the drill.' }),
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
    // biome-ignore lint/suspicious/noThenProperty: a key of the journal; a schema is never awaited.
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
    high: Type.Optional(Type.Number({ description: 'Absent: no upper bound could be measured.' })),
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
        description:
          'The range of each figure; a figure is absent when there was too little load to measure it. Absent in old journals.',
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
    owner: Type.String({ description: 'The process that runs the drill.' }),
    startedAtMs: AtMs,
    endedAtMs: Type.Optional(AtMs),
    previews: Type.Record(Type.String(), FlushPreviewBody),
    samples: Type.Array(Sample, { description: 'About two samples a second.' }),
    marks: Type.Array(Mark),
    state: Type.Union([
      Type.Object({ kind: Type.Literal('running'), phase: Phase, domain: Type.String(), stage: Type.Integer() }),
      Type.Object({ kind: Type.Literal('ending'), ended: Type.Optional(EndingBody) }),
      Type.Object({ kind: Type.Literal('over') }),
    ]),
    verdict: Type.Optional(VerdictBody),
    learned: Type.Array(Learned),
    resumes: Type.Optional(Type.String({ description: 'The drill that this one continues.' })),
    offset: Type.Optional(Type.Integer({ description: 'The bucket at which its stages begin.' })),
  },
  { description: 'Everything that the drill did and measured, in order.' },
);
