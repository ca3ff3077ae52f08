import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPermit, type Permit, Refused } from '../../src/resilience/permit.ts';
import { createFakeClock } from '../fakes/clock.ts';

function permitOf(maxConcurrent: number, maxQueued: number): { permit: Permit; deadlineAtMs: number } {
  const clock = createFakeClock();
  return { permit: createPermit({ maxConcurrent, maxQueued, clock }), deadlineAtMs: clock.monotonicMs() + 500 };
}

const why = (error: unknown): string => (error instanceof Refused ? error.why : String(error));
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('no more run at once than allowed', async () => {
  const { permit, deadlineAtMs } = permitOf(2, 10);
  let running = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 12 }, async () => {
      const release = await permit.acquire({ deadlineAtMs });
      running += 1;
      most = Math.max(most, running);
      await tick();
      running -= 1;
      release();
    }),
  );
  assert.equal(most, 2);
  assert.deepEqual([permit.inFlight(), permit.queued()], [0, 0]);
});

test('the newest waiter goes first', async () => {
  const { permit, deadlineAtMs } = permitOf(1, 10);
  const first = await permit.acquire({ deadlineAtMs });
  const order: number[] = [];
  const waiters = [1, 2, 3].map(async (n) => {
    const release = await permit.acquire({ deadlineAtMs });
    order.push(n);
    release();
  });
  first();
  await Promise.all(waiters);
  assert.deepEqual(order, [3, 2, 1]);
});

test('in a full queue the oldest makes room for the newest', async () => {
  const { permit, deadlineAtMs } = permitOf(1, 2);
  const first = await permit.acquire({ deadlineAtMs });
  const waiters = [1, 2, 3].map((n) =>
    permit.acquire({ deadlineAtMs }).then(
      (release) => {
        release();
        return `${n} ran`;
      },
      (error) => `${n} ${why(error)}`,
    ),
  );
  await tick();
  assert.equal(permit.queued(), 2);
  first();
  assert.deepEqual(await Promise.all(waiters), ['1 queue-full', '2 ran', '3 ran']);
});

test('without a queue, whoever finds no place is refused at once', async () => {
  const { permit, deadlineAtMs } = permitOf(1, 0);
  await permit.acquire({ deadlineAtMs });
  await assert.rejects(permit.acquire({ deadlineAtMs }), (error) => why(error) === 'queue-full');
});

test('a waiter past its deadline leaves the queue by itself', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { permit, deadlineAtMs } = permitOf(1, 2);
  const release = await permit.acquire({ deadlineAtMs });
  const waiting = assert.rejects(permit.acquire({ deadlineAtMs }), (error) => why(error) === 'queue-expired');
  t.mock.timers.tick(500);
  await waiting;
  assert.equal(permit.queued(), 0);
  release();
  assert.equal(permit.inFlight(), 0);
});

test('who comes with its deadline passed is not queued', async () => {
  const { permit, deadlineAtMs } = permitOf(1, 2);
  await permit.acquire({ deadlineAtMs });
  await assert.rejects(permit.acquire({ deadlineAtMs: deadlineAtMs - 500 }), (error) => why(error) === 'queue-expired');
});

test('an abort leaves the queue, and takes no place when it was there before', async () => {
  const { permit, deadlineAtMs } = permitOf(1, 2);
  const release = await permit.acquire({ deadlineAtMs });
  const leaving = new AbortController();
  const waiting = assert.rejects(permit.acquire({ deadlineAtMs, signal: leaving.signal }), (e) => why(e) === 'left');
  leaving.abort();
  await waiting;
  assert.equal(permit.queued(), 0);
  release();
  await assert.rejects(permit.acquire({ deadlineAtMs, signal: leaving.signal }), (error) => why(error) === 'left');
  assert.equal(permit.inFlight(), 0);
});

test('releasing twice gives back one place', async () => {
  const { permit, deadlineAtMs } = permitOf(2, 0);
  const [a] = [await permit.acquire({ deadlineAtMs }), await permit.acquire({ deadlineAtMs })];
  a();
  a();
  assert.equal(permit.inFlight(), 1);
});
