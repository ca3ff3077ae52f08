import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MissReason } from '../../cache/events.ts';
import type { Clock } from '../../runtime.ts';
import type { Outcome } from '../../search/events.ts';
import type { RequestEvent } from './events.ts';
import { type Problem, problemOf, problemResponse, writeProblem } from './problem.ts';
import { type RequestLog, traceIdOf } from './request-log.ts';

/** One search on the wire, from its request line to the event it ends in. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly startedMs: number;
  /** A configured name, or `none` while it is not known. */
  domain: string;
  /** Of the prepared search. */
  key: string | undefined;
  bucket: number | undefined;
}

export interface Ending {
  readonly outcome: Outcome;
  readonly reason?: MissReason | undefined;
  readonly status: number;
  readonly code?: string;
  readonly error?: unknown;
}

export interface Exchanges {
  readonly begin: (request: IncomingMessage, response: ServerResponse) => Exchange;
  /** Monotonic. */
  readonly nowMs: () => number;
  /** Ends an exchange without a page: answers with the problem, unless the client has gone, and counts it. */
  readonly refuse: (exchange: Exchange, error: unknown) => void;
  /** Counts an exchange and writes its line. Called exactly once per exchange, after the answer was handed to the socket. */
  readonly end: (exchange: Exchange, ending: Ending) => void;
}

/** nginx's number for a client that closed before the answer; never sent. */
export const CLIENT_CLOSED = 499;

export function createExchanges(options: {
  readonly observe: (event: RequestEvent) => void;
  readonly requestLog: RequestLog;
  readonly requestId: (given: string | string[] | undefined) => string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly hangingUp: () => boolean;
}): Exchanges {
  const { observe, requestLog, requestId, clock, random, hangingUp } = options;

  const end = (exchange: Exchange, { outcome, reason, status, code, error }: Ending): void => {
    const event: RequestEvent = {
      kind: 'request',
      route: 'search',
      domain: exchange.domain,
      outcome,
      ...(reason === undefined ? {} : { reason }),
      status,
      ...(exchange.bucket === undefined ? {} : { bucket: exchange.bucket }),
      durationMs: clock.monotonicMs() - exchange.startedMs,
    };
    observe(event);
    if (!requestLog.wants(event)) return;
    const traceId = traceIdOf(exchange.request.headers['traceparent']);
    requestLog.write(event, { requestId: exchange.requestId, traceId, key: exchange.key, code, error });
  };

  return {
    begin: (request, response) => ({
      request,
      response,
      requestId: requestId(request.headers['x-request-id']),
      startedMs: clock.monotonicMs(),
      domain: 'none',
      key: undefined,
      bucket: undefined,
    }),
    nowMs: () => clock.monotonicMs(),
    end,
    refuse: (exchange, error) => {
      const { response } = exchange;
      if (response.headersSent) {
        // The answer is out and counted; only a fault of ours can come after it.
        requestLog.fault(exchange.requestId, error);
        return;
      }
      const problem = problemOf(error);
      if (response.destroyed) {
        end(exchange, { outcome: 'aborted', status: CLIENT_CLOSED });
        return;
      }
      if (hangingUp()) response.shouldKeepAlive = false;
      const answer = problemResponse(problem, exchange.requestId, random);
      writeProblem(response, answer);
      const outcome = outcomeOf(problem);
      const fault = problem.code === 'internal' ? { error } : {};
      end(exchange, { outcome, status: answer.status, code: problem.code, ...fault });
    },
  };
}

/** How a search that got no page is counted. */
export function outcomeOf({ code }: Problem): Outcome {
  switch (code) {
    case 'overloaded':
    case 'engine-open':
    case 'busy':
      return 'shed';
    case 'engine-deadline':
    case 'engine-unavailable':
    case 'engine-rejected':
    case 'internal':
      return 'failed';
    default:
      return 'rejected';
  }
}
