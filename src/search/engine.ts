import type { AttributeValue, Document, SearchDomain, SearchRequest } from './domain.ts';

/**
 * The engine port: an engine computes pages. Its promises, which test/contract/engine.ts checks for every adapter:
 * - `search` settles when the engine has replied, or soon after `signal` aborts; it never hangs past the abort.
 * - `signal` is the hard deadline, not the client's: an adapter destroys connections if it must, and rejects with
 *   `engine-timeout`.
 * - every rejection is a `SearchError` with an `EngineReason`; no value that a `SearchRequest` can carry leads to one.
 */
export interface Engine {
  /** @param traceparent W3C Trace Context of the call's span: an engine with a query log writes it there. */
  readonly search: (request: SearchRequest, signal: AbortSignal, traceparent?: string) => Promise<ResultPage>;
  /** Resolves when the engine can answer `probeOf(domain)`; rejects with a `SearchError`. */
  readonly probe: (signal: AbortSignal) => Promise<void>;
  /**
   * Present when the engine takes documents while it answers searches. Of several updates of one id the last counts. Resolves
   * when every later search sees all of them, with a member for each id; rejects with a `SearchError`. An aborted update is made as a whole or not at all.
   */
  readonly update?: (updates: readonly DocumentUpdate[], signal: AbortSignal) => Promise<readonly IndexChange[]>;
  readonly close: () => Promise<void>;
  /** Whether an aborted search stops at once. searchd goes on, so its permit is held longer. */
  readonly abortEndsWork: boolean;
}

/** A document to add or replace; without it, one to delete. One whose id is known keeps its place among equal ranks. */
export interface DocumentUpdate {
  readonly id: string;
  readonly document?: Document;
}

/** One change of an index. Without `fault` and without both documents, the id to delete was not known. */
export interface IndexChange {
  readonly id: string;
  /** The document that the index held. */
  readonly before?: Document | undefined;
  readonly after?: Document | undefined;
  /** Why the document was left out, for people. */
  readonly fault?: string;
}

/**
 * The health probe is a search of the domain itself, so that a wrong index or attribute shows before the first search. Its
 * word is in no index: it costs one look-up.
 */
export function probeOf({ name, attributes }: SearchDomain): SearchRequest {
  return {
    domain: name,
    text: 'serpcacheprobe',
    page: 1,
    limit: 1,
    sort: { by: 'relevance' },
    filters: [],
    facets: attributes.filter(({ facet }) => facet).map((attribute) => attribute.name),
    highlight: true,
    context: [],
  };
}

/**
 * One answer of an engine. Identical requests to an unchanged index give identical pages. In pages sorted by an
 * attribute, documents without it come last in both directions.
 */
export interface ResultPage {
  readonly total: number;
  /** `gte`: the engine stopped counting, so `total` is a lower bound. */
  readonly totalRelation: 'eq' | 'gte';
  readonly results: readonly SearchResult[];
  /** One member per requested facet, values by falling count and then by folded value, at most `FACET_VALUES`. */
  readonly facets: Readonly<Record<string, readonly FacetCount[]>>;
  /** Present when the engine answered without all of its parts (a dead agent, a query cut short): the reason. */
  readonly partial?: string;
}

export interface SearchResult {
  /** Any text of at most `MAX_ID_BYTES` bytes, exactly as indexed: 64-bit ids never become a JavaScript number. */
  readonly id: string;
  /** Plain text, not HTML. */
  readonly title: string;
  /** HTML-escaped text in which `<em>` is the only markup; without highlighting, escaped text without any. */
  readonly snippet: string;
  readonly score: number;
  /** As indexed, but an engine may give a list of numbers or dates in rising order. */
  readonly attributes: Readonly<Record<string, AttributeValue>>;
}

export interface FacetCount {
  readonly value: string | number;
  readonly count: number;
}

/** Maximum number of values per facet. */
export const FACET_VALUES = 20;
