import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MISS_REASONS, type MissReason } from '../../src/cache/events.ts';
import type { Lookup } from '../../src/cache/tiers.ts';
import { forwarded, missReason } from '../../src/search/read-path.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';

const missed = (reason: MissReason): Lookup => ({ kind: 'missed', reason });
const ifError: Lookup = { kind: 'found', entry: entryOf(createFakeClock()), freshness: 'stale-if-error' };
const reasonOf = (l1: Lookup, l2: Lookup | undefined, wasNotStorable: boolean): MissReason =>
  missReason(l2 === undefined ? { l1 } : { l1, l2 }, wasNotStorable);
const why = (lookup: Lookup): string => {
  const step = forwarded(lookup);
  return step.kind === 'forward' ? step.why : step.kind;
};

test('a tier with an entry that it may not serve reports stale, a tier without an entry reports uri-miss', () => {
  const stale: readonly MissReason[] = ['expired', 'flushed', 'suppressed', 'deleted'];
  for (const reason of MISS_REASONS) {
    const expected = reason === 'bypass' ? 'bypass' : stale.includes(reason) ? 'stale' : 'uri-miss';
    assert.equal(why(missed(reason)), expected, reason);
  }
  assert.equal(why(ifError), 'stale');
});

test('when L2 has never seen a key, the reason in L1 is the miss reason', () => {
  for (const reason of ['expired', 'flushed', 'suppressed'] as const) {
    assert.equal(reasonOf(missed(reason), missed('unseen'), false), reason);
    assert.equal(reasonOf(missed(reason), undefined, false), reason);
  }
  assert.equal(reasonOf(ifError, missed('unseen'), false), 'expired');
  assert.equal(reasonOf(ifError, undefined, false), 'expired');
});

test('when L2 has a reason, it is the miss reason whatever L1 says', () => {
  for (const reason of MISS_REASONS) {
    if (reason === 'unseen') continue;
    assert.equal(reasonOf(missed('expired'), missed(reason), false), reason);
    assert.equal(reasonOf(missed('unseen'), missed(reason), true), reason);
  }
  assert.equal(reasonOf(missed('flushed'), ifError, false), 'expired');
});

test('a key is not-storable only when no tier has seen it and its last page could not be stored', () => {
  assert.equal(reasonOf(missed('unseen'), missed('unseen'), true), 'not-storable');
  assert.equal(reasonOf(missed('unseen'), undefined, true), 'not-storable');
  assert.equal(reasonOf(missed('unseen'), missed('unseen'), false), 'unseen');
  assert.equal(reasonOf(missed('expired'), missed('unseen'), true), 'expired');
});
