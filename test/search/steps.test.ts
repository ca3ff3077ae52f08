import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MISS_REASONS, type MissReason } from '../../src/cache/events.ts';
import type { Lookup } from '../../src/cache/tiers.ts';
import { forwarded, missReason } from '../../src/search/read-path.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';

const missed = (reason: MissReason): Lookup => ({ kind: 'missed', reason });
const failing: Lookup = { kind: 'found', entry: entryOf(createFakeClock()), freshness: 'failing' };
const why = (lookup: Lookup): string => {
  const step = forwarded(lookup);
  return step.kind === 'forward' ? step.why : step.kind;
};

test('a tier that had an entry it may not serve was stale, one that had none was a uri-miss', () => {
  const stale: readonly MissReason[] = ['lapsed', 'flushed', 'suppressed'];
  for (const reason of MISS_REASONS) {
    const expected = reason === 'bypass' ? 'bypass' : stale.includes(reason) ? 'stale' : 'uri-miss';
    assert.equal(why(missed(reason)), expected, reason);
  }
  assert.equal(why(failing), 'stale');
});

test('what L1 remembers of a key is the reason when L2 has never seen it', () => {
  for (const reason of ['lapsed', 'flushed', 'suppressed'] as const) {
    assert.equal(missReason(missed(reason), missed('unseen'), false), reason);
    assert.equal(missReason(missed(reason), undefined, false), reason);
  }
  assert.equal(missReason(failing, missed('unseen'), false), 'lapsed');
  assert.equal(missReason(failing, undefined, false), 'lapsed');
});

test('what L2 says is the reason whatever L1 remembers', () => {
  for (const reason of MISS_REASONS) {
    if (reason === 'unseen') continue;
    assert.equal(missReason(missed('lapsed'), missed(reason), false), reason);
    assert.equal(missReason(missed('unseen'), missed(reason), true), reason);
  }
  assert.equal(missReason(missed('flushed'), failing, false), 'lapsed');
});

test('a key is not-storable only when nobody has seen it and its last page could not be stored', () => {
  assert.equal(missReason(missed('unseen'), missed('unseen'), true), 'not-storable');
  assert.equal(missReason(missed('unseen'), undefined, true), 'not-storable');
  assert.equal(missReason(missed('unseen'), missed('unseen'), false), 'unseen');
  assert.equal(missReason(missed('lapsed'), missed('unseen'), true), 'lapsed');
});
