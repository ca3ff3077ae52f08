import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Coding } from '../../src/cache/entry.ts';
import { createNegotiator, type Form } from '../../src/http/transport/content-coding.ts';

const cases: readonly [field: string | undefined, stored: Coding, form: Form, why: string][] = [
  [undefined, 'gzip', 'identity', 'a client that names no coding gets plain bytes'],
  [undefined, 'identity', 'stored', 'plain bytes pass through'],
  ['', 'gzip', 'identity', 'an empty field names none'],
  ['gzip, deflate, br, zstd', 'zstd', 'stored', 'a browser takes the stored coding'],
  ['GZIP', 'gzip', 'stored', 'codings are case-insensitive'],
  ['x-gzip', 'gzip', 'stored', 'x-gzip is gzip'],
  ['br', 'gzip', 'identity', 'identity needs no naming'],
  ['gzip;q=0', 'gzip', 'identity', 'weight zero forbids'],
  ['gzip;q=0.000, *', 'gzip', 'identity', 'a name outweighs the star'],
  ['*', 'zstd', 'stored', 'the star takes any'],
  ['gzip;q=0.5, identity', 'gzip', 'identity', 'the heavier one wins'],
  ['gzip;q=0.5, identity;q=0.5', 'gzip', 'stored', 'on a tie, the one that costs nothing'],
  ['gzip; q=0.1 , identity;q=0', 'gzip', 'stored', 'the only one left'],
  ['identity;q=0', 'gzip', 'none', 'nothing is left'],
  ['*;q=0', 'gzip', 'none', 'everything is forbidden'],
  ['*;q=0', 'identity', 'none', 'everything is forbidden, identity too'],
  ['br, *;q=0', 'gzip', 'none', 'only what we do not have'],
  ['*;q=0, identity;q=0.1', 'gzip', 'identity', 'identity by its name'],
  ['gzip;q=7', 'gzip', 'identity', 'a weight that cannot be read counts as not given'],
  ['gzip;q=abc, zstd', 'zstd', 'stored', 'a broken item does not spoil its neighbours'],
];

for (const [field, stored, form, why] of cases) {
  test(`${JSON.stringify(field)} over ${stored}: ${form}, ${why}`, () => {
    const negotiate = createNegotiator();
    assert.equal(negotiate(field, stored), form);
    assert.equal(negotiate(field, stored), form);
  });
}
