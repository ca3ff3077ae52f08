import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEADLINE_MS, guardRig, HARD_DEADLINE_MS, Lost } from './guard-rig.ts';

const lose = async (): Promise<never> => Promise.reject(new Lost('connection refused'));

test('a lost connection is answered by another endpoint, and said', async (t) => {
  const { run, events } = guardRig(t, { endpoints: 2 });
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

test('nothing is asked a third time, and an error that proves no lost connection not a second', async (t) => {
  const { run } = guardRig(t, { endpoints: 3 });
  let calls = 0;
  await assert.rejects(
    run(async () => {
      calls += 1;
      return lose();
    }),
    Lost,
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

test('retries are paid for: when the budget is spent the first error stands', async (t) => {
  const { run, events } = guardRig(t, { endpoints: 2, burst: 1 });
  let calls = 0;
  const losing = async (): Promise<never> => {
    calls += 1;
    return lose();
  };
  await assert.rejects(run(losing), Lost);
  await assert.rejects(run(losing), Lost);
  assert.equal(calls, 3);
  assert.deepEqual(
    events.flatMap((event) => (event.kind === 'retry' ? [event.result] : [])),
    ['failed', 'spent'],
  );
});

test('one endpoint with an open breaker is passed over; the domain is not open', async (t) => {
  const { guard, run } = guardRig(t, { endpoints: 2 });
  const halfDead = async (endpoint: number): Promise<string> => (endpoint === 0 ? lose() : 'ok');
  for (let i = 0; i < 12; i += 1) assert.equal(await run(halfDead), 'ok');
  assert.deepEqual(
    guard.endpoints.list().map(({ breaker }) => breaker),
    ['open', 'closed'],
  );
  assert.equal(guard.endpoints.state(), 'closed');
  assert.equal(guard.endpoints.refuses(), false);
  assert.equal(guard.endpoints.retryAfterMs(), 0);
  assert.equal(guard.troubled(), false);
});

test('calls go to the least busy endpoint', async (t) => {
  const { run, guard } = guardRig(t, { endpoints: 2 });
  const slow = Promise.withResolvers<string>();
  const first = run(() => slow.promise);
  await new Promise((resolve) => setImmediate(resolve));
  const busy = guard.endpoints.list().findIndex(({ inFlight }) => inFlight === 1);
  for (let i = 0; i < 4; i += 1) assert.equal(await run(async (endpoint) => endpoint), 1 - busy);
  slow.resolve('late');
  assert.equal(await first, 'late');
});

test('an endpoint that stalls stays busy past its deadline, and the other gets the searches', async (t) => {
  const { guard, run } = guardRig(t, { endpoints: 2, maxConcurrent: 4, abortEndsWork: false });
  const stuck = (_: number, signal: AbortSignal): Promise<never> =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut'))));
  let stalled: number | undefined;
  const first = run((endpoint, signal) => {
    stalled = endpoint;
    return stuck(endpoint, signal);
  });
  const ended = assert.rejects(first, /cut/);
  // Past the deadline, then past the hard one: the engine works on, as far as anybody knows.
  for (const waitMs of [DEADLINE_MS + 50, HARD_DEADLINE_MS]) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    for (let i = 0; i < 6; i += 1) assert.notEqual(await run(async (endpoint) => endpoint), stalled);
  }
  await ended;
  assert.equal(guard.endpoints.list()[stalled ?? 0]?.inFlight, 1);
  await new Promise((resolve) => setTimeout(resolve, HARD_DEADLINE_MS));
  assert.equal(guard.endpoints.list()[stalled ?? 0]?.inFlight, 0);
});
