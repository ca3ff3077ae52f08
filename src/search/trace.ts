import type { Lookup } from '../cache/tiers.ts';
import { SearchError } from '../resilience/search-error.ts';

/**
 * The spans of one search. A room that does a stage of it begins a span under the one it was given. Where a search is not
 * traced there is no span at all, so that tracing costs one comparison while it is off. Adapters stand in `tracing/`.
 */
export interface Span {
  /** 32 and 16 lower-case hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
  /** Begins a span under this one. It may end after this one: a load outlives its client. */
  readonly begin: (stage: Stage, facts?: SpanFacts) => Span;
  /** Called at most once; a span that does not end is not reported. A text in `error` marks the span as failed. */
  readonly end: (facts?: SpanFacts, error?: string) => void;
  /** This span waits for work that another trace shows: the load of the same key that another search began. */
  readonly link: (other: Pick<Span, 'traceId' | 'spanId'>) => void;
}

/**
 * `l1`, `l2`: the lookups. `load`: the computation of a page. `permit`: the guard before the engine. `lease`: the right to
 * ask the engine for a key in a fleet. `engine`: one engine call. `refresh`: a load that no client waits for.
 */
export type Stage = 'l1' | 'l2' | 'load' | 'permit' | 'lease' | 'engine' | 'lifeboat' | 'refresh';

/** Names of the semantic conventions where there is one, `serpcache.…` otherwise. Never a text that a client typed. */
export type SpanFacts = Readonly<Record<string, string | number | boolean>>;

/** Begins the spans that have no span of this process above them. */
export interface Tracer {
  /** @returns undefined when this request is not sampled. */
  readonly begin: (root: TraceRoot) => Span | undefined;
}

export interface TraceRoot {
  /** `GET /search`, `POST /msearch`, or a task in the background. */
  readonly name: string;
  readonly kind: 'server' | 'internal';
  /** The field of a request that came with one. */
  readonly traceparent?: string | string[] | undefined;
  /** The address that the request came from: whether its `traceparent` is believed depends on it. */
  readonly address?: string | undefined;
  readonly facts?: SpanFacts;
}

/** Runs a stage under a span of its own. Where the search is not traced, this adds nothing to the promise. */
export function inSpan<T>(
  above: Span | undefined,
  stage: Stage,
  run: (own: Span | undefined) => Promise<T>,
  factsOf?: (result: T) => SpanFacts,
): Promise<T> {
  const own = above?.begin(stage);
  return untilSettled(own, run(own), factsOf);
}

/** Ends the span with the task. */
export function untilSettled<T>(
  span: Span | undefined,
  task: Promise<T>,
  factsOf?: (result: T) => SpanFacts,
): Promise<T> {
  if (span === undefined) return task;
  return task.then(
    (result) => {
      span.end(factsOf?.(result));
      return result;
    },
    (error: unknown) => {
      const word = faultOf(error);
      // `leased`: another process loads the page. `left`: every client has gone. Neither is a failure.
      if (word === 'leased' || word === 'left') span.end({ 'serpcache.result': word });
      else span.end(undefined, word);
      throw error;
    },
  );
}

/** The reason of an error, never its message: an engine's message may hold the text of a query. */
export function faultOf(error: unknown): string {
  if (error instanceof SearchError) return error.reason;
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** The answer of a tier. @param node the store node that was asked. */
export function factsOfLookup(lookup: Lookup, node?: string): SpanFacts {
  const facts: Record<string, string | number> =
    lookup.kind === 'missed'
      ? { 'serpcache.result': 'missed', 'serpcache.reason': lookup.reason }
      : { 'serpcache.result': lookup.freshness, 'serpcache.bytes': lookup.entry.encoded.length };
  if (node !== undefined) facts['serpcache.node'] = node;
  return facts;
}

/** The context of a caller's span. */
export interface TraceParent extends Pick<Span, 'traceId' | 'spanId'> {
  /** Whether the caller's span is recorded. */
  readonly sampled: boolean;
}

/** More than a later version needs; a longer field is not read. */
const MAX_LENGTH = 512;
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * A W3C `traceparent` (Trace Context level 1). Undefined when the field is not valid: a receiver must then act as if none
 * had been sent. A version above 00 may have more members after the four known ones.
 */
export function parseTraceparent(field: string | readonly string[] | undefined): TraceParent | undefined {
  if (typeof field !== 'string' || field.length > MAX_LENGTH) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', rest] = FORM.exec(field) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The `traceparent` that a span sends along. Only spans of sampled traces exist, so the flag is always set. */
export function formatTraceparent({ traceId, spanId }: Pick<Span, 'traceId' | 'spanId'>): string {
  return `00-${traceId}-${spanId}-01`;
}
