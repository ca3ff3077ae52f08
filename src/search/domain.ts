/**
 * A domain declares its documents and its parameters. A request may name only what is declared; any other parameter is
 * ignored and is not part of the key.
 */
export type AttributeType = 'string' | 'integer' | 'number' | 'date';

export interface Attribute {
  readonly name: string;
  /** `date` is written as `YYYY-MM-DD` in requests and in pages. */
  readonly type: AttributeType;
  /** May be counted (`facet=name`). Every attribute may be filtered. */
  readonly facet: boolean;
  /** May order results (`sort=name`, `sort=-name`). */
  readonly sort: boolean;
  /** Its words find a document, as those of the description do. For texts only. */
  readonly search?: boolean;
  /**
   * A document may have several values. A filter matches a document when one of its values matches: is one of the filter's
   * values, or lies in its range. A facet counts a document once for each of its values. Never with `sort`.
   */
  readonly multiple?: boolean;
  /** The text between the values of one text that is not a list; without it such a text is one value. Changes no answer. */
  readonly separator?: string;
  /** How a catalogue writes its numbers or days, where a cell alone does not tell. Changes no answer. */
  readonly format?: '1,299.50' | '1.299,50' | 'DD/MM/YYYY' | 'MM/DD/YYYY';
  /** The name that the search page shows. Changes no answer. */
  readonly label?: string;
  /** ISO 4217 code, for a number that is an amount of money. The search page shows it; it changes no answer. */
  readonly currency?: string;
}

/**
 * A parameter or header beside the query that separates answers, such as a region or a variant. It is part of the key. The
 * engines of this project do not read it.
 */
export interface ContextParameter {
  readonly name: string;
  readonly source: 'query' | 'header';
  /** The allowed values; the first is the default. The list is closed, so that a client cannot split the cache at will. */
  readonly values: readonly string[];
}

export interface SearchDomain {
  readonly name: string;
  readonly attributes: readonly Attribute[];
  readonly context: readonly ContextParameter[];
  /** Hash of everything on the engine's side that changes an answer: `profileHash` in key.ts. */
  readonly answerProfile: string;
}

/** Parameters every domain has; no attribute or context parameter may take these names. */
export const REQUEST_PARAMETERS = ['q', 'domain', 'page', 'limit', 'sort', 'filter', 'facet', 'highlight'] as const;

/**
 * A value of an attribute; where the attribute is `multiple`, a list of 1–`MAX_LIST_VALUES` values in the order given. Texts
 * of a list that are equal in canonical form are one value, and its first spelling is shown.
 */
export type AttributeValue = string | number | readonly (string | number)[];

export function isList(value: AttributeValue): value is readonly (string | number)[] {
  return typeof value === 'object';
}

/** Maximum number of values of one attribute of one document. */
export const MAX_LIST_VALUES = 64;

/** One document of a catalogue, as an index takes it. */
export interface Document {
  /** 1–`MAX_ID_BYTES` bytes; unique within its domain. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /**
   * Declared attributes only; `date` as `YYYY-MM-DD`. A document without an attribute is not matched by its filters and
   * not counted in its facets.
   */
  readonly attributes: Readonly<Record<string, AttributeValue>>;
}

/** The text of a document's attributes that are searched. */
export function searchedText({ attributes }: Document, domain: SearchDomain): string {
  return domain.attributes.flatMap(({ name, search }) => (search === true ? (attributes[name] ?? []) : [])).join(' ');
}

/** In UTF-8. Some catalogues have URLs as ids. */
export const MAX_ID_BYTES = 512;

/** Whether a text can be the id of a document. What can be indexed can also be suppressed. */
export function isDocumentId(id: string): boolean {
  return id !== '' && !id.includes('\0') && id.isWellFormed() && utf8Length(id) <= MAX_ID_BYTES;
}

/** k6 and browsers read this file too, and have no Buffer. */
function utf8Length(text: string): number {
  return encodeURIComponent(text).replace(/%../g, '.').length;
}

/** One search, validated against its domain and in canonical form: the only input of an engine. */
export interface SearchRequest {
  readonly domain: string;
  /** Canonical text: NFKC, folded case, single spaces, ё→е. Never empty; 1–256 characters as typed. */
  readonly text: string;
  /** From 1; `page × limit ≤ 1000`. */
  readonly page: number;
  /** 1–100. */
  readonly limit: number;
  readonly sort: Sort;
  /** Sorted by attribute, one per attribute; values sorted and unique. A result satisfies all of them. */
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
