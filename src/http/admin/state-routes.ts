import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { Type } from 'typebox';
import { CONTROL_STANDINGS } from '../../cache/invalidation.ts';
import { STORE_REASONS } from '../../cache/store.ts';
import { PLACEMENT_PHASES } from '../../control/document.ts';
import { DRILL_SUMMARY, type DrillSummary } from '../../operations/drills/drills.ts';
import { CHANGES_LOOK, FIGURES } from '../../operations/meter/figures.ts';
import type { Operations, Watcher } from '../../operations/operations.ts';
import { type Clock, settledWithin } from '../../runtime.ts';
import { oneOf, wallTime } from '../../schema/fields.ts';
import { EVERY_ANSWER, Refusal } from '../transport/problem.ts';
import { type AdminContext, adminRoutes, DomainName, defaulted, queriedDomain, routeSchema } from './input.ts';

const PopularQuery = Type.Object({
  domain: DomainName,
  limit: defaulted(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
});

const PopularBody = Type.Object({
  domain: Type.String(),
  source: Type.Enum(['fleet', 'process'], {
    description: 'Whether the requests of the whole fleet or of this process were counted.',
  }),
  queries: Type.Array(
    Type.Object({
      search: Type.String({ description: 'The query string of a search.' }),
      count: Type.Number(),
    }),
  ),
});

/** The state of each domain, and its most frequent searches. */
export function registerState(app: FastifyInstance, { operations }: AdminContext): void {
  const { get } = adminRoutes(app, 'state');

  get('/admin/domains', {
    summary: 'The state of each part of each domain',
    answer: DomainsBody,
    handle: () => ({
      domains: operations
        .watch()
        .look()
        .map(({ status, control, changes }) => ({ ...status, control, changes })),
    }),
  });

  get('/admin/popular', {
    summary: 'The most frequent searches, most frequent first',
    query: PopularQuery,
    answer: PopularBody,
    handle: async ({ query: { domain, limit } }) => {
      const asked = await queriedDomain(operations, domain).popular(limit);
      return { domain, ...asked };
    },
  });
}

const Part = oneOf(['ok', 'degraded', 'down']);
const Breaker = oneOf(['closed', 'open', 'half-open']);

const status = {
  domain: Type.String(),
  state: Part,
  memory: Type.Object({
    entries: Type.Integer(),
    bytes: Type.Integer(),
    maxBytes: Type.Integer(),
    emptyEntries: Type.Integer({ description: 'Pages without results, which have a budget of their own.' }),
    emptyBytes: Type.Integer(),
    emptyMaxBytes: Type.Integer(),
    evictions: Type.Integer(),
    ghostHits: Type.Integer({ description: 'Misses of keys that were evicted lately.' }),
  }),
  store: Type.Optional(
    Type.Object({
      state: Part,
      nodes: Type.Array(
        Type.Object({
          node: Type.String(),
          breaker: Breaker,
          connected: Type.Boolean(),
          outstanding: Type.Integer({ description: 'Commands that were sent and are not yet answered.' }),
          trouble: Type.Optional(oneOf(STORE_REASONS, 'Why it is not connected, or takes no writes.')),
        }),
      ),
      reasons: Type.Array(oneOf(STORE_REASONS), { description: 'Why the store is not `ok`, each reason once.' }),
    }),
  ),
  engine: Type.Object({
    state: Part,
    kind: Type.String(),
    breaker: Breaker,
    forcedOpen: Type.Boolean({ description: 'A drill is simulating an engine outage.' }),
    reachable: Type.Boolean(),
    endpoints: Type.Array(
      Type.Object({ name: Type.String(), breaker: Breaker, reachable: Type.Boolean(), inFlight: Type.Integer() }),
    ),
    inFlight: Type.Integer(),
    queued: Type.Integer(),
    maxConcurrent: Type.Integer({ description: 'The present concurrency limit of this process.' }),
    ceiling: Type.Integer({ description: 'Its share of the maximum of the fleet.' }),
    overdue: Type.Integer({ description: 'Permits held for longer than any call may take.' }),
    overloaded: Type.Boolean(),
  }),
  lifeboat: Type.Optional(Type.Object({ breaker: Breaker, inFlight: Type.Integer(), queued: Type.Integer() })),
  controlStanding: oneOf(CONTROL_STANDINGS),
  processes: Type.Integer({ description: 'Number of processes that share the store, at the last count.' }),
  leaseWaiters: Type.Integer(),
  loads: Type.Integer(),
};

const ControlLook = Type.Object(
  {
    revision: Type.Integer(),
    generation: Type.Integer(),
    heardMsAgo: Type.Number({
      description: 'Milliseconds since the control store last answered; 0 without a control store.',
    }),
    shared: Type.Boolean({ description: 'False: a change made here is known to this process only.' }),
    standing: oneOf(
      CONTROL_STANDINGS,
      'State of the stored document. `corrupt`: it is not accepted, and the last known one is followed.',
    ),
    halted: Type.Boolean(),
    suppressed: Type.Integer(),
    purges: Type.Integer(),
    ranges: Type.Integer(),
    drill: Type.Optional(
      Type.Object({
        id: Type.String(),
        owner: Type.String(),
        flushed: Type.Number({ description: 'Share of the keys that the drill has flushed now, 0–1.' }),
        blackout: Type.Boolean(),
      }),
    ),
    shadow: Type.Optional(Type.Object({ candidate: Type.String(), fraction: Type.Number(), reads: Type.Integer() })),
    placement: Type.Optional(
      Type.Object({ phase: oneOf(PLACEMENT_PHASES), active: Type.String(), other: Type.Optional(Type.String()) }),
    ),
  },
  { description: 'Summary of the control document.' },
);

const DomainsBody = Type.Object({
  domains: Type.Array(Type.Object({ ...status, control: ControlLook, changes: Type.Optional(CHANGES_LOOK) })),
});

/** One line of the live stream. */
const LiveLine = Type.Object(
  {
    atMs: wallTime(),
    domains: Type.Array(
      Type.Object({
        domain: Type.String(),
        figures: Type.Optional(FIGURES),
        status: Type.Object(status),
        control: ControlLook,
        changes: Type.Optional(CHANGES_LOOK),
      }),
    ),
    drills: Type.Array(DRILL_SUMMARY),
  },
  {
    description:
      'One line at once and then one a second until the client disconnects: the figures of this process since the previous line (absent in the first line), and the running drills.',
  },
);

type Stream = { readonly response: ServerResponse; readonly watcher: Watcher };

const MAX_STREAMS = 16;
const LINE_MS = 1000;
/** Maximum time for listing drills; after it a line shows the previous list. */
const LIST_MS = 500;

/**
 * One timer and one list of drills for all streams. A reader that is slower than one line a second gets no line until it has
 * caught up; its next line then covers the whole time. Only the line that is being sent is buffered for it.
 */
export function createLive(options: {
  readonly operations: Pick<Operations, 'watch' | 'drills'>;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly log: Logger;
}) {
  const { operations, clock, log } = options;
  const streams = new Set<Stream>();
  let running: readonly DrillSummary[] = [];
  let listing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const list = async (): Promise<void> => {
    listing ??= operations.drills
      .list()
      .then(({ drills }) => {
        running = drills.filter(({ running: runs, ending }) => runs || ending !== undefined);
      })
      // On an error the previous list is shown: operators need the stream most when something is wrong.
      .catch(() => {})
      .finally(() => {
        listing = undefined;
      });
    await settledWithin(listing, LIST_MS);
  };

  const write = ({ response, watcher }: Stream): void => {
    if (response.writableEnded || response.destroyed || response.writableNeedDrain) return;
    try {
      response.write(`${JSON.stringify({ atMs: clock.wallMs(), domains: watcher.look(), drills: running })}\n`);
    } catch (error) {
      log.error({ err: error }, 'a live stream failed');
      response.end();
    }
  };

  const tick = async (): Promise<void> => {
    await list();
    for (const stream of streams) write(stream);
  };

  const leave = (stream: Stream): void => {
    streams.delete(stream);
    if (streams.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  return {
    /** Writes a line at once and then one a second, until the response is closed. False: there are too many streams. */
    join: (response: ServerResponse): boolean => {
      if (isClosed || streams.size >= MAX_STREAMS) return false;
      const stream: Stream = { response, watcher: operations.watch() };
      streams.add(stream);
      response.once('close', () => leave(stream));
      timer ??= setInterval(tick, LINE_MS);
      void list().then(() => write(stream));
      return true;
    },
    /** Ends every stream and accepts no new one. */
    close: (): void => {
      isClosed = true;
      for (const { response } of streams) response.end();
    },
  };
}

/** `GET /admin/live`: the activity of this process, as a stream. */
export function registerLive(app: FastifyInstance, live: ReturnType<typeof createLive>): void {
  app.get('/admin/live', {
    // A HEAD would never end.
    exposeHeadRoute: false,
    schema: routeSchema({
      summary: 'The activity of this process, one line a second',
      description: 'Newline-delimited JSON until the client disconnects. A reader that is too slow gets fewer lines.',
      tag: 'state',
      answer: LiveLine,
      type: 'application/x-ndjson',
    }),
    handler: (request, reply) => {
      const { raw } = reply;
      if (!live.join(raw)) {
        const detail = 'There are too many live streams already, or the process is about to end.';
        throw new Refusal({ code: 'busy', detail, retryAfterMs: 1000 });
      }
      reply.hijack();
      // The stream ends with its connection, and no proxy may buffer it.
      raw.writeHead(200, {
        'content-type': 'application/x-ndjson',
        'cache-control': 'no-store',
        ...EVERY_ANSWER,
        'x-accel-buffering': 'no',
        'x-request-id': request.id,
        connection: 'close',
      });
      raw.flushHeaders();
    },
  });
}
