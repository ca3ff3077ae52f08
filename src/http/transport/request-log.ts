import type { Logger } from 'pino';
import { type Clock, createThrottle } from '../../runtime.ts';
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

/**
 * Names requests: the client's `X-Request-Id` where it is sane (at most 64 of `A–Z a–z 0–9 . _ -`, so that it can be
 * put into a header and a log line as it is), else a name of our own, unique to this process's run and in order.
 */
export function createRequestIds(random: () => number): (given: string | string[] | undefined) => string {
  const run = Array.from({ length: 2 }, () =>
    Math.floor(random() * 2 ** 31)
      .toString(36)
      .padStart(6, '0'),
  ).join('');
  let count = 0;
  return (given) => {
    if (typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given)) return given;
    count += 1;
    return `${run}-${count.toString(36)}`;
  };
}

/**
 * The trace id of a W3C `traceparent` (Trace Context level 1), or undefined when it is not valid: then a receiver must
 * act as if none had been sent. A version above 00 may carry more members after the four we know.
 */
export function traceIdOf(traceparent: string | string[] | undefined): string | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const parsed = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/.exec(traceparent);
  if (parsed === null) return undefined;
  const [, version, traceId, parentId, rest] = parsed;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (traceId === '0'.repeat(32) || parentId === '0'.repeat(16)) return undefined;
  return traceId;
}
