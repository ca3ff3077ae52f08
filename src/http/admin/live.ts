import type { ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Clock } from '../../clock.ts';
import type { DrillSummary } from '../../drills/drills.ts';
import type { Operations, Watcher } from './operations.ts';

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
      .then((drills) => {
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
