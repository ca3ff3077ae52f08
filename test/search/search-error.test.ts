import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeadlinePassed } from '../../src/resilience/deadline.ts';
import { SHED_REASONS, Shed } from '../../src/resilience/shed.ts';
import { EngineError, type EngineErrorCode } from '../../src/search/engine.ts';
import { forwardStatus, SearchError, type SearchErrorCode, toSearchError } from '../../src/search/search-error.ts';

const BREAKER_RETRY_MS = 7_777;

function failureOf(error: unknown): SearchError {
  const failure = toSearchError(error, () => BREAKER_RETRY_MS);
  assert.ok(failure instanceof SearchError, String(failure));
  return failure;
}

const STATUSES: Readonly<Record<SearchErrorCode, 429 | 502 | 503 | 504>> = {
  busy: 503,
  'over-budget': 429,
  overloaded: 503,
  'engine-open': 503,
  'engine-unavailable': 503,
  'engine-deadline': 504,
  'engine-rejected': 502,
};

const ENGINE_CODES: Readonly<Record<EngineErrorCode, SearchErrorCode>> = {
  'engine-unavailable': 'engine-unavailable',
  'engine-overloaded': 'overloaded',
  'engine-timeout': 'engine-deadline',
  'engine-rejected': 'engine-rejected',
};

const SHED = [...Object.keys(SHED_REASONS), 'left'] as readonly Shed['why'][];

test('every error code has the status that an upstream request would have had', () => {
  for (const [code, status] of Object.entries(STATUSES)) {
    assert.equal(forwardStatus(code as SearchErrorCode), status, code);
  }
});

test('every error of the engine has its code', () => {
  for (const [from, to] of Object.entries(ENGINE_CODES)) {
    assert.equal(failureOf(new EngineError(from as EngineErrorCode, 'x')).code, to, from);
  }
});

test('the engine’s own text is in the cause and never in the message', () => {
  const words = 'agent 10.1.2.3:9312: unknown local index goods_main';
  for (const code of Object.keys(ENGINE_CODES)) {
    const cause = new EngineError(code as EngineErrorCode, words);
    const failure = failureOf(cause);
    assert.equal(failure.cause, cause);
    for (const word of words.split(/[ :]+/)) {
      if (word.length > 5) assert.ok(!failure.message.includes(word), `${code}: ${failure.message}`);
    }
    assert.match(failure.message, /^the engine [a-z ]+$/);
  }
});

test('a passed deadline becomes engine-deadline, with a retry after two seconds', () => {
  const failure = failureOf(new DeadlinePassed(400));
  assert.deepEqual([failure.code, failure.retryAfterMs], ['engine-deadline', 2000]);
  assert.ok(!failure.message.includes('400'));
});

test('an open breaker gives the time of its next trial; every other shed reason is overloaded', () => {
  for (const why of SHED) {
    const { code, retryAfterMs } = failureOf(new Shed(why));
    const expected = why === 'breaker-open' ? ['engine-open', BREAKER_RETRY_MS] : ['overloaded', 1000];
    assert.deepEqual([code, retryAfterMs], expected, why);
  }
});

test('a bug and a SearchError are passed through unchanged', () => {
  const bug = new TypeError('undefined is not a function');
  assert.equal(
    toSearchError(bug, () => 0),
    bug,
  );
  const named = new SearchError('engine-open', 'x', 5);
  assert.equal(
    toSearchError(named, () => 0),
    named,
  );
});
