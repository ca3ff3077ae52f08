import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REASONS, type Reason, reasonsBy, SearchError } from '../../src/resilience/search-error.ts';

/** Code, status and milliseconds until a retry of every reason. */
const TOLD: Readonly<Record<Reason, readonly [code: string, status: number, retryAfterMs: number]>> = {
  'over-budget': ['over-budget', 429, 10_000],
  crowded: ['overloaded', 503, 1000],
  leased: ['overloaded', 503, 1000],
  left: ['overloaded', 503, 1000],
  'breaker-open': ['engine-open', 503, 2000],
  stalled: ['overloaded', 503, 1000],
  'queue-full': ['overloaded', 503, 1000],
  'queue-expired': ['overloaded', 503, 1000],
  'engine-deadline': ['engine-deadline', 504, 2000],
  'engine-unavailable': ['engine-unavailable', 503, 2000],
  'engine-overloaded': ['overloaded', 503, 2000],
  'engine-timeout': ['engine-deadline', 504, 2000],
  'engine-rejected': ['engine-rejected', 502, 2000],
  busy: ['busy', 503, 1000],
};

test('every reason has the code, the retry time and the status that an upstream request would have had', () => {
  for (const [reason, told] of Object.entries(TOLD) as [Reason, (typeof TOLD)[Reason]][]) {
    const { code, retryAfterMs } = new SearchError(reason);
    assert.deepEqual([code, REASONS[reason].status, retryAfterMs], told, reason);
  }
});

test('a search that was shed before the engine, and no other, costs its client nothing', () => {
  const free = (Object.keys(REASONS) as Reason[]).filter((reason) => !REASONS[reason].isCharged);
  assert.deepEqual(
    free.filter((reason) => reason !== 'over-budget'),
    (Object.keys(REASONS) as Reason[]).filter((reason) =>
      ['overloaded', 'engine-open', 'busy'].includes(TOLD[reason][0]),
    ),
  );
});

test('the engine’s own text is in the message, and the detail for clients is fixed', () => {
  const words = 'agent 10.1.2.3:9312: unknown local index goods_main';
  for (const reason of reasonsBy('engine')) {
    assert.equal(new SearchError(reason, words).message, words);
    assert.match(REASONS[reason].detail, /^the engine [a-z ]+$/);
  }
});
