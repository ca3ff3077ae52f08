import type { Answer, PreparedSearch } from './answer.ts';
import type { SearchDomain } from './domain.ts';
import type { Explanation } from './explain.ts';
import type { Unanswered } from './failure.ts';
import type { SearchParameters } from './parameters.ts';
import type { DomainStatus } from './status.ts';

/** What http, the CLI and the console may ask of the core. */
export interface Search {
  /** In configured order; the first is the default. */
  readonly domains: readonly SearchDomain[];
  /** @throws InvalidSearch naming the parameter and what is allowed. */
  readonly prepare: (parameters: SearchParameters) => PreparedSearch;
  /** The hot path: a fresh L1 entry, synchronously, or undefined. */
  readonly fromMemory: (prepared: PreparedSearch) => Answer | undefined;
  /** @throws Unanswered. Settles within the domain's patience, plus the lifeboat's deadline where there is one. */
  readonly search: (prepared: PreparedSearch, options?: SearchOptions) => Promise<Answer>;
  /** Answers in order. L2 is read in per-node pipelines; misses share the flights and the guard of single searches. */
  readonly searchMany: (
    prepared: readonly PreparedSearch[],
    options?: Pick<SearchOptions, 'mayMiss'>,
  ) => Promise<readonly (Answer | Unanswered)[]>;
  /** What would happen to this search now, tier by tier, without asking the engine and without counting as a use. */
  readonly explain: (parameters: SearchParameters) => Promise<Explanation>;
  /** The state of each part of each domain: what /readyz and /admin/domains show. */
  readonly status: () => readonly DomainStatus[];
}

/** Whether this client may cost the engine one more search. */
export type MayMiss = (prepared: PreparedSearch) => boolean;

export interface SearchOptions {
  /** For an operator: asks the engine and overwrites both tiers. */
  readonly bypass?: boolean;
  /**
   * Asked when an engine would have to be asked for this client; false refuses with `over-budget`, unless a stale entry
   * may be served. Hits, stale entries and flights that are up already are free.
   */
  readonly mayMiss?: MayMiss;
}
