import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import { createThrottle } from '../throttle.ts';
import type { RequestEvent } from './events.ts';

/** What a line says beside the event itself. Headers and query texts are never logged, only the query's key. */
export interface RequestFacts {
  readonly requestId: string;
  readonly traceId?: string | undefined;
  readonly key?: string | undefined;
  /** The problem's code, where one was sent. */
  readonly code?: string | undefined;
  /** What was thrown, when the fault is ours. */
  readonly error?: unknown;
}

export interface RequestLog {
  /** Whether this event gets a line: asked first, so that the facts of an unlogged hit are never gathered. */
  readonly wants: (event: RequestEvent) => boolean;
  readonly write: (event: RequestEvent, facts: RequestFacts) => void;
  /** A fault of ours outside any one answer. */
  readonly fault: (requestId: string, error: unknown) => void;
}

const REFUSALS_PER_SECOND = 100;

/**
 * One line per request that was not a hit, at `info`; hits are sampled, and of refusals there are so many a second at
 * most, or an overload would be one of the log as well: metrics have them all. A client's mistake is never an error of
 * ours: only an answer of `internal` is logged at `error`.
 */
export function createRequestLog(options: {
  readonly log: Logger;
  /** 0–1: share of hits that get a line. */
  readonly hitSample: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly random: () => number;
}): RequestLog {
  const { log, hitSample, clock, random } = options;
  const refusals = createThrottle({ perSecond: REFUSALS_PER_SECOND, monotonicMs: clock.monotonicMs });
  return {
    wants: ({ outcome, status }) => {
      const isHit = outcome === 'hit-l1' || outcome === 'hit-l2';
      if (isHit && (hitSample <= 0 || random() >= hitSample)) return false;
      const isRefusal = outcome === 'shed' || outcome === 'rejected' || outcome === 'aborted';
      if (isRefusal && refusals.pass() === undefined) return false;
      return log.isLevelEnabled(status === 500 ? 'error' : 'info');
    },
    write: (event, { requestId, traceId, key, code, error }) => {
      const line = {
        requestId,
        ...(traceId === undefined ? {} : { traceId }),
        route: event.route,
        domain: event.domain,
        outcome: event.outcome,
        ...(event.reason === undefined ? {} : { reason: event.reason }),
        status: event.status,
        ...(code === undefined ? {} : { code }),
        ms: Math.round(event.durationMs * 1000) / 1000,
        ...(key === undefined ? {} : { key }),
      };
      if (error === undefined) log.info(line, 'request');
      else log.error({ ...line, err: error }, 'request failed through a fault of ours');
    },
    fault: (requestId, error) => log.error({ requestId, err: error }, 'a fault of ours after an answer'),
  };
}
