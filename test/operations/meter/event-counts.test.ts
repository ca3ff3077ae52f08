import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DURATION_BOUNDS_MS } from '../../../src/operations/meter/figures.ts';
import { createMeter, meterEvents } from '../../../src/operations/meter/meter.ts';
import { createFakeClock } from '../../fakes/clock.ts';

const LEVELS = { inFlight: 0, queued: 0, maxConcurrent: 4, ceiling: 8, breaker: 'closed' } as const;

/** The meters of two domains, with their observers. */
function counting() {
  const meterOf = () => createMeter({ buckets: 1, engine: () => LEVELS, clock: createFakeClock() });
  const meters = { goods: meterOf(), auto: meterOf() };
  return {
    ...meterEvents(new Map(Object.entries(meters))),
    reading: (domain: keyof typeof meters) => meters[domain].counts(),
  };
}

const read = (result: 'value' | 'absent' | 'store-slow' | 'store-down', durationMs: number) =>
  ({ kind: 'command', operation: 'read', result, durationMs }) as const;

test('reads of the store are counted by result, and by duration when they were sent and waited for', () => {
  const { observeStore, reading } = counting();
  observeStore('goods', read('value', 0.3));
  observeStore('goods', read('absent', 0.3));
  observeStore('goods', read('store-slow', 51));
  observeStore('goods', read('store-down', 0));
  observeStore('goods', { kind: 'command', operation: 'write', result: 'stored', durationMs: 1 });
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

test('permits are counted with their wait, and refusals by their reason', () => {
  const { observeGuard, reading } = counting();
  observeGuard('goods', { kind: 'permit', target: 'goods', queuedMs: 5 });
  observeGuard('goods', { kind: 'permit', target: 'goods', queuedMs: 15 });
  observeGuard('goods', { kind: 'shed', target: 'goods', why: 'queue-expired' });
  assert.deepEqual(reading('goods').permits, { count: 2, waitedMs: 20 });
  assert.deepEqual(reading('goods').shed, { 'queue-expired': 1 });
});

test('pages are those of L2, and misses are counted by reason', () => {
  const { observeSearch, reading } = counting();
  const domain = 'goods';
  observeSearch({ kind: 'stored', domain, tier: 'l1', bytes: 5_000_000 });
  observeSearch({ kind: 'stored', domain, tier: 'l2', bytes: 4000 });
  observeSearch({ kind: 'stored', domain, tier: 'l2', bytes: 200_000 });
  observeSearch({ kind: 'miss', domain, reason: 'expired' });
  const { pages, misses } = reading('goods');
  assert.deepEqual(pages, { count: 2, bytes: 204_000, big: 1, largestBytes: 200_000 });
  assert.deepEqual(misses, { expired: 1 });
});

test('stores that belong to no domain are not counted, nor are the events of an unknown domain', () => {
  const { observeSearch, observeStore, reading } = counting();
  for (const name of ['control', 'counters']) observeStore(name, read('value', 1));
  observeSearch({ kind: 'miss', domain: 'none', reason: 'unseen' });
  for (const domain of ['goods', 'auto'] as const) {
    assert.deepEqual([reading(domain).reads, reading(domain).misses], [{}, {}]);
  }
});

test('a reading does not change when more is counted', () => {
  const { observeStore, observeGuard, reading } = counting();
  const before = reading('goods');
  observeStore('goods', read('value', 1));
  observeGuard('goods', { kind: 'permit', target: 'goods', queuedMs: 5 });
  assert.deepEqual(before, counting().reading('goods'));
});

test('audits and pages that the feed made stale are counted; a change of a document ends the count of stale answers without one', () => {
  const { observeSearch, observeChanges, reading } = counting();
  const domain = 'goods';
  for (const result of ['equal', 'left', 'facet', 'entered'] as const) observeSearch({ kind: 'audit', domain, result });
  assert.deepEqual(reading('goods').audits, { equal: 1, left: 1, facet: 1, entered: 1 });
  assert.equal(reading('goods').staleSinceChange, 2);
  observeChanges({ kind: 'page-changed', domain, why: 'entered' });
  assert.equal(reading('goods').staleSinceChange, 2);
  observeChanges({ kind: 'changes-applied', domain, changes: 1, lagMs: 3 });
  const { staleSinceChange, changedPages } = reading('goods');
  assert.deepEqual({ staleSinceChange, changedPages }, { staleSinceChange: 0, changedPages: { entered: 1 } });
});
