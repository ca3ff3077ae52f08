import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createConcurrencyLimit } from '../../../../loadtest/labs/peers/peer.ts';

test('at most the maximum number of tasks run at once, and the others start in arrival order', async () => {
  const turns = createConcurrencyLimit({ atOnce: 2, mostWaiting: 10 });
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const all = [0, 1, 2, 3].map((n) =>
    turns.run(() => {
      begun.push(n);
      return new Promise<void>((resolve) => ends.push(resolve));
    }),
  );
  await turn();
  assert.deepEqual(begun, [0, 1]);
  ends[1]?.();
  await turn();
  assert.deepEqual(begun, [0, 1, 2]);
  ends[0]?.();
  ends[2]?.();
  await turn();
  ends[3]?.();
  await Promise.all(all);
  assert.deepEqual(begun, [0, 1, 2, 3]);
});

test('a task that fails releases its slot', async () => {
  const turns = createConcurrencyLimit({ atOnce: 1, mostWaiting: 1 });
  const failing = turns.run(() => Promise.reject(new Error('no')));
  const next = turns.run(async () => 'yes');
  await assert.rejects(failing, /no/);
  assert.equal(await next, 'yes');
  assert.equal(await turns.run(async () => 'again'), 'again');
});

test('a task that finds the queue full is refused at once', async () => {
  const turns = createConcurrencyLimit({ atOnce: 1, mostWaiting: 1 });
  let end = (): void => {};
  const first = turns.run(() => new Promise<void>((resolve) => (end = resolve)));
  const second = turns.run(async () => {});
  await assert.rejects(
    turns.run(async () => {}),
    { reason: 'engine-overloaded' },
  );
  end();
  await Promise.all([first, second]);
});
