import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endOf } from '../../../loadtest/freshness/load.ts';

const answer = (status: number, headers: object, body = '') =>
  endOf({ kind: 'answer', status, headers: { ...headers }, bytes: body.length, body });

test('a search is refused with the time to come again; every other end without a page is an error', () => {
  const busy = '{"status":503,"code":"busy"}';
  assert.deepEqual(answer(503, { 'retry-after': '1' }, busy), { end: '503 busy', isRefused: true });
  assert.deepEqual(answer(503, {}, busy), { end: '503 busy', isRefused: false });
  assert.deepEqual(answer(504, { 'retry-after': '1' }), { end: '504 without a code', isRefused: false });
  assert.deepEqual(endOf({ kind: 'hung' }), { end: 'hung', isRefused: false });
  assert.deepEqual(endOf({ kind: 'broken', why: 'ECONNRESET', isIdleClose: false }), {
    end: 'ECONNRESET',
    isRefused: false,
  });
});
