import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { DrillSummary } from '../../operations/drills/drills.ts';
import type { Operations, Watcher } from '../../operations/operations.ts';
import type { Clock } from '../../runtime.ts';
import { EVERY_ANSWER } from '../transport/app.ts';
import { Refusal } from '../transport/problem.ts';
import { described } from './openapi.ts';
import { LiveLine } from './state-route.ts';

export interface Live {
  /** Writes the first line at once, then one a second, until the response is closed. False: there are too many already. */
  readonly join: (response: ServerResponse) => boolean;
  /** Ends every stream, and takes no more. */
  readonly close: () => void;
}

interface Stream {
  readonly response: ServerResponse;
  readonly watcher: Watcher;
}

const MAX_STREAMS = 16;
const LINE_MS = 1000;
/** What the list of drills may take; a line with the last one known is better than none. */
const LIST_MS = 500;

/**
 * One timer and one list of drills for all who watch. A reader who is slower than a line a second is left out until he has
 * caught up, and what he then gets covers the whole time: nothing is kept for him but the line under way.
 */
export function createLive(options: {
  readonly operations: Pick<Operations, 'watch' | 'drills'>;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly log: Logger;
}): Live {
  const { operations, clock, log } = options;
  const streams = new Set<Stream>();
  let running: readonly DrillSummary[] = [];
  let listing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const list = (): Promise<void> => {
    listing ??= operations.drills
      .list()
      .then(({ drills }) => {
        running = drills.filter(({ running: runs, ending }) => runs || ending !== undefined);
      })
      // What cannot be listed now is shown as it was: the stream is what operators look at when something is wrong.
      .catch(() => {})
      .finally(() => {
        listing = undefined;
      });
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const waiting = setTimeout(resolve, LIST_MS);
    return Promise.race([listing, late]).finally(() => clearTimeout(waiting));
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
    join: (response) => {
      if (isClosed || streams.size >= MAX_STREAMS) return false;
      const stream: Stream = { response, watcher: operations.watch() };
      streams.add(stream);
      response.once('close', () => leave(stream));
      timer ??= setInterval(tick, LINE_MS);
      void list().then(() => write(stream));
      return true;
    },
    close: () => {
      isClosed = true;
      for (const { response } of streams) response.end();
    },
  };
}

/** `GET /admin/live`: what this process does, as it does it. */
export function registerLive(app: FastifyInstance, live: Live): void {
  app.get('/admin/live', {
    // A HEAD would never end: there is nothing to say of a stream but the stream.
    exposeHeadRoute: false,
    schema: described({
      summary: 'What this process does, one line a second',
      description: 'Newline-delimited JSON until the client leaves. A reader who is too slow is left out meanwhile.',
      tag: 'state',
      answer: LiveLine,
      type: 'application/x-ndjson',
    }),
    handler: (request, reply) => {
      const { raw } = reply;
      if (!live.join(raw)) {
        const detail = 'Too many are watching already, or the process is about to end.';
        throw new Refusal({ code: 'busy', detail, retryAfterMs: 1000 });
      }
      reply.hijack();
      // It ends with its connection: whatever stands between must not keep what it has for later.
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
