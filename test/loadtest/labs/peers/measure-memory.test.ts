import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesPerPage, type MemoryLooked, memoryFiguresOf } from '../../../../loadtest/labs/peers/serving.ts';

/** 400 pages, of which a quarter was evicted again. */
const LOOKED: MemoryLooked = {
  before: { whole: 9_000_000, resident: 5_000_000, store: 700_000, disk: 10_000 },
  after: { whole: 12_000_000, resident: 8_000_000, store: 1_300_000, disk: 1_210_000 },
  pages: 400,
  filled: { bodyBytes: 1_638_400, requests: 400 },
  missedShare: 0.25,
};

test('memory of a page is the growth of process, store and files over the number of pages still there', () => {
  assert.deepEqual(memoryFiguresOf(LOOKED), {
    pageBytes: 4096,
    keptShare: 0.75,
    residentPerPage: 10_000,
    storePerPage: 2000,
    diskPerPage: 4000,
    residentBytes: 12_000_000,
  });
  assert.equal(bytesPerPage(memoryFiguresOf(LOOKED)), 16_000);
});

test('a peer that keeps one page of twenty is measured; a peer that keeps fewer is not', () => {
  assert.equal(memoryFiguresOf({ ...LOOKED, missedShare: 0.9 }).keptShare.toFixed(6), '0.100000');
  assert.throws(() => memoryFiguresOf({ ...LOOKED, missedShare: 0.96 }), /^Error: of 400 pages it keeps 16$/);
  // A background refresh is a search too.
  assert.throws(() => memoryFiguresOf({ ...LOOKED, missedShare: 1.5 }), /keeps 0$/);
});
