import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Breaker, type BreakerState, createBreaker } from '../../src/resilience/endpoints.ts';
import { createFakeClock, type FakeClock } from '../fakes/clock.ts';

interface Harness {
  readonly breaker: Breaker;
  readonly clock: FakeClock;
  readonly states: BreakerState[];
  /** Moves both the breaker's clock and opossum's timer. */
  readonly pass: (ms: number) => void;
  readonly open: () => Promise<void>;
}

const RESET_MS = 1000;
const fails = async (): Promise<never> => Promise.reject(new Error('down'));
const never = async (): Promise<never> => assert.fail('must not be asked');

function harness(t: TestContext, random = 0.5): Harness {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  const states: BreakerState[] = [];
  const breaker = createBreaker({
    name: 'engine',
    errorThresholdPercent: 50,
    volumeThreshold: 4,
    windowMs: 10_000,
    resetMs: RESET_MS,
    monotonicMs: clock.monotonicMs,
    random: () => random,
    onState: (state) => states.push(state),
  });
  t.after(breaker.shutdown);
  const pass = (ms: number): void => {
    clock.advance(ms);
    t.mock.timers.tick(ms);
  };
  const open = async (): Promise<void> => {
    for (let i = 0; i < 4; i += 1) await assert.rejects(breaker.fire(fails), /down/);
  };
  return { breaker, clock, states, pass, open };
}

test('a half-open breaker refuses calls while its one probe is in flight', async (t) => {
  const { breaker, pass, open } = harness(t);
  await open();
  assert.equal(breaker.refuses(), true);
  pass(RESET_MS);
  assert.deepEqual([breaker.state(), breaker.refuses()], ['half-open', false]);
  const reply = Promise.withResolvers<string>();
  const probe = breaker.fire(() => reply.promise);
  assert.deepEqual([breaker.state(), breaker.refuses()], ['half-open', true]);
  await assert.rejects(breaker.fire(never), { reason: 'breaker-open' });
  assert.equal(breaker.refuses(), true);
  reply.resolve('ok');
  assert.equal(await probe, 'ok');
  assert.deepEqual([breaker.state(), breaker.refuses()], ['closed', false]);
});

test('after a failed probe the next half-open state takes a probe again', async (t) => {
  const { breaker, pass, open, states } = harness(t);
  await open();
  pass(RESET_MS);
  await assert.rejects(breaker.fire(fails), /down/);
  assert.deepEqual([breaker.state(), breaker.refuses()], ['open', true]);
  pass(RESET_MS);
  assert.deepEqual([breaker.state(), breaker.refuses()], ['half-open', false]);
  assert.equal(await breaker.fire(async () => 'ok'), 'ok');
  assert.deepEqual(states, ['open', 'half-open', 'open', 'half-open', 'closed']);
});

test('a breaker that a probe closed opens and takes a probe like a new one', async (t) => {
  const { breaker, pass, open } = harness(t);
  await open();
  pass(RESET_MS);
  await breaker.fire(async () => 'ok');
  for (let i = 0; breaker.state() === 'closed' && i < 20; i += 1) await breaker.fire(fails).catch(() => undefined);
  assert.equal(breaker.state(), 'open');
  pass(RESET_MS);
  assert.deepEqual([breaker.state(), breaker.refuses()], ['half-open', false]);
});

test('a breaker closed from outside takes calls again, with empty counts and without its old reset', async (t) => {
  const { breaker, pass, open, states } = harness(t);
  await open();
  breaker.close();
  assert.deepEqual([breaker.state(), breaker.refuses(), breaker.retryAfterMs()], ['closed', false, 0]);
  for (let i = 0; i < 3; i += 1) await assert.rejects(breaker.fire(fails), /down/);
  assert.equal(breaker.state(), 'closed', 'three of the four failures that open it');
  pass(RESET_MS);
  assert.equal(breaker.state(), 'closed');
  await assert.rejects(breaker.fire(fails), /down/);
  assert.deepEqual(states, ['open', 'closed', 'open']);
  pass(RESET_MS);
  assert.equal(breaker.state(), 'half-open', 'the new circuit resets like the first');
});

test('calls from before it was closed from outside get their results and are not counted', async (t) => {
  const { breaker, open, states } = harness(t);
  const replies = Array.from({ length: 8 }, () => Promise.withResolvers<never>());
  const early = replies.map(({ promise }) => breaker.fire(() => promise));
  const rejected = Promise.all(early.map((call) => assert.rejects(call, /late/)));
  // With eight calls in flight it takes more than eight failures.
  for (let i = 0; breaker.state() === 'closed' && i < 20; i += 1) await breaker.fire(fails).catch(() => undefined);
  assert.equal(breaker.state(), 'open');
  breaker.close();
  for (const { reject } of replies) reject(new Error('late'));
  await rejected;
  assert.equal(breaker.state(), 'closed');
  await open();
  assert.deepEqual(states, ['open', 'closed', 'open']);
});

test('a breaker closed from outside during its trial is not opened again by the trial', async (t) => {
  const { breaker, pass, open, states } = harness(t);
  await open();
  pass(RESET_MS);
  const reply = Promise.withResolvers<never>();
  const trial = assert.rejects(
    breaker.fire(() => reply.promise),
    /late/,
  );
  breaker.close();
  assert.deepEqual([breaker.state(), breaker.refuses()], ['closed', false]);
  reply.reject(new Error('late'));
  await trial;
  assert.equal(await breaker.fire(async () => 'ok'), 'ok');
  assert.deepEqual(states, ['open', 'half-open', 'closed']);
});

test('a breaker closed by its trial has empty counts too', async (t) => {
  const { breaker, pass, open } = harness(t);
  await open();
  pass(RESET_MS);
  await breaker.fire(async () => 'ok');
  for (let i = 0; i < 3; i += 1) await assert.rejects(breaker.fire(fails), /down/);
  assert.equal(breaker.state(), 'closed');
});

test('closing from outside does nothing to a closed breaker or to one that was shut down', async (t) => {
  const { breaker, open, states } = harness(t);
  breaker.close();
  assert.deepEqual(states, []);
  await open();
  breaker.shutdown();
  breaker.close();
  assert.deepEqual(states, ['open']);
});

test('the time to a probe is spread by ± a fifth, and `retryAfterMs` gives it', async (t) => {
  for (const [random, resetMs] of [
    [0, 800],
    [0.5, 1000],
    [1, 1200],
  ] as const) {
    await t.test(`random ${random}: ${resetMs} ms`, async (each) => {
      const { breaker, pass, open } = harness(each, random);
      assert.equal(breaker.retryAfterMs(), 0);
      await open();
      assert.equal(breaker.retryAfterMs(), resetMs);
      pass(resetMs - 1);
      assert.deepEqual([breaker.state(), breaker.retryAfterMs()], ['open', 1]);
      pass(1);
      assert.deepEqual([breaker.state(), breaker.retryAfterMs()], ['half-open', 0]);
    });
  }
});
