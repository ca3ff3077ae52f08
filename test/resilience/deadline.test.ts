import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { DeadlinePassed, withinDeadline } from '../../src/resilience/deadline.ts';
import { idle } from '../fakes/idle.ts';

const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

test('once the promise has settled, no timer keeps the process', async () => {
  const before = timers();
  const [value, failure] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const waiting = [withinDeadline(value.promise, 600_000), withinDeadline(failure.promise, 600_000)];
  assert.equal(timers(), before + 2);
  value.resolve('ok');
  failure.reject(new Error('broken'));
  const [kept, broken] = await Promise.allSettled(waiting);
  assert.deepEqual(kept, { status: 'fulfilled', value: 'ok' });
  assert.ok(broken?.status === 'rejected' && broken.reason.message === 'broken');
  assert.equal(timers(), before);
});

test('past the deadline the wait ends, and the promise’s later rejection is nobody’s crash', async () => {
  const late = Promise.withResolvers<string>();
  await assert.rejects(
    withinDeadline(late.promise, 5),
    (error) => error instanceof DeadlinePassed && error.message === 'no answer within 5 ms',
  );
  late.reject(new Error('too late'));
  await idle();
});

test('a deadline already passed still takes what has settled', async () => {
  assert.equal(await withinDeadline(Promise.resolve('ok'), -10), 'ok');
  await assert.rejects(withinDeadline(new Promise(() => undefined), -10), DeadlinePassed);
});

test('after a blocked loop, a reply that lies ready to be read counts', async () => {
  // From here the timers come before everything else.
  await turn();
  const reply = turn('ok');
  const waiting = withinDeadline(reply, 1);
  const untilMs = performance.now() + 5;
  while (performance.now() < untilMs);
  assert.equal(await waiting, 'ok');
});
