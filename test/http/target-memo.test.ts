import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTargetMemo } from '../../src/http/search-api/search-handler.ts';
import { systemClock } from '../../src/runtime.ts';
import { createFakeSearch } from '../fakes/search.ts';

const prepared = createFakeSearch({ clock: systemClock }).prepare({ pairs: [['q', 'a']] });

test('what is used survives a stream of URLs that come once', () => {
  const memo = createTargetMemo({ maxEntries: 100, maxBytes: 10 ** 7 });
  memo.set('/search?q=hot', prepared);
  for (let i = 0; i < 1000; i += 1) {
    memo.set(`/search?q=${i}`, prepared);
    if (i % 20 === 0) assert.ok(memo.get('/search?q=hot'), `lost after ${i}`);
  }
  const kept = Array.from({ length: 1000 }, (_, i) => memo.get(`/search?q=${i}`)).filter(Boolean).length;
  assert.ok(kept <= 100, `${kept} kept`);
});

test('long URLs are bounded in bytes', () => {
  const memo = createTargetMemo({ maxEntries: 1000, maxBytes: 100_000 });
  const target = (i: number): string => `/search?q=${String(i).padStart(4000, 'x')}`;
  for (let i = 0; i < 100; i += 1) memo.set(target(i), prepared);
  const kept = Array.from({ length: 100 }, (_, i) => i).filter((i) => memo.get(target(i)) !== undefined).length;
  assert.ok(kept >= 5 && kept <= 12, `${kept} kept`);
});

test('a remembered search holds no bytes: a few of them would keep the 64 KiB they were cut from', () => {
  const viewsIn = (value: unknown): number => {
    if (ArrayBuffer.isView(value)) return 1;
    return typeof value === 'object' && value !== null
      ? Object.values(value).reduce((sum, part) => sum + viewsIn(part), 0)
      : 0;
  };
  assert.equal(viewsIn({ body: Buffer.from('a') }), 1);
  assert.equal(viewsIn(prepared), 0);
});
