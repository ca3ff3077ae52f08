import Type from 'typebox';
import { BUCKET_RANGE, type ControlDocument, type FlushMode } from '../../control/document.ts';
import { type Decoded, wallTime } from '../../schema/fields.ts';
import { type Affected, ERASURE, FLUSH_MODE, type PurgedPages } from './flush.ts';

/* The answers to flushes, purges and suppressions: the admin API sends them, and the CLI prints them. */

const NOTE = {
  note: Type.String({ description: 'The same as a sentence.' }),
  watch: Type.Array(Type.String(), { description: 'Metrics and routes that show the effect.' }),
};

const memory = Type.Integer({
  description: 'Pages in the memory of the process that answered; each process has its own memory.',
});

export const AFFECTED = Type.Object({
  memory,
  store: Type.Optional(Type.Integer({ description: 'Pages in the store; absent when they were not counted.' })),
  exact: Type.Optional(Type.Boolean({ description: 'Whether `store` is exact; false: estimated from a sample.' })),
  ...NOTE,
});
export type AffectedAnswer = Decoded<typeof AFFECTED>;

export const PURGED_PAGES = Type.Object({
  memory,
  firstPageInStore: Type.Optional(
    Type.Boolean({
      description: 'Whether the store holds the first page, without filters; absent when unknown.',
    }),
  ),
  known: Type.Boolean({ description: 'False: no page of this query was found.' }),
  ...NOTE,
});

export const FLUSHED = Type.Object({
  domain: Type.String(),
  mode: FLUSH_MODE,
  ranges: Type.Array(BUCKET_RANGE),
  revision: Type.Integer(),
  generation: Type.Integer(),
  affected: AFFECTED,
  erasure: Type.Optional(ERASURE),
});
export type FlushAnswer = Decoded<typeof FLUSHED>;

export const PURGED = Type.Object({
  domain: Type.String(),
  text: Type.String({ description: 'The canonical text that is purged.' }),
  revision: Type.Integer(),
  generation: Type.Integer(),
  affected: PURGED_PAGES,
});
export type PurgeAnswer = Decoded<typeof PURGED>;

export const SUPPRESSED = Type.Object({
  domain: Type.String(),
  suppressed: Type.Integer(),
  revision: Type.Integer(),
});
export type SuppressAnswer = Decoded<typeof SUPPRESSED>;

export const SUPPRESSED_LIST = Type.Object({
  domain: Type.String(),
  max: Type.Integer({ description: 'Maximum number of suppressed documents.' }),
  suppressed: Type.Array(Type.Object({ id: Type.String(), atMs: wallTime() })),
});
export type SuppressedList = Decoded<typeof SUPPRESSED_LIST>;

/** The part of a control document that an audit line shows. */
export function documentSummary({ revision, generation, ranges, purges, suppressed }: ControlDocument) {
  return {
    revision,
    generation,
    ranges: ranges.length,
    purges: purges.length,
    suppressed: suppressed.length,
  };
}

export function affectedAnswer(domain: string, mode: FlushMode, { memory, store }: Affected): AffectedAnswer {
  const counted = typeof store === 'object' ? store : undefined;
  return {
    memory,
    store: counted?.pages,
    exact: counted?.exact,
    note: `${pages(memory)} in the memory of this process ${storeWords(mode, store)} ${MODE_WORDS[mode]}.`,
    watch: watchOf(domain, mode),
  };
}

const MODE_WORDS: Readonly<Record<FlushMode, string>> = {
  refresh: 'served as stale until computed again',
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

export function purgedAnswer(
  domain: string,
  text: string,
  { memory, firstInStore }: PurgedPages,
): PurgeAnswer['affected'] {
  const isHeld = firstInStore === 'held';
  const known = memory > 0 || isHeld;
  return {
    memory,
    firstPageInStore: isHeld || firstInStore === 'absent' ? isHeld : undefined,
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
  ...STORE_WORDS,
  held: '',
  absent: ', nor its first page in the store',
};

function pages(count: number): string {
  return `${count} ${count === 1 ? 'page' : 'pages'}`;
}
