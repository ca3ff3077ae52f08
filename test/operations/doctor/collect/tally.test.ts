import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTally } from '../../../../src/operations/doctor/collect/tally.ts';
import { DURATION_BOUNDS_MS } from '../../../../src/operations/meter/figures.ts';

const tallied = () => createTally({ domains: ['goods', 'auto'] });
const read = (result: 'value' | 'absent' | 'store-slow' | 'store-down', durationMs: number) =>
  ({ kind: 'command', operation: 'read', node: 'n', result, durationMs }) as const;

test('reads of the store are counted by result, and by duration when they were sent and waited for', () => {
  const { note, read: reading } = tallied();
  note.store('goods', read('value', 0.3));
  note.store('goods', read('absent', 0.3));
  note.store('goods', read('store-slow', 51));
  note.store('goods', read('store-down', 0));
  note.store('goods', { kind: 'command', operation: 'write', node: 'n', result: 'stored', durationMs: 1 });
  const { reads, readDurations } = reading('goods');
  assert.deepEqual(reads, { value: 1, absent: 1, 'store-slow': 1, 'store-down': 1 });
  assert.equal(readDurations.length, DURATION_BOUNDS_MS.length + 1);
  assert.equal(readDurations[DURATION_BOUNDS_MS.indexOf(0.5)], 2);
  assert.equal(readDurations[DURATION_BOUNDS_MS.indexOf(60)], 1);
  assert.equal(
    readDurations.reduce((sum, count) => sum + count, 0),
    3,
  );
});

test('a breaker is counted when it opens, by its domain and not by its endpoint', () => {
  const { note, read: reading } = tallied();
  for (const state of ['open', 'half-open', 'open', 'closed'] as const) {
    note.guard('goods', { kind: 'breaker', target: '10.0.0.1:9306', state });
    note.store('auto', { kind: 'breaker', node: '10.0.0.2:6379', state });
  }
  assert.deepEqual([reading('goods').engineOpenings, reading('goods').storeOpenings], [2, 0]);
  assert.deepEqual([reading('auto').engineOpenings, reading('auto').storeOpenings], [0, 2]);
});

test('permits are counted with their wait, and refusals by their reason', () => {
  const { note, read: reading } = tallied();
  note.guard('goods', { kind: 'permit', target: 'goods', queuedMs: 5 });
  note.guard('goods', { kind: 'permit', target: 'goods', queuedMs: 15 });
  note.guard('goods', { kind: 'shed', target: 'goods', why: 'queue-expired' });
  assert.deepEqual(reading('goods').permits, { count: 2, waitedMs: 20 });
  assert.deepEqual(reading('goods').shed, { 'queue-expired': 1 });
});

test('pages are those of L2, and a page that is too large for both tiers is one page', () => {
  const { note, read: reading } = tallied();
  const domain = 'goods';
  note.search({ kind: 'stored', domain, tier: 'l1', bytes: 5_000_000 });
  note.search({ kind: 'stored', domain, tier: 'l2', bytes: 4000 });
  note.search({ kind: 'stored', domain, tier: 'l2', bytes: 200_000 });
  note.search({ kind: 'not-stored', domain, tier: 'l1', why: 'too-large' });
  note.search({ kind: 'not-stored', domain, tier: 'l2', why: 'too-large' });
  note.search({ kind: 'not-stored', domain, tier: 'l2', why: 'store-down' });
  note.search({ kind: 'miss', domain, reason: 'lapsed' });
  note.search({ kind: 'engine', domain, result: 'whole', late: true, durationMs: 900 });
  note.search({ kind: 'engine', domain, result: 'whole', late: false, durationMs: 9 });
  const { pages, notStored, misses, lateReplies } = reading(domain);
  assert.deepEqual(pages, { count: 2, bytes: 204_000, big: 1, largestBytes: 200_000 });
  assert.deepEqual(notStored, { 'too-large': 1, 'store-down': 1 });
  assert.deepEqual(misses, { lapsed: 1 });
  assert.equal(lateReplies, 1);
});

test('stores that belong to no domain are not counted, and an unknown domain has zeroes', () => {
  const { note, read: reading } = tallied();
  for (const name of ['control', 'counters']) note.store(name, read('value', 1));
  note.search({ kind: 'miss', domain: 'none', reason: 'unseen' });
  assert.deepEqual(reading('control'), reading('goods'));
  assert.deepEqual(reading('none').misses, {});
});

test('a reading does not change when more is counted', () => {
  const { note, read: reading } = tallied();
  const before = reading('goods');
  note.store('goods', read('value', 1));
  note.guard('goods', { kind: 'permit', target: 'goods', queuedMs: 5 });
  assert.deepEqual(before, tallied().read('goods'));
});
