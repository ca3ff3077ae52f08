import { compress } from '../../src/cache/codec.ts';
import type { Coding, Entry } from '../../src/cache/entry.ts';
import { SearchError } from '../../src/resilience/search-error.ts';
import type { Clock } from '../../src/runtime.ts';
import type { SearchDomain, SearchRequest } from '../../src/search/domain.ts';
import type { SearchedDomain } from '../../src/search/domain-search.ts';
import type { ResultPage } from '../../src/search/engine.ts';
import { domainOf, type PreparedSearch, prepareSearch } from '../../src/search/key.ts';
import { encodeBody } from '../../src/search/page.ts';
import { ignoredParameters, type SearchParameters } from '../../src/search/query.ts';
import type { Answer, SearchClient } from '../../src/search/read-path.ts';
import type { DomainStatus } from '../../src/search/status.ts';
import { entryOf } from './entry.ts';
import { fakeStatus } from './status.ts';

export interface FakeSearch {
  readonly domains: readonly SearchedDomain[];
  readonly prepare: (parameters: SearchParameters) => PreparedSearch<SearchedDomain>;
  /** Searches that passed validation in `prepare`, by entry point. */
  readonly asked: {
    readonly single: PreparedSearch[];
    readonly many: PreparedSearch[];
    readonly bypass: PreparedSearch[];
  };
  /** Replaces the answer to a search that is not in memory. */
  answer: (prepared: PreparedSearch, client?: SearchClient) => Promise<Answer>;
  /** The entry of a search in memory, while it is fresh. */
  fromMemory: (prepared: PreparedSearch) => Answer | undefined;
  /** An ordinary engine answer that is not stored. */
  readonly computed: (prepared: PreparedSearch, parts?: Partial<Answer>) => Promise<Answer>;
  readonly memory: Map<string, Entry>;
  statuses: readonly DomainStatus[];
}

export interface FakeSearchOptions {
  readonly clock: Clock;
  readonly domains?: readonly SearchDomain[];
  readonly coding?: Coding;
  /** Results in a page; 10 by default. */
  readonly results?: number;
  /** The page of the engine; by default one that has the query in each result. */
  readonly pageOf?: (request: SearchRequest) => ResultPage;
}

export const FAKE_DOMAINS: readonly SearchDomain[] = [
  {
    name: 'goods',
    attributes: [
      { name: 'category', type: 'string', facet: true, sort: false },
      { name: 'price', type: 'number', facet: false, sort: true },
    ],
    context: [{ name: 'region', source: 'query', values: ['ru', 'kz'] }],
    answerProfile: 'p1',
  },
  {
    name: 'auto',
    attributes: [],
    context: [{ name: 'X-Variant', source: 'header', values: ['a', 'b'] }],
    answerProfile: 'p2',
  },
];

/**
 * Domains over a Map: real validation and keys, an engine that answers at once with the query in the page.
 * The first search of a key is `engine`, the next ones `hit-l1`.
 */
export function createFakeSearch(options: FakeSearchOptions): FakeSearch {
  const { clock, domains = FAKE_DOMAINS, coding = 'identity', results = 10 } = options;
  const memory = new Map<string, Entry>();
  const remainingMs = (entry: Entry): number => entry.freshForMs - (clock.monotonicMs() - entry.bornMs);

  const pageOf = options.pageOf ?? (({ text }) => ordinaryPage(text, results));
  const computed: FakeSearch['computed'] = async (prepared, parts = {}) => {
    const body = encodeBody(prepared.request, pageOf(prepared.request));
    const identity = entryOf(clock, { body, canonical: prepared.canonical });
    const entry = entryOf(clock, {
      body: await compress(body, coding),
      coding,
      etag: identity.etag,
      canonical: prepared.canonical,
    });
    return {
      entry,
      outcome: 'engine',
      remainingMs: remainingMs(entry),
      l1: { kind: 'forward', why: 'uri-miss', stored: true, detail: 'unseen' },
      reason: 'unseen',
      timings: { engineMs: 12.5 },
      ...parts,
    };
  };

  /** L1 → admission → the answer, as the read path does it. */
  const run = async (prepared: PreparedSearch, client: SearchClient, asked: PreparedSearch[]): Promise<Answer> => {
    asked.push(prepared);
    const result = await fake.answer(prepared, client).catch((error: unknown) => {
      client.settle?.(prepared, error);
      throw error;
    });
    client.settle?.(prepared, result);
    return result;
  };

  const searched = (domain: SearchDomain): SearchedDomain => ({
    ...domain,
    search: (prepared, client, done) => {
      try {
        const near = client.bypass === true ? undefined : fake.fromMemory(prepared);
        if (near !== undefined) done(undefined, near);
        else if (client.admit?.(prepared) === false) done(new SearchError('busy'));
        else {
          const asked = client.bypass === true ? fake.asked.bypass : fake.asked.single;
          void run(prepared, client, asked).then((answer) => done(undefined, answer), done);
        }
      } catch (error) {
        done(error);
      }
    },
    searchMany: (many, client) =>
      Promise.all(
        many.map((prepared) => {
          const near = fake.fromMemory(prepared);
          if (near !== undefined) return near;
          if (client.admit?.(prepared) === false) return new SearchError('busy');
          return run(prepared, client, fake.asked.many).catch((error: Error) => error);
        }),
      ),
    explain: async (parameters) => {
      const { canonical, key, storeName, bucket, request } = prepareSearch(parameters, domains);
      return {
        domain: request.domain,
        rules: [],
        ignored: ignoredParameters(parameters, domainOf(parameters, domains)),
        canonical,
        answerProfile: 'p1',
        key,
        storeName,
        bucket,
        tiers: [],
        lastMiss: undefined,
      };
    },
    clientMaxAgeMs: 30_000,
    status: () => fake.statuses.find((status) => status.domain === domain.name) ?? fakeStatus(domain.name),
  });

  const fake: FakeSearch = {
    domains: domains.map(searched),
    asked: { single: [], many: [], bypass: [] },
    memory,
    computed,
    statuses: domains.map(({ name }) => fakeStatus(name)),
    answer: async (prepared) => {
      const answer = await computed(prepared);
      memory.set(prepared.key, answer.entry);
      return answer;
    },
    prepare: (parameters) => prepareSearch(parameters, fake.domains),
    fromMemory: ({ key }) => {
      const entry = memory.get(key);
      if (entry === undefined || remainingMs(entry) <= 0) return undefined;
      return { entry, outcome: 'hit-l1', remainingMs: remainingMs(entry), l1: { kind: 'hit' }, timings: {} };
    },
  };
  return fake;
}

function ordinaryPage(text: string, results: number): ResultPage {
  return {
    total: results,
    totalRelation: 'eq',
    results: Array.from({ length: results }, (_, i) => ({
      id: String(i + 1),
      title: `${text} ${i + 1}`,
      snippet: `a <em>${text}</em> of the ${i + 1}th kind, as good as any other in this shop`,
      score: 10 - i,
      attributes: { category: 'shoes', price: 990 },
    })),
    facets: {},
  };
}
