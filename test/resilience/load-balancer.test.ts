import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LearnedLimit } from '../../src/resilience/adaptive-limit.ts';
import { createRetryBudget } from '../../src/resilience/endpoints.ts';
import { SearchError } from '../../src/resilience/search-error.ts';
import { idle } from '../fakes/idle.ts';
import { pluck } from '../pluck.ts';
import { DEADLINE_MS, guardHarness, HARD_DEADLINE_MS, timedGuardHarness } from './harness.ts';

const task = () => ({ deadlineAtMs: Number.POSITIVE_INFINITY, priority: 'interactive' as const });

const LOST = { reason: 'engine-unavailable' };
const lose = async (): Promise<never> => Promise.reject(new SearchError('engine-unavailable', 'connection refused'));

test('after a lost connection another endpoint answers, and a retry is reported', async (t) => {
  const { run, events } = guardHarness(t, { endpoints: 2 });
  const asked: number[] = [];
  const answer = await run(async (endpoint) => {
    asked.push(endpoint);
    return asked.length === 1 ? lose() : 'ok';
  });
  assert.equal(answer, 'ok');
  assert.equal(new Set(asked).size, 2);
  assert.deepEqual(
    events.flatMap((event) => (event.kind === 'retry' ? [event.result] : [])),
    ['answered'],
  );
});

test('there is no second retry, and no retry without a lost connection', async (t) => {
  const { run } = guardHarness(t, { endpoints: 3 });
  let calls = 0;
  await assert.rejects(
    run(async () => {
      calls += 1;
      return lose();
    }),
    LOST,
  );
  assert.equal(calls, 2);
  await assert.rejects(
    run(async () => {
      calls += 1;
      throw new Error('too slow');
    }),
    /too slow/,
  );
  assert.equal(calls, 3);
});

test('when the retry budget is spent, the caller gets the first error', async (t) => {
  const { run, events } = guardHarness(t, { endpoints: 2, burst: 1 });
  let calls = 0;
  const losing = async (): Promise<never> => {
    calls += 1;
    return lose();
  };
  await assert.rejects(run(losing), LOST);
  await assert.rejects(run(losing), LOST);
  assert.equal(calls, 3);
  assert.deepEqual(
    events.flatMap((event) => (event.kind === 'retry' ? [event.result] : [])),
    ['failed', 'spent'],
  );
});

test('an endpoint that lost a connection is asked only when there is no other, until a probe answers', async (t) => {
  const { guard, run } = guardHarness(t, { endpoints: 2 });
  const asked = [0, 0];
  let dead = true;
  const half = async (endpoint: number): Promise<string> => {
    asked[endpoint] = (asked[endpoint] ?? 0) + 1;
    return dead && endpoint === 0 ? lose() : 'ok';
  };
  for (let i = 0; i < 12; i += 1) assert.equal(await run(half), 'ok');
  assert.deepEqual(asked, [1, 12]);
  assert.deepEqual([guard.balancer.state(), guard.troubled()], ['closed', false]);
  dead = false;
  guard.balancer.reportProbe(0, true);
  for (let i = 0; i < 12; i += 1) await run(half);
  assert.ok((asked[0] ?? 0) >= 5, 'it has its share again');
});

test('an endpoint whose probe failed is avoided before a search has to wait for it', async (t) => {
  const { guard, run } = guardHarness(t, { endpoints: 2 });
  guard.balancer.reportProbe(1, false);
  for (let i = 0; i < 6; i += 1) assert.equal(await run(async (endpoint) => endpoint), 0);
  guard.balancer.reportProbe(0, false);
  assert.equal(
    new Set(await Promise.all([1, 2].map(() => run(async (endpoint) => endpoint)))).size,
    2,
    'none is better',
  );
});

test('with one breaker open, the other endpoint takes the searches', async (t) => {
  const { guard, run } = guardHarness(t, { endpoints: 2 });
  const fails = async (endpoint: number): Promise<string> => {
    if (endpoint === 0) throw new Error('broken');
    return 'ok';
  };
  for (let i = 0; i < 12; i += 1) await run(fails).catch(() => undefined);
  assert.deepEqual(pluck(guard.balancer.list(), 'breaker'), ['open', 'closed']);
  assert.deepEqual([guard.balancer.state(), guard.balancer.refuses()], ['closed', false]);
  assert.equal(guard.balancer.retryAfterMs(), 0);
});

test('calls go to the least busy endpoint', async (t) => {
  const { run, guard } = guardHarness(t, { endpoints: 2 });
  const slow = Promise.withResolvers<string>();
  const first = run(() => slow.promise);
  await idle();
  const busy = guard.balancer.list().findIndex(({ inFlight }) => inFlight === 1);
  for (let i = 0; i < 4; i += 1) assert.equal(await run(async (endpoint) => endpoint), 1 - busy);
  slow.resolve('late');
  assert.equal(await first, 'late');
});

