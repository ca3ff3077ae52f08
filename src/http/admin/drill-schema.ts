import { Type } from 'typebox';
import { closed } from './described.ts';
import { AtMs, BucketRange, choice, Domain, Reason } from './fields.ts';
import { FiguresBody } from './figures-schema.ts';
import { FlushPreviewBody } from './flush-schema.ts';
import { GUARD_FIGURES_BODY, PlanAsk, PlanBody, PlanChoice } from './plan-schema.ts';
import { EndingBody, VerdictBody } from './state-schema.ts';

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
