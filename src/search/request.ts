/** One search, validated against its domain and in canonical form: the only thing an engine is ever given. */
export interface SearchRequest {
  readonly domain: string;
  /** Canonical text: NFKC, folded case, single spaces, ё→е. Never empty; 1–256 characters as typed. */
  readonly text: string;
  /** From 1; `page × limit ≤ 1000`. */
  readonly page: number;
  /** 1–100. */
  readonly limit: number;
  readonly sort: Sort;
  /** Sorted by attribute, one per attribute; values sorted and unique. All must hold. */
  readonly filters: readonly Filter[];
  /** Sorted and unique attribute names. */
  readonly facets: readonly string[];
  readonly highlight: boolean;
  /** Declared context parameters, sorted by name, defaults included. */
  readonly context: readonly (readonly [name: string, value: string])[];
}

export type Sort =
  | { readonly by: 'relevance' }
  | { readonly by: 'attribute'; readonly attribute: string; readonly descending: boolean };

/** `string` values are canonical text (case never matters); `date` values and bounds are days since the epoch. */
export type Filter =
  | { readonly kind: 'strings'; readonly attribute: string; readonly values: readonly string[] }
  | { readonly kind: 'numbers'; readonly attribute: string; readonly values: readonly number[] }
  | { readonly kind: 'range'; readonly attribute: string; readonly from?: number; readonly to?: number };
