import { type TSchema, Type } from 'typebox';
import type { DrillRequest } from '../../operations/drills/drills.ts';
import { ENDING, JOURNAL_PLAN, VERDICT } from '../../operations/drills/journal.ts';
import { PLAN_BODY } from '../../operations/drills/plan.ts';
import { FLUSH_PREVIEW } from '../../operations/flush/flush.ts';
import { AtMs, DomainName, Reason, strict } from './input.ts';

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
      { ended: Type.Optional(ENDING) },
      {
        description:
          'The cache is restored; the last figures are being measured. `ended`: the result, when it is known.',
      },
    ),
  ),
  here: Type.Boolean({ description: 'False: another process runs the drill and has its report.' }),
  verdict: Type.Optional(VERDICT),
});

export const UnreadableReportBody = Type.Object(
  {
    id: Type.Optional(Type.String()),
    where: Type.String({ description: 'The file, or the domain in whose control store it was.' }),
    why: Type.String(),
  },
  { description: 'A report that is damaged or was not written by serpcache.' },
);

/** The plan in a request. The drills room checks a plan that is written out, and names all its faults at once. */
const PlanChoice = Type.Unsafe<DrillRequest['plan']>({
  type: ['string', 'object'],
  minLength: 1,
  maxLength: 64,
  description: 'The name of a ready-made plan, or a custom plan.',
  'x-allowed': 'a text of 1 to 64 characters or a mapping',
});

/** The same choice with the whole schema of a plan, for the API description. */
const PlanAsk = Type.Union([
  Type.String({ minLength: 1, maxLength: 64, description: 'The name of a ready-made plan.' }),
  PLAN_BODY as TSchema,
]);

const Domains = Type.Optional(
  Type.Array(DomainName, {
    minItems: 1,
    maxItems: 256,
    description: 'The domain to drill. A plan over domains takes several; without this field it takes all.',
  }),
);

export const PreviewAsk = Type.Object({ plan: PlanChoice, domains: Domains }, strict);
export const StartAsk = Type.Object({ plan: PlanChoice, domains: Domains, reason: Reason }, strict);

/** `PreviewAsk` with the whole schema of a plan, for the API description. */
export const PreviewAskBody = Type.Object({ plan: PlanAsk, domains: Domains }, strict);
export const StartAskBody = Type.Object({ plan: PlanAsk, domains: Domains, reason: Reason }, strict);

const Forecast = Type.Object({
  share: Type.Number({ description: 'Share of the keys, 0–1.' }),
  searchesPerSecond: Type.Optional(Type.Number()),
  enoughMs: Type.Optional(Type.Number({ description: 'Time until there are enough searches for a result.' })),
});

export const DrillPreviewBody = Type.Object({
  plan: JOURNAL_PLAN,
  domains: Type.Array(
    Type.Object({
      domain: Type.String(),
      stages: Type.Array(Type.Object({ title: Type.String(), preview: FLUSH_PREVIEW })),
      cohorts: Type.Object(
        { control: Forecast, stages: Type.Array(Forecast), flushed: Forecast },
        { description: 'Expected searches of each cohort, on average, from the latest searches of this process.' },
      ),
    }),
  ),
  warnings: Type.Array(Type.String(), { description: 'Reasons against the drill.' }),
});
