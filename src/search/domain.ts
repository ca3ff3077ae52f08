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
