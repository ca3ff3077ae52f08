import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importedOf } from '../../../../loadtest/labs/kit/benchmark.ts';

const said = (sum: string): string =>
  `All data transferred. Waiting for the last reply...\nLast reply received from server.\n${sum}\n`;

test('the count of an import is the number of replies of the store', () => {
  assert.equal(importedOf(said('errors: 0, replies: 1200')), 1200);
});

test('one refused command fails the import, with the counts', () => {
  assert.throws(() => importedOf(said('errors: 1, replies: 1200')), /^Error: mass import: .*errors: 1, replies: 1200$/);
  assert.throws(() => importedOf(said('errors: 10, replies: 1200')), /errors: 10/);
});

test('an import without a final count has failed', () => {
  assert.throws(() => importedOf('All data transferred.\n'), /mass import: All data transferred/);
});
