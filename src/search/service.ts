import type { Answer, PreparedSearch } from './answer.ts';
import type { SearchDomain } from './domain.ts';
import type { DomainSearch } from './domain-search.ts';
import type { Explanation } from './explain.ts';
import { Unanswered } from './failure.ts';
import type { SearchParameters } from './parameters.ts';
import { domainOf, prepareSearch } from './prepare.ts';
import type { Search } from './search.ts';
import type { DomainStatus } from './status.ts';

/** One configured domain, ready to search. */
export interface DomainPart {
  readonly domain: SearchDomain;
  readonly search: DomainSearch;
  readonly explain: (parameters: SearchParameters) => Promise<Explanation>;
  readonly status: () => DomainStatus;
}

/** Several domains behind one `Search`: each request goes to its own, and shares nothing with the others. */
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
    fromMemory: (prepared) => partOf(prepared.request.domain).search.fromMemory(prepared),
    search: (prepared, asked) => {
      const { search } = partOf(prepared.request.domain);
      return asked?.bypass ? search.bypass(prepared) : search.search(prepared, asked?.mayMiss);
    },
    searchMany: async (many, asked) => {
      const answers = new Map<PreparedSearch, Answer | Unanswered>();
      const perDomain = Map.groupBy(many, (prepared) => prepared.request.domain);
      await Promise.all(
        [...perDomain].map(async ([name, prepared]) => {
          const settled = await partOf(name).search.searchMany(prepared, asked?.mayMiss);
          prepared.forEach((each, i) => {
            const result = settled[i];
            if (result === undefined) return;
            if (result.status === 'fulfilled') answers.set(each, result.value);
            else if (result.reason instanceof Unanswered) answers.set(each, result.reason);
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
