import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { OUTCOMES } from '../../search/events.ts';
import { AtMs, choice, Domain, queriedDomain, queryOf } from './input.ts';
import { described } from './openapi.ts';
import type { AdminContext } from './operations.ts';

const MAX_POPULAR = 1000;

const PopularQuery = Type.Object({
  domain: Domain,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_POPULAR, default: 100 })),
});

/** The state of each domain, and what it is asked for most. */
export function registerLook(app: FastifyInstance, { operations }: AdminContext): void {
  app.get('/admin/domains', {
    schema: described({ summary: 'The state of each part of each domain', tag: 'state', answer: DomainsBody }),
    handler: (_request, reply) => {
      const looks = operations.watch().look();
      reply.send({ domains: looks.map(({ status, control }) => ({ ...status, control })) });
    },
  });

  app.get('/admin/popular', {
    schema: described({
      summary: 'What is asked most, most first',
      tag: 'state',
      query: PopularQuery,
      answer: Type.Object({
        domain: Type.String(),
        source: Type.Enum(['fleet', 'process'], { description: 'Whose requests were counted.' }),
        queries: Type.Array(
          Type.Object({
            search: Type.String({ description: 'The query string of a search.' }),
            count: Type.Number(),
          }),
        ),
      }),
    }),
    handler: async (request, reply) => {
      const query = queryOf(request, PopularQuery);
      const domain = query.text('domain');
      const limit = query.count('limit', { min: 1, max: MAX_POPULAR, otherwise: 100 });
      return reply.send({ domain, ...(await queriedDomain(operations, domain).popular(limit)) });
    },
  });
}

const Share = (description: string) => Type.Optional(Type.Number({ description: `${description}, 0–1.` }));

/** What a domain did between two moments. */
export const FiguresBody = Type.Object({
  seconds: Type.Number(),
  processes: Type.Integer({ description: 'Heard at both moments.' }),
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
  engineMax: Type.Integer({ description: 'What all may ask at once now.' }),
  engineCeiling: Type.Integer(),
  breakersOpen: Type.Integer(),
  cohorts: Type.Array(Type.Object({ searches: Type.Integer(), hitRatio: Share('Of the cohort') })),
});

const Part = choice(['ok', 'degraded', 'down']);
const CONTROL_STANDINGS = ['ok', 'unheard', 'away', 'corrupt'] as const;
const Breaker = choice(['closed', 'open', 'half-open']);

const status = {
  domain: Type.String(),
  state: Part,
  memory: Type.Object({
    entries: Type.Integer(),
    bytes: Type.Integer(),
    maxBytes: Type.Integer(),
    emptyEntries: Type.Integer({ description: 'Pages without results, kept apart.' }),
    emptyBytes: Type.Integer(),
    emptyMaxBytes: Type.Integer(),
    evictions: Type.Integer(),
  }),
  store: Type.Optional(
    Type.Object({
      state: Part,
      nodes: Type.Array(
        Type.Object({
          node: Type.String(),
          breaker: Breaker,
          connected: Type.Boolean(),
          outstanding: Type.Integer({ description: 'Commands sent and not yet answered.' }),
        }),
      ),
    }),
  ),
  engine: Type.Object({
    state: Part,
    kind: Type.String(),
    breaker: Breaker,
    forcedOpen: Type.Boolean({ description: 'A drill has it that the engine is dead.' }),
    reachable: Type.Boolean(),
    endpoints: Type.Array(
      Type.Object({ name: Type.String(), breaker: Breaker, reachable: Type.Boolean(), inFlight: Type.Integer() }),
    ),
    inFlight: Type.Integer(),
    queued: Type.Integer(),
    maxConcurrent: Type.Integer({ description: 'What this process may ask at once now.' }),
    ceiling: Type.Integer({ description: 'Its share of what the fleet may.' }),
    overloaded: Type.Boolean(),
  }),
  lifeboat: Type.Optional(Type.Object({ breaker: Breaker, inFlight: Type.Integer(), queued: Type.Integer() })),
  controlStanding: choice(CONTROL_STANDINGS),
  processes: Type.Integer({ description: 'That share the store, as last counted.' }),
  leaseWaiters: Type.Integer(),
  flights: Type.Integer(),
};

const ControlLook = Type.Object(
  {
    revision: Type.Integer(),
    generation: Type.Integer(),
    heardMsAgo: Type.Number({ description: 'Since the control store was last heard; 0 where there is none.' }),
    shared: Type.Boolean({ description: 'False: what is changed here is known here only.' }),
    standing: choice(
      CONTROL_STANDINGS,
      'Of the stored document. `corrupt`: it cannot be believed, and the last known one is followed.',
    ),
    halted: Type.Boolean(),
    suppressed: Type.Integer(),
    purges: Type.Integer(),
    ranges: Type.Integer(),
    drill: Type.Optional(
      Type.Object({
        id: Type.String(),
        owner: Type.String(),
        flushed: Type.Number({ description: 'Share of the keys it holds flushed now, 0–1.' }),
        blackout: Type.Boolean(),
      }),
    ),
  },
  { description: 'The control document, in numbers.' },
);

export const DomainsBody = Type.Object({ domains: Type.Array(Type.Object({ ...status, control: ControlLook })) });

export const EndingBody = Type.Object({
  kind: choice(['passed', 'failed', 'not-measured', 'refused', 'aborted', 'lost']),
  detail: Type.String(),
});

export const VerdictBody = Type.Object({
  ...EndingBody.properties,
  resumable: Type.Optional(Type.Object({ domain: Type.String(), stage: Type.Integer() })),
});

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
          'The cache is restored; the last figures are being taken. `ended`: how it ended, where that is known.',
      },
    ),
  ),
  here: Type.Boolean({ description: 'False: another process runs it and keeps its report.' }),
  verdict: Type.Optional(VerdictBody),
});

export const UnreadableReportBody = Type.Object(
  {
    id: Type.Optional(Type.String()),
    where: Type.String({ description: 'The file, or the domain whose control store held it.' }),
    why: Type.String(),
  },
  { description: 'A report that is damaged or was written by somebody else.' },
);

/** One line of the live stream. */
export const LiveLine = Type.Object(
  {
    atMs: AtMs,
    domains: Type.Array(
      Type.Object({
        domain: Type.String(),
        figures: Type.Optional(FiguresBody),
        status: Type.Object(status),
        control: ControlLook,
      }),
    ),
    drills: Type.Array(DrillSummaryBody),
  },
  {
    description:
      'One line at once and one a second until the client leaves: what this process did since the line before, absent in the first, and the drills that run.',
  },
);

const Unspoken = Type.Record(Type.String(), Type.Unknown());

/** What `explain` says is for people: its members follow the tiers there are. */
export const ExplanationBody = Type.Object(
  {
    domain: Type.String(),
    rules: Type.Array(Unspoken, { description: 'Each canonicalisation rule that changed the text, in order.' }),
    ignored: Type.Array(Type.String(), { description: 'Parameters nobody declared: not in the key.' }),
    canonical: Type.String(),
    answerProfile: Type.String(),
    key: Type.String(),
    storeName: Type.String(),
    bucket: Type.Integer(),
    slot: Type.Optional(Type.Integer()),
    node: Type.Optional(Type.String()),
    tiers: Type.Array(Unspoken),
    lastMiss: Type.Optional(Type.Object({ reason: Type.String(), secondsAgo: Type.Integer() })),
  },
  { description: 'What would happen to this search now, tier by tier.' },
);
