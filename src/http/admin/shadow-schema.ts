import { Type } from 'typebox';
import { MAX_SHADOW_READS, PLACEMENT_PHASES } from '../../control/document.ts';
import { SHADOW_FIGURES, SHADOW_SAMPLE, SHADOW_VERDICT } from '../../operations/shadow/figures.ts';
import { amount, oneOf } from '../../schema/fields.ts';
import { AtMs, DomainName, OptionalReason, Reason, strict } from './input.ts';

/** The seconds that a verdict covers. */
export const FOR_SECONDS = { min: 10, max: 86_400, otherwise: 600 };
const FOR_TEXT = `The seconds that the verdict must cover: ${FOR_SECONDS.min} to ${FOR_SECONDS.max}.`;
const Seconds = Type.Integer({
  minimum: FOR_SECONDS.min,
  maximum: FOR_SECONDS.max,
  default: FOR_SECONDS.otherwise,
  description: FOR_TEXT,
});

const Fraction = Type.Number({
  exclusiveMinimum: 0,
  maximum: 1,
  description: 'The share of the keys, chosen by hash: above 0, at most 1.',
});
const Reads = Type.Integer({
  minimum: 1,
  maximum: MAX_SHADOW_READS,
  description: `Copies of each read of these keys: 1 to ${MAX_SHADOW_READS}. Without it: 1.`,
});

export const StartBody = Type.Object(
  {
    domain: DomainName,
    candidate: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'A candidate that the configuration declares.',
    }),
    fraction: Fraction,
    reads: Type.Optional(Reads),
    hours: Type.Optional(
      Type.Number({
        minimum: 1 / 60,
        maximum: 720,
        default: 24,
        description: 'The shadow ends by itself after this time: one minute (1/60) to 720 hours.',
      }),
    ),
    reason: OptionalReason,
  },
  strict,
);

export const ChangeBody = Type.Object(
  {
    domain: DomainName,
    fraction: Type.Optional(Fraction),
    reads: Type.Optional({ ...Reads, description: `Copies of each read: 1 to ${MAX_SHADOW_READS}.` }),
    reason: OptionalReason,
  },
  strict,
);

export const StopBody = Type.Object({ domain: DomainName, reason: OptionalReason }, strict);

export const CutOverBody = Type.Object(
  {
    domain: DomainName,
    force: Type.Optional(Type.Boolean({ description: 'Cut over without a favourable verdict.' })),
    for: Type.Optional(Seconds),
    reason: Reason,
  },
  strict,
);

export const BackBody = Type.Object({ domain: DomainName, reason: Reason }, strict);

export const StatusQuery = Type.Object({ domain: DomainName, for: Type.Optional(Seconds) });

export const SamplesQuery = Type.Object({
  domain: DomainName,
  from: Type.Optional(
    Type.Integer({
      minimum: 0,
      default: 0,
      description: 'Number of samples to skip: those that the client has already.',
    }),
  ),
});

const StoreBody = Type.Object({
  name: Type.String({ description: 'Its name in the configuration.' }),
  fingerprint: Type.String({ description: 'Two processes mean the same store when these are equal.' }),
});

const ShadowBody = Type.Object({
  id: Type.String(),
  candidate: StoreBody,
  fraction: Type.Number(),
  reads: Type.Integer(),
  by: Type.String(),
  atMs: AtMs,
  untilMs: AtMs,
});

const PlacementBody = Type.Object(
  {
    id: Type.String(),
    phase: oneOf(PLACEMENT_PHASES),
    active: StoreBody,
    other: Type.Optional(StoreBody),
    by: Type.String(),
    atMs: AtMs,
  },
  { description: 'Which stores hold the entries. Absent: the store of the configuration.' },
);

const summary = {
  domain: Type.String(),
  configured: StoreBody,
  candidates: Type.Array(StoreBody),
  shadow: Type.Optional(ShadowBody),
  placement: Type.Optional(PlacementBody),
  active: StoreBody,
  paused: Type.Boolean({ description: 'The copies are paused: the event loop of this process is late.' }),
  warning: Type.Optional(Type.String({ description: 'Such as a store that this process does not declare.' })),
};
export const SummaryBody = Type.Object(summary);

const Processes = Type.Array(
  Type.Object({
    id: Type.String(),
    state: oneOf(['ok', 'behind'], '`behind`: it has not acknowledged the present document.'),
    problem: Type.Optional(Type.String()),
  }),
  { description: 'Live processes of the domain.' },
);
const Configuration = Type.String({ description: 'YAML: the part of the configuration files that must be changed.' });
const WrongKeys = Type.Array(Type.String(), { description: 'Some keys whose values were wrong; keys only.' });

export const StatusBody = Type.Object({
  ...summary,
  processes: Processes,
  elapsedMs: Type.Optional(amount('Milliseconds since the start of the shadow.')),
  figures: Type.Optional(SHADOW_FIGURES),
  verdict: Type.Optional(SHADOW_VERDICT),
  wrongKeys: WrongKeys,
  configuration: Type.Optional(Configuration),
});

export const SamplesBody = Type.Object({
  domain: Type.String(),
  shadow: Type.Optional(Type.String({ description: 'The running shadow. The samples of another one begin at 0.' })),
  total: Type.Integer({
    description: 'Number of samples. It falls when old ones are joined: ask for all of them again.',
  }),
  samples: Type.Array(SHADOW_SAMPLE),
});

export const StoppedBody = Type.Object({
  domain: Type.String(),
  ended: oneOf(['shadow', 'preparation', 'old-store']),
  report: Type.Optional(Type.String({ description: 'The id of the report.' })),
  configuration: Type.Optional(Configuration),
});

export const MovedBody = Type.Object({
  domain: Type.String(),
  from: StoreBody,
  to: StoreBody,
  preparedMs: amount('Time from the prepared to the committed document.'),
  processes: Processes,
  report: Type.Optional(Type.String({ description: 'The id of the report of the shadow.' })),
  configuration: Configuration,
});

const reportSummary = {
  id: Type.String(),
  domain: Type.String(),
  primary: StoreBody,
  candidate: StoreBody,
  by: Type.String(),
  startedAtMs: AtMs,
  endedAtMs: AtMs,
  ended: Type.String({ description: 'Why it ended.' }),
  verdict: SHADOW_VERDICT,
};
export const ReportSummaryBody = Type.Object(reportSummary);

export const ReportBody = Type.Object({
  ...reportSummary,
  changes: Type.Array(Type.Object({ atMs: amount(), fraction: Type.Number(), reads: Type.Integer() }), {
    description: 'Fraction and reads from each time on; milliseconds since the start.',
  }),
  samples: Type.Array(SHADOW_SAMPLE),
  total: SHADOW_FIGURES,
  wrongKeys: WrongKeys,
});
