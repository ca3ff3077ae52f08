import type { Callback } from '../cache/singleflight.ts';
import { SearchError } from '../resilience/search-error.ts';
import type { Answer } from './answer.ts';
import type { SearchDomain } from './domain.ts';
import type { Explanation } from './explain.ts';
import { domainOf, type PreparedSearch, prepareSearch } from './key.ts';
import type { SearchClient } from './miss-path.ts';
import type { SearchParameters } from './query.ts';
import type { ReadPath } from './read-path.ts';
import type { DomainStatus } from './status.ts';
import type { Span } from './trace.ts';

/** Maximum number of searches in one batch. */
export const MAX_BATCH = 50;

/** The core as http sees it. */
export interface Search {
  /** In configured order; the first is the default. */
  readonly domains: readonly SearchDomain[];
  /** @throws InvalidSearch naming the parameter and what is allowed. */
  readonly prepare: (parameters: SearchParameters) => PreparedSearch;
  /** The hot path: a fresh L1 entry, synchronously, or undefined. */
  readonly fromMemory: (prepared: PreparedSearch, span?: Span) => Answer | undefined;
  /** @throws SearchError. Settles within the domain's patience, plus the lifeboat's deadline where there is one. */
  readonly search: (prepared: PreparedSearch, options?: SearchOptions) => Promise<Answer>;
  /**
   * As `search`, without a promise where a tier answers, for the hot path. `done` is called once, with the answer or with
   * what `search` throws; it must not throw. It may be called before `searchLater` returns.
   */
  readonly searchLater: (prepared: PreparedSearch, client: SearchClient | undefined, done: Callback<Answer>) => void;
  /** Answers in order. L2 is read in per-node pipelines; misses share the loads and the guard of single searches. */
  readonly searchMany: (
    prepared: readonly PreparedSearch[],
    client?: SearchClient,
  ) => Promise<readonly (Answer | SearchError)[]>;
  /** How each tier would treat this search now. Asks no engine and does not count as a use. */
  readonly explain: (parameters: SearchParameters) => Promise<Explanation>;
  /** The state of each part of each domain: what /readyz and /admin/domains show. */
  readonly status: () => readonly DomainStatus[];
}

export interface SearchOptions extends SearchClient {
  /** For an operator: asks the engine and overwrites both tiers. */
  readonly bypass?: boolean;
}

/** One configured domain, ready to search. */
export interface DomainPart {
  readonly domain: SearchDomain;
  readonly search: ReadPath;
  readonly explain: (parameters: SearchParameters) => Promise<Explanation>;
  readonly status: () => DomainStatus;
}

/** The domain router: each request goes to its own domain, and shares nothing with the others. */
export function createSearch(parts: readonly DomainPart[]): Search {
  const domains = parts.map(({ domain }) => domain);
  const byName = new Map(parts.map((part) => [part.domain.name, part]));
  const partOf = (name: string): DomainPart => {
    const part = byName.get(name);
    if (part === undefined) throw new Error(`prepared for "${name}", which is not configured`);
    return part;
  };

  return {
    domains,
    prepare: (parameters) => prepareSearch(parameters, domains),
    fromMemory: (prepared, span) => partOf(prepared.request.domain).search.fromMemory(prepared, span),
    search: (prepared, asked) => {
      const { search } = partOf(prepared.request.domain);
      return asked?.bypass ? search.bypass(prepared, asked) : search.search(prepared, asked);
    },
    searchLater: (prepared, client, done) => partOf(prepared.request.domain).search.searchLater(prepared, client, done),
    searchMany: async (many, client) => {
      const answers = new Map<PreparedSearch, Answer | SearchError>();
      const perDomain = Map.groupBy(many, (prepared) => prepared.request.domain);
      await Promise.all(
        [...perDomain].map(async ([name, prepared]) => {
          const settled = await partOf(name).search.searchMany(prepared, client);
          prepared.forEach((each, i) => {
            const result = settled[i];
            if (result === undefined) return;
            if (result.status === 'fulfilled') answers.set(each, result.value);
            else if (result.reason instanceof SearchError) answers.set(each, result.reason);
            else throw result.reason;
          });
        }),
      );
      return many.map((prepared) => {
        const answer = answers.get(prepared);
        if (answer === undefined) throw new Error(`no answer for ${prepared.canonical}`);
        return answer;
      });
    },
    explain: async (parameters) => partOf(domainOf(parameters, domains).name).explain(parameters),
    status: () => parts.map((part) => part.status()),
  };
}
