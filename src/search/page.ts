/**
 * One engine answer. Identical questions to an unchanged index give identical pages. Sorted by an attribute, documents
 * without it come last in both directions.
 */
export interface ResultPage {
  readonly total: number;
  /** `gte`: the engine stopped counting, so `total` is a lower bound. */
  readonly totalRelation: 'eq' | 'gte';
  readonly results: readonly SearchResult[];
  /** One member per requested facet, values by falling count and then by folded value, at most `FACET_VALUES`. */
  readonly facets: Readonly<Record<string, readonly FacetCount[]>>;
  /** The engine answered without all of its parts (a dead agent, a query cut short); the text says why. */
  readonly partial?: string;
}

export interface SearchResult {
  /** Decimal or any other text of at most `MAX_ID_LENGTH` characters, exactly as indexed: 64-bit ids never pass through a number. */
  readonly id: string;
  /** Plain text, not HTML. */
  readonly title: string;
  /** HTML-escaped text in which `<em>` is the only markup; without highlighting, escaped text without any. */
  readonly snippet: string;
  readonly score: number;
  readonly attributes: Readonly<Record<string, string | number>>;
}

export interface FacetCount {
  readonly value: string | number;
  readonly count: number;
}

/** Values returned per facet, by falling count. */
export const FACET_VALUES = 20;
