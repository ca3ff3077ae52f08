import { nearest } from '../config/suggest.ts';
import { OperationRefused, type RefusalCode } from '../control/refusal.ts';
import { type InvalidCode, InvalidSearch, Unanswered, type UnansweredCode } from '../search/failure.ts';

/** Refusals that http itself decides, before or beside a search. */
export type HttpCode =
  | 'invalid-url'
  | 'invalid-request'
  | 'invalid-body'
  | 'unauthorized'
  | 'wrong-token'
  | 'too-many-tokens'
  | 'token-not-set'
  | 'cross-site'
  | 'not-found'
  | 'busy'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'request-timeout'
  | 'body-too-large'
  | 'url-too-long'
  | 'unsupported-media-type'
  | 'expectation-failed'
  | 'headers-too-large'
  | 'internal';

export type ProblemCode = InvalidCode | UnansweredCode | RefusalCode | HttpCode;

/** The one table from a code to its status and title. */
export const PROBLEMS: Readonly<Record<ProblemCode, { readonly status: number; readonly title: string }>> = {
  'invalid-query': { status: 400, title: 'Invalid query' },
  'unknown-domain': { status: 404, title: 'Unknown domain' },
  'invalid-page': { status: 400, title: 'Invalid page' },
  'invalid-sort': { status: 400, title: 'Invalid sort' },
  'invalid-filter': { status: 400, title: 'Invalid filter' },
  'invalid-facet': { status: 400, title: 'Invalid facet' },
  'invalid-highlight': { status: 400, title: 'Invalid highlight' },
  'invalid-context': { status: 400, title: 'Invalid context parameter' },
  'over-budget': { status: 429, title: 'Too many searches beyond the cache' },
  overloaded: { status: 503, title: 'Overloaded' },
  'engine-open': { status: 503, title: 'Search engine is recovering' },
  'engine-deadline': { status: 504, title: 'Search engine was too slow' },
  'engine-unavailable': { status: 503, title: 'Search engine is unavailable' },
  'engine-rejected': { status: 502, title: 'Search engine refused the query' },
  // 409: the request was fine, the state of things does not allow it.
  'unknown-plan': { status: 404, title: 'Unknown plan' },
  'unknown-drill': { status: 404, title: 'Unknown drill' },
  'unknown-report': { status: 404, title: 'Unknown report' },
  'unknown-warm-up': { status: 404, title: 'Unknown warm-up' },
  'invalid-fraction': { status: 400, title: 'Invalid fraction' },
  'invalid-plan': { status: 400, title: 'Invalid plan' },
  'reason-required': { status: 400, title: 'Reason required' },
  'control-full': { status: 409, title: 'List is full' },
  'drill-running': { status: 409, title: 'A drill is running' },
  'drill-over': { status: 409, title: 'The drill is over' },
  'warm-up-running': { status: 409, title: 'A warm-up is running' },
  'erasure-running': { status: 409, title: 'An erasure is running' },
  halted: { status: 409, title: 'Drills are halted' },
  'not-dedicated': { status: 409, title: 'Store is not dedicated' },
  'hypothesis-failed': { status: 409, title: 'Hypothesis fails already' },
  'no-store': { status: 409, title: 'Domain has no store' },
  'control-unavailable': { status: 503, title: 'Control document is out of reach' },
  'invalid-url': { status: 400, title: 'Invalid URL' },
  'invalid-request': { status: 400, title: 'Invalid request' },
  'invalid-body': { status: 400, title: 'Invalid body' },
  unauthorized: { status: 401, title: 'Token required' },
  'wrong-token': { status: 401, title: 'Wrong token' },
  'too-many-tokens': { status: 429, title: 'Too many wrong tokens' },
  'token-not-set': { status: 403, title: 'Changes are off' },
  'cross-site': { status: 403, title: 'Request from another site' },
  'not-found': { status: 404, title: 'Not found' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'not-acceptable': { status: 406, title: 'No acceptable content coding' },
  'request-timeout': { status: 408, title: 'Request came too slowly' },
  'body-too-large': { status: 413, title: 'Body too large' },
  'url-too-long': { status: 414, title: 'URL too long' },
  'unsupported-media-type': { status: 415, title: 'Unsupported media type' },
  'expectation-failed': { status: 417, title: 'Expectation failed' },
  'headers-too-large': { status: 431, title: 'Header fields too large' },
  busy: { status: 503, title: 'Too busy' },
  internal: { status: 500, title: 'Internal error' },
};

/** What an RFC 9457 answer says; status and title follow from the code. */
export interface Problem {
  readonly code: ProblemCode;
  /** What was wrong and what is allowed, for the person who reads it. */
  readonly detail: string;
  /** The offending parameter: a query parameter's name, or a JSON pointer into a body. */
  readonly parameter?: string;
  /** When asking again may help, before jitter. */
  readonly retryAfterMs?: number;
  /** Fields the status requires: `allow`, `www-authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A problem that has to be thrown to get out. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** Anything thrown → what the client is told. An unknown error tells the client nothing about our insides. */
export function problemOf(error: unknown): Problem {
  if (error instanceof InvalidSearch) {
    return { code: error.code, detail: error.message, parameter: error.parameter };
  }
  if (error instanceof Unanswered) {
    const detail = error.code === 'over-budget' ? OVER_BUDGET : error.message;
    return { code: error.code, detail, retryAfterMs: error.retryAfterMs };
  }
  if (error instanceof OperationRefused) {
    const { code, message, parameter } = error;
    return {
      code,
      detail: message,
      // What operators ask for comes in bodies; the rooms below know it by the option's name.
      ...(parameter === undefined ? {} : { parameter: parameter.startsWith('/') ? parameter : `/${parameter}` }),
      ...(code === 'control-unavailable' ? { retryAfterMs: CONTROL_RETRY_MS } : {}),
    };
  }
  if (error instanceof Refusal) return error.problem;
  return { code: 'internal', detail: 'The service failed to answer; the fault is ours and is logged.' };
}

const CONTROL_RETRY_MS = 1000;

const OVER_BUDGET =
  'This client has had its share of the engine for now. Pages in the cache are free and still served: ask those, or wait.';

/** The detail for a field that a closed body does not have. @param pointer as the client wrote it, or its JSON pointer. */
export function unknownField(pointer: string, known: readonly string[]): string {
  const shown = pointer.length > 64 ? `${pointer.slice(0, 64)}…` : pointer;
  const near = nearest(pointer.slice(pointer.lastIndexOf('/') + 1), known);
  const list = `nown here are ${known.join(', ')}.`;
  return `There is no field ${shown}; ${near === undefined ? 'k' : `did you mean ${near}? K`}${list}`;
}

/** The members of the `application/problem+json` document, in reading order. */
export function problemDocument(problem: Problem): Record<string, unknown> {
  const { status, title } = PROBLEMS[problem.code];
  return {
    type: `urn:problem-type:serpcache:${problem.code}`,
    title,
    status,
    detail: problem.detail,
    code: problem.code,
    ...(problem.parameter === undefined ? {} : { parameter: problem.parameter }),
  };
}