test('an endpoint that stalls stays busy past its deadline, and the other gets the searches', async (t) => {
  const { guard, run, pass } = timedGuardHarness(t, { endpoints: 2, maxConcurrent: 4, abortEndsWork: false });
  const stuck = (_: number, signal: AbortSignal): Promise<never> =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut'))));
  let stalled: number | undefined;
  const first = run((endpoint, signal) => {
    stalled = endpoint;
    return stuck(endpoint, signal);
  });
  const ended = assert.rejects(first, /cut/);
  // Past the deadline, then past the hard deadline: the call may still occupy the engine.
  for (const waitMs of [DEADLINE_MS + 50, HARD_DEADLINE_MS]) {
    await pass(waitMs);
    for (let i = 0; i < 6; i += 1) assert.notEqual(await run(async (endpoint) => endpoint), stalled);
  }
  await ended;
  assert.equal(guard.balancer.list()[stalled ?? 0]?.inFlight, 1);
  await pass(HARD_DEADLINE_MS);
  assert.equal(guard.balancer.list()[stalled ?? 0]?.inFlight, 0);
});

test('calls to an endpoint that hangs release their slots to the other and do not lower the limit', async (t) => {
  const results: string[] = [];
  const limit: LearnedLimit = { current: () => 4, sample: ({ result }) => results.push(result) };
  const { guard, limiter, run, pass } = timedGuardHarness(t, {
    endpoints: 2,
    maxConcurrent: 4,
    abortEndsWork: false,
    limit,
  });
  const hangs = 0;
  const call = (endpoint: number, signal: AbortSignal): Promise<string> =>
    endpoint === hangs
      ? new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('cut'))))
      : Promise.resolve('ok');
  const both = await Promise.all([guard.admit(task()), guard.admit(task()), guard.admit(task())]);
  const ends = both.map(({ run }) => run(call));
  const settled = Promise.allSettled(ends);
  await pass(DEADLINE_MS - 50);
  assert.ok(limiter.inFlight() > 0, 'a call waits for the endpoint that hangs');
  await pass(100);
  assert.deepEqual([limiter.inFlight(), guard.troubled()], [0, false]);
  const again = await Promise.all(Array.from({ length: 8 }, () => run(call)));
  assert.deepEqual(new Set(again), new Set(['ok']));
  assert.equal(results.includes('lost'), false, results.join());
  await pass(2 * HARD_DEADLINE_MS);
  await settled;
  assert.deepEqual(pluck(guard.balancer.list(), 'inFlight'), [0, 0]);
});

test('when every endpoint is late, the calls keep their slots and count as lost for the limit', async (t) => {
  const results: string[] = [];
  const limit: LearnedLimit = { current: () => 4, sample: ({ result }) => results.push(result) };
  const { guard, limiter, pass } = timedGuardHarness(t, { endpoints: 2, maxConcurrent: 4, limit });
  const turns = await Promise.all([1, 2, 3, 4].map(() => guard.admit(task())));
  const settled = Promise.allSettled(turns.map(({ run }) => run(() => new Promise<never>(() => undefined))));
  await pass(DEADLINE_MS + 50);
  assert.deepEqual([limiter.inFlight(), guard.troubled()], [4, true]);
  assert.ok(results.includes('lost'), results.join());
  void settled;
});

test('retry budget: once the burst is spent, retries stay within their share of requests', () => {
  const budget = createRetryBudget({ share: 0.1, burst: 10 });
  let retries = 0;
  for (let request = 0; request < 1000; request += 1) {
    budget.deposit();
    if (budget.withdraw()) retries += 1;
  }
  assert.ok(retries >= 100 && retries <= 111, String(retries));
});

test('retry budget: exactly the tenth request pays for a retry', () => {
  const budget = createRetryBudget({ share: 0.1, burst: 1 });
  assert.ok(budget.withdraw());
  for (let request = 1; request < 10; request += 1) {
    budget.deposit();
    assert.ok(!budget.withdraw(), `after ${request}`);
  }
  budget.deposit();
  assert.ok(budget.withdraw());
});

test('retry budget: deposits save up no more than the burst', () => {
  const budget = createRetryBudget({ share: 0.5, burst: 3 });
  for (let request = 0; request < 100; request += 1) budget.deposit();
  assert.deepEqual(
    [1, 2, 3, 4].map(() => budget.withdraw()),
    [true, true, true, false],
  );
});
