import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Compile } from 'typebox/compile';
import { AFFECTED, affectedAnswer, PURGED_PAGES, purgedAnswer } from '../../../src/operations/flush/answers.ts';
import { plain } from '../../plain.ts';

test('a flush describes in a sentence how many pages it affected, and which were not counted', () => {
  for (const [mode, affected, note] of [
    [
      'refresh',
      { memory: 1, store: { pages: 12, exact: true } },
      '1 page in the memory of this process and 12 in the store: served as stale until computed again.',
    ],
    [
      'drop',
      { memory: 0, store: { pages: 48_000, exact: false } },
      '0 pages in the memory of this process and about 48000 in the store: misses from now on.',
    ],
    [
      'drop',
      { memory: 2, store: 'not-counted' },
      '2 pages in the memory of this process and those in the store (not counted): misses from now on.',
    ],
    [
      'drop',
      { memory: 2, store: 'no-store' },
      '2 pages in the memory of this process (the domain has no store): misses from now on.',
    ],
    [
      'erase',
      { memory: 2, store: 'not-counted' },
      '2 pages in the memory of this process and those in the store (counted while they are removed): misses from now on, and removed from the store.',
    ],
  ] as const) {
    const body = plain(affectedAnswer('goods', mode, affected));
    assert.partialDeepStrictEqual(body, { memory: affected.memory, note });
    assert.deepEqual(Compile(AFFECTED).Errors(body), []);
    const counted = typeof affected.store === 'object';
    assert.deepEqual(['store' in body, 'exact' in body], [counted, counted]);
  }
});

test('a flush names the metrics and routes to watch, by its mode', () => {
  const watch = (mode: 'refresh' | 'drop' | 'erase') =>
    (affectedAnswer('goods', mode, { memory: 0, store: 'no-store' }) as { watch: readonly string[] }).watch;
  assert.match(watch('refresh').join(), /serpcache_requests_total\{domain="goods",outcome="stale"\}.*refreshes_total/);
  assert.match(watch('drop').join(), /serpcache_misses_total\{domain="goods",reason="flushed"\}/);
  assert.equal(watch('erase')[0], 'GET /admin/flush?domain=goods');
});

test('a purge reports whether pages of its query were found, and where it looked', () => {
  const unfound = 'No page of this query was found in the memory of this process';
  for (const [pages, known, note] of [
    [
      { memory: 3, firstInStore: 'absent' },
      true,
      '3 pages in the memory of this process; the store does not hold its first page, further pages there are not counted.',
    ],
    [
      { memory: 0, firstInStore: 'held' },
      true,
      '0 pages in the memory of this process; the store holds its first page, further pages there are not counted.',
    ],
    [{ memory: 1, firstInStore: 'no-store' }, true, '1 page in the memory of this process; the domain has no store.'],
    [{ memory: 0, firstInStore: 'absent' }, false, `${unfound}, nor its first page in the store: check the spelling.`],
    [
      { memory: 0, firstInStore: 'unknown' },
      false,
      `${unfound}; the store did not answer, pages there are not counted: check the spelling.`,
    ],
    [{ memory: 0, firstInStore: 'no-store' }, false, `${unfound}; the domain has no store: check the spelling.`],
  ] as const) {
    const body = plain(purgedAnswer('goods', 'кроссовки', pages));
    assert.partialDeepStrictEqual(body, { memory: pages.memory, known, note });
    assert.deepEqual(Compile(PURGED_PAGES).Errors(body), []);
  }
});
