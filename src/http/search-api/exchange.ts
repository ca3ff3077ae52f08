import type { OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { MissReason } from '../../cache/events.ts';
import { type Clock, createThrottle } from '../../runtime.ts';
import type { SearchDomain } from '../../search/domain.ts';
import { domainsNamed } from '../../search/key.ts';
import type { Outcome } from '../../search/outcome.ts';
import { formatTraceparent, parseTraceparent, type Span, type Tracer } from '../../search/trace.ts';
import type { RequestEvent } from '../events.ts';
import type { ReadHeaders } from '../lane/head.ts';
import type { SharedHead } from '../lane/reply.ts';
import { problemOf } from '../problems.ts';
import { PROBLEMS, type Problem, problemResponse, writeProblem } from '../transport/problem.ts';
import type { Pairs } from '../transport/request-target.ts';
import { noHeads, type TargetHeads } from './response-headers.ts';

/** The parts of a request that a search reads. */
export interface HttpRequest {
  readonly method?: string | undefined;
  readonly headers: ReadHeaders;
  readonly url?: string | undefined;
  readonly socket: Socket;
}

/** The parts of a response that a search writes: Node's own, or the lane's. */
export interface HttpResponse {
  readonly destroyed: boolean;
  readonly headersSent: boolean;
  shouldKeepAlive: boolean;
  readonly writableFinished: boolean;
  readonly writableLength: number;
  once(event: 'close', listener: () => void): unknown;
  writeHead(status: number, fields: string[] | OutgoingHttpHeaders): unknown;
  end(body?: Buffer | string): unknown;
  /** The lane's way for an answer whose head is shared with other requests, see lane/reply.ts. */
  sendShared?(head: SharedHead, own: string, body: Buffer | undefined): void;
}

/** A search as it is counted. */
export interface CountedSearch {
  readonly route: RequestEvent['route'];
  /** A configured name, or `none` while it is not known. */
  readonly domain: string;
  /** Key and bucket of the prepared search. */
  readonly key?: string | undefined;
  readonly bucket?: number | undefined;
  /** Present where the request is traced. */
  readonly span?: Span | undefined;
}

/** How a search ended. */
export interface Ending {
  readonly outcome: Outcome;
  readonly reason?: MissReason | undefined;
  readonly status: number;
  /** The code of the problem that was sent. */
  readonly code?: string;
  /** The thrown value, when the service is at fault. */
  readonly error?: unknown;
}

export type CountRequest = ReturnType<typeof createRequestCounter>;

/**
 * Counts one ended search, whatever its route: the only place that makes a `RequestEvent`. With `from` it also writes the
 * line of the request log.
 */
export function createRequestCounter(options: {
  readonly observe: (event: RequestEvent) => void;
  readonly requestLog: RequestLog;
  readonly tracer?: Tracer | undefined;
}) {
  const { observe, requestLog, tracer } = options;
  /** While tracing is on, a log line never shows the trace id of a client, who may send any. */
  const givenBy = (headers: ReadHeaders): string | undefined =>
    tracer === undefined ? parseTraceparent(headers['traceparent'])?.traceId : undefined;
  return (
    { route, domain, key, bucket, span }: CountedSearch,
    { outcome, reason, status, code, error }: Ending,
    durationMs: number,
    from?: { readonly requestId: string; readonly request: { readonly headers: ReadHeaders } },
  ): void => {
    // Built without object spreads, which take longer than the rest of this function.
    const event: { -readonly [Member in keyof RequestEvent]: RequestEvent[Member] } = {
      kind: 'request',
      route,
      domain,
      outcome,
      status,
      durationMs,
    };
    if (reason !== undefined) event.reason = reason;
    if (bucket !== undefined) event.bucket = bucket;
    if (span !== undefined) event.traceId = span.traceId;
    observe(event);
    if (from === undefined || !requestLog.wants(event)) return;
    const traceId = span?.traceId ?? givenBy(from.request.headers);
    requestLog.write(event, { requestId: from.requestId, traceId, key, code, error });
  };
}

/** nginx's number for a client that closed the connection before the answer; never sent. */
const CLIENT_CLOSED = 499;
export const ABORTED = { outcome: 'aborted', status: CLIENT_CLOSED } as const satisfies Ending;

/** The ending of a search that was answered with a problem. */
export function refusedEnding(problem: Problem, error: unknown): Ending {
  const { status } = PROBLEMS[problem.code];
  const fault = problem.code === 'internal' ? { error } : {};
  return { outcome: outcomeOf(problem), status, code: problem.code, ...fault };
}

/** How a search without a page is counted. */
export function outcomeOf({ code }: Problem): Outcome {
  const facts = PROBLEMS[code];
  return 'outcome' in facts ? facts.outcome : 'rejected';
}

/**
 * The domain that a refused search is counted under: a configured name or `none`, never text that a client sent, so that
 * invalid requests cannot add label values to a metric.
 */
export function domainLabel(domains: readonly SearchDomain[], pairs: Pairs | undefined): string {
  if (pairs === undefined) return 'none';
  const given = domainsNamed(pairs);
  if (given.length === 0) return domains[0]?.name ?? 'none';
  const known = domains.find(({ name }) => given.length === 1 && name === given[0]);
  return known?.name ?? 'none';
}

/**
 * Names requests: the client's `X-Request-Id` when it is safe to use in a header and a log line (at most 64 of
 * `A–Z a–z 0–9 . _ -`), else a new name that is unique to this run of the process and counts up.
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

/** The heads of a request that was not understood; never written. */
const NO_TARGET: TargetHeads = noHeads();

/** One request for one search and its answer. */
export interface Exchange extends CountedSearch {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly requestId: string;
  readonly startedMs: number;
  domain: string;
  key: string | undefined;
  bucket: number | undefined;
  /** The heads kept for its URL. */
  heads: TargetHeads;
  readonly span: Span | undefined;
}

export interface ExchangeOptions {
  readonly count: CountRequest;
  readonly requestLog: Pick<RequestLog, 'fault'>;
  readonly requestId: (given: string | string[] | undefined) => string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly closesConnections: () => boolean;
  /** Absent while tracing is off. */
  readonly tracer?: Tracer | undefined;
}

export function createExchanges(options: ExchangeOptions) {
  const { count, requestLog, requestId, clock, random, closesConnections, tracer } = options;
  /** Counts the exchange. Called exactly once per exchange, after the answer was handed to the socket. */
  const end = (exchange: Exchange, ending: Ending): void => {
    count(exchange, ending, clock.monotonicMs() - exchange.startedMs, exchange);
    if (exchange.span !== undefined) endServerSpan(exchange.span, exchange, ending);
  };

  return {
    begin: (request: HttpRequest, response: HttpResponse): Exchange => ({
      route: 'search',
      request,
      response,
      requestId: requestId(request.headers['x-request-id']),
      startedMs: clock.monotonicMs(),
      domain: 'none',
      key: undefined,
      bucket: undefined,
      heads: NO_TARGET,
      span: beginServerSpan(tracer, '/search', request),
    }),
    end,
    /** Answers with the problem, unless the client has gone, and ends the exchange. */
    refuse: (exchange: Exchange, error: unknown): void => {
      const { response, requestId: id, span } = exchange;
      if (response.headersSent) {
        // The answer was sent and counted, so an error after it is a fault of the service.
        requestLog.fault(id, error);
        return;
      }
      if (response.destroyed) {
        end(exchange, ABORTED);
        return;
      }
      const problem = problemOf(error);
      if (closesConnections()) response.shouldKeepAlive = false;
      const answer = problemResponse(problem, id, random);
      const headers: Record<string, string> = { ...answer.headers };
      if (span !== undefined) headers['traceresponse'] = formatTraceparent(span);
      writeProblem(response, { ...answer, headers });
      end(exchange, refusedEnding(problem, error));
    },
  };
}

interface LineFacts extends Pick<CountedSearch, 'key'>, Pick<Ending, 'code' | 'error'> {
  readonly requestId: string;
  readonly traceId: string | undefined;
}

export type RequestLog = ReturnType<typeof createRequestLog>;

const REFUSALS_PER_SECOND = 100;

/**
 * One line at `info` per request that was not a hit. Hits are sampled, and refusals have a maximum per second, because an
 * overload would otherwise flood the log too; metrics count them all. A client's mistake is never logged at `error`: only
 * an answer of `internal` is.
 */
export function createRequestLog(options: {
  readonly log: Logger;
  /** 0–1: share of hits that get a line. */
  readonly hitSample: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly random: () => number;
}) {
  const { log, hitSample, clock, random } = options;
  const refusals = createThrottle({ perSecond: REFUSALS_PER_SECOND, monotonicMs: clock.monotonicMs });
  return {
    /** Whether this event gets a line. Called first, so that nothing is prepared for a hit that is not logged. */
    wants: ({ outcome, status }: RequestEvent): boolean => {
      const isHit = outcome === 'hit-l1' || outcome === 'hit-l2';
      if (isHit && (hitSample <= 0 || random() >= hitSample)) return false;
      const isRefusal = outcome === 'shed' || outcome === 'rejected' || outcome === 'aborted';
      if (isRefusal && refusals.pass() === undefined) return false;
      return log.isLevelEnabled(status === 500 ? 'error' : 'info');
    },
    /** Headers and query texts are never logged, only the key of the query. */
    write: (event: RequestEvent, { requestId, traceId, key, code, error }: LineFacts): void => {
      const durationMs = Math.round(event.durationMs * 1000) / 1000;
      const line = {
        requestId,
        trace_id: traceId,
        route: event.route,
        domain: event.domain,
        outcome: event.outcome,
        reason: event.reason,
        status: event.status,
        code,
        duration_ms: durationMs,
        key,
      };
      if (error === undefined) log.info(line, 'request');
      else log.error({ ...line, err: error }, 'request failed through a fault of ours');
    },
    /** A fault of the service that belongs to no answer. */
    fault: (requestId: string, error: unknown): void =>
      log.error({ requestId, err: error }, 'a fault of ours after an answer'),
  };
}

/** The span of a request, by the conventions for HTTP servers; undefined when the request is not sampled. */
export function beginServerSpan(
  tracer: Tracer | undefined,
  route: '/search' | '/msearch' | '/',
  request: HttpRequest,
): Span | undefined {
  if (tracer === undefined) return undefined;
  const { method = 'GET', headers, socket } = request;
  return tracer.begin({
    name: `${method} ${route}`,
    kind: 'server',
    traceparent: headers['traceparent'],
    address: socket.remoteAddress,
    facts: { 'http.request.method': method, 'http.route': route },
  });
}

export function endServerSpan(span: Span, { domain, key }: CountedSearch, ending: Ending): void {
  const { outcome, reason, status, code } = ending;
  const facts: Record<string, string | number> = {
    'http.response.status_code': status,
    'serpcache.domain': domain,
    'serpcache.outcome': outcome,
  };
  if (reason !== undefined) facts['serpcache.reason'] = reason;
  if (key !== undefined) facts['serpcache.key'] = key;
  // By the conventions a client's mistake is no error of the server.
  span.end(facts, status >= 500 ? (code ?? String(status)) : undefined);
}
