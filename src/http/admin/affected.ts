import { Type } from 'typebox';
import type { FlushMode } from '../../control/document.ts';
import type { Affected, PurgedPages } from '../../flush/flush.ts';

/** How many pages a flush or a purge affected, and where its effect can be watched: for the API, the CLI and the console. */

const NOTE = {
  note: Type.String({ description: 'The same in a sentence.' }),
  watch: Type.Array(Type.String(), { description: 'Metrics and routes that show the effect.' }),
};
const Memory = Type.Integer({ description: 'Pages in the memory of the process that answered; each has its own.' });

export const AffectedBody = Type.Object({
  memory: Memory,
  store: Type.Optional(Type.Integer({ description: 'Pages in the store; absent where they were not counted.' })),
  exact: Type.Optional(Type.Boolean({ description: 'Of `store`; false: estimated from a sample.' })),
  ...NOTE,
});

export const PurgedBody = Type.Object({
  memory: Memory,
  firstPageInStore: Type.Optional(
    Type.Boolean({
      description: 'Whether the store holds the first page, without filters; absent where it is unknown.',
    }),
  ),
  known: Type.Boolean({ description: 'False: no page of this query was found.' }),
  ...NOTE,
});

export function affectedBody(domain: string, mode: FlushMode, { memory, store }: Affected): object {
  const counted = typeof store === 'object' ? { store: store.pages, exact: store.exact } : {};
  return {
    memory,
    ...counted,
    note: `${pages(memory)} in the memory of this process ${storeWords(mode, store)} ${MODE_WORDS[mode]}.`,
    watch: watchOf(domain, mode),
  };
}

const MODE_WORDS: Readonly<Record<FlushMode, string>> = {
  refresh: 'served as stale until computed anew',
  drop: 'misses from now on',
  erase: 'misses from now on, and removed from the store',
};

function storeWords(mode: FlushMode, store: Affected['store']): string {
  if (store === 'no-store') return '(the domain has no store):';
  if (typeof store === 'object') return `and ${store.exact ? '' : 'about '}${store.pages} in the store:`;
  return `and those in the store (${mode === 'erase' ? 'counted while they are removed' : 'not counted'}):`;
}

function watchOf(domain: string, mode: FlushMode): readonly string[] {
  const metric = (name: string, labels = '') => `serpcache_${name}_total{domain="${domain}"${labels}}`;
  const misses = [metric('misses', ',reason="flushed"'), metric('engine_calls')];
  switch (mode) {
    case 'refresh':
      return [metric('requests', ',outcome="stale"'), metric('refreshes')];
    case 'drop':
      return misses;
    case 'erase':
      return [`GET /admin/flush?domain=${domain}`, ...misses];
  }
}

export function purgedBody(domain: string, text: string, { memory, firstInStore }: PurgedPages): object {
  const known = memory > 0 || firstInStore === 'held';
  return {
    memory,
    ...(firstInStore === 'held' || firstInStore === 'absent' ? { firstPageInStore: firstInStore === 'held' } : {}),
    known,
    note: known
      ? `${pages(memory)} in the memory of this process${STORE_WORDS[firstInStore]}.`
      : `No page of this query was found in the memory of this process${UNFOUND_WORDS[firstInStore]}: check the spelling.`,
    watch: [
      `serpcache_misses_total{domain="${domain}",reason="flushed"}`,
      `GET /admin/explain?${new URLSearchParams({ domain, q: text })}`,
    ],
  };
}

const STORE_WORDS: Readonly<Record<PurgedPages['firstInStore'], string>> = {
  held: '; the store holds its first page, further pages there are not counted',
  absent: '; the store does not hold its first page, further pages there are not counted',
  unknown: '; the store did not answer, pages there are not counted',
  'no-store': '; the domain has no store',
};

const UNFOUND_WORDS: Readonly<Record<PurgedPages['firstInStore'], string>> = {
  held: '',
  absent: ', nor its first page in the store',
  unknown: '; the store did not answer, pages there are not counted',
  'no-store': '; the domain has no store',
};

function pages(count: number): string {
  return `${count} ${count === 1 ? 'page' : 'pages'}`;
}
