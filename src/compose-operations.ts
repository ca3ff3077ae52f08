import type { ComposedDomain } from './compose-domain.ts';
import type { Settings } from './config/settings.ts';
import {
  type ClosableOperations,
  createOperations,
  type OperatedDomain,
  type OperationsRuntime,
} from './operations/create-operations.ts';
import type { PreparedSearch } from './search/key.ts';
import { prepareSearch, storedNameOf } from './search/key.ts';
import { searchParametersOf, searchTextOf } from './search/query.ts';

/** Connects the parts of a domain to the operations room. */
export function composeDomainOperations(
  part: ComposedDomain,
  { counters, observeFlush, observePopularity }: DomainOperationsComposition,
): OperatedDomain<PreparedSearch> {
  const { domain, settings, store } = part;
  const { name } = domain;
  return {
    name,
    control: part.control,
    controlElsewhere: part.controlElsewhere,
    ...(store === undefined || settings.store.kind === 'none' ? {} : { store: operatedStoreOf(store, settings.store) }),
    memory: part.memory,
    storedName: (key) => storedNameOf(key, name),
    meter: part.meter,
    status: part.status,
    patienceMs: settings.patienceMs,
    pagesOf: (typed) => {
      const pairs = [
        ['q', typed],
        ['domain', name],
      ] as const;
      const { request, canonical, storeName } = prepareSearch({ pairs }, [domain]);
      // A `&` in the text is escaped in the canonical form, so the first `&` ends the text.
      const [canonicalStart = ''] = canonical.split('&', 1);
      return { text: request.text, canonicalStart, firstStoreName: storeName };
    },
    popularity: part.popularity,
    searchText: ({ request }) => searchTextOf(request, domain),
    warm: {
      prepare: (line) => {
        const { pairs, header } = searchParametersOf(line);
        const own = pairs.filter(([parameter]) => parameter !== 'domain');
        return prepareSearch({ pairs: [...own, ['domain', name]], ...(header === undefined ? {} : { header }) }, [
          domain,
        ]);
      },
      warm: part.warm,
      spare: part.spare,
    },
    counters,
    observeFlush,
    observePopularity,
  };
}

function operatedStoreOf(
  store: NonNullable<ComposedDomain['store']>,
  { deadlineMs, dedicated }: { readonly deadlineMs: number; readonly dedicated: boolean },
): NonNullable<OperatedDomain<PreparedSearch>['store']> {
  return {
    content: store.content,
    holds: async (storeName) => {
      const read = await store.read(storeName, deadlineMs);
      return read.kind === 'fault' ? undefined : read.kind === 'value';
    },
    dedicated,
  };
}

type DomainOperationsComposition = Pick<
  OperatedDomain<PreparedSearch>,
  'counters' | 'observeFlush' | 'observePopularity'
>;

export function composeOperations(
  domains: readonly { readonly operations: OperatedDomain<PreparedSearch> }[],
  settings: Settings['drills'],
  runtime: OperationsRuntime,
): ClosableOperations {
  return createOperations(
    domains.map(({ operations }) => operations),
    settings,
    runtime,
  );
}
