/**
 * What a domain declares about its documents and its traffic. Everything a request may name is declared here; a
 * parameter nobody declared is ignored and is not part of the key.
 */
export type AttributeType = 'string' | 'integer' | 'number' | 'date';

export interface Attribute {
  readonly name: string;
  /** `date` travels as `YYYY-MM-DD` on the wire and in a page. */
  readonly type: AttributeType;
  /** May be counted (`facet=name`). Every attribute may be filtered. */
  readonly facet: boolean;
  /** May order results (`sort=name`, `sort=-name`). */
  readonly sort: boolean;
  /** Its name for people. Changes no answer. */
  readonly label?: string;
  /** ISO 4217 code: a number that is an amount of money. For people alone; it changes no answer. */
  readonly currency?: string;
}

/**
 * A parameter or header beside the query by which answers are kept apart, such as a region or a variant. It is part of
 * the key; the engines here do not read it, so it only makes a difference to an engine that is told of it.
 */
export interface ContextParameter {
  readonly name: string;
  readonly source: 'query' | 'header';
  /** The values allowed; the first is the default. Closed, so that a client cannot split the cache at will. */
  readonly values: readonly string[];
}

export interface SearchDomain {
  readonly name: string;
  readonly attributes: readonly Attribute[];
  readonly context: readonly ContextParameter[];
  /** Hash of everything on the engine's side that changes an answer; see profile.ts. */
  readonly answerProfile: string;
}

/** Parameters every domain has; no attribute or context parameter may take these names. */
export const REQUEST_PARAMETERS = ['q', 'domain', 'page', 'limit', 'sort', 'filter', 'facet', 'highlight'] as const;

/** One document of a catalogue, as an index takes it. */
export interface Document {
  /** 1–`MAX_ID_LENGTH` characters; unique within its domain. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** Declared attributes only; `date` as `YYYY-MM-DD`. A missing one is left out of pages, filters and facets. */
  readonly attributes: Readonly<Record<string, string | number>>;
}

/** In characters. A real catalogue at hand has an id of 75. */
export const MAX_ID_LENGTH = 128;

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
