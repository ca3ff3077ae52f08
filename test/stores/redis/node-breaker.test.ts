import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { createNodeBreaker, type Permit } from '../../../src/stores/redis/node.ts';

let nowMs = 0;
let states: string[] = [];
let breaker: ReturnType<typeof createNodeBreaker>;

beforeEach(() => {
  nowMs = 1000;
  states = [];
  breaker = createNodeBreaker({
    clock: { wallMs: () => nowMs, monotonicMs: () => nowMs },
    random: () => 0.5,
    onState: (state) => states.push(state),
  });
});

const pass = (): Permit => {
  const given = breaker.tryAcquire();
  assert.ok(given !== undefined, 'refused');
  return given;
};
const book = (outcome: 'answered' | 'failed' | 'unknown', times = 1): void => {
  for (let count = 0; count < times; count += 1) breaker.record(pass(), outcome, nowMs);
};

/** Opens the breaker: enough failures over enough time. */
const giveUp = (): void => {
  book('failed', 4);
  nowMs += 100;
  book('failed');
};

test('any number of replies that are late together count as one hiccup', () => {
  book('failed', 60);
  nowMs += 99;
  book('failed', 60);
  assert.deepEqual(states, []);
  nowMs += 1;
  book('failed');
  assert.deepEqual(states, ['open']);
});

test('five failures in a row open it, however slow the traffic is', () => {
  for (let failures = 0; failures < 5; failures += 1) {
    assert.equal(breaker.state(), 'closed');
    book('failed');
    nowMs += 30_000;
  }
  assert.deepEqual(states, ['open']);
});

test('four failures and an answer, repeated, open it by their share once the volume is sufficient', () => {
  for (let round = 0; round < 6 && breaker.state() === 'closed'; round += 1) {
    book('answered');
    for (let failures = 0; failures < 4 && breaker.state() === 'closed'; failures += 1) book('failed');
    nowMs += 25;
  }
  assert.deepEqual(states, ['open']);
});

test('a failure share below one half leaves it closed', () => {
  for (let round = 0; round < 100; round += 1) {
    book('failed');
    book('answered', 2);
    nowMs += 10;
  }
  assert.deepEqual(states, []);
});

test('old failures do not count', () => {
  for (let round = 0; round < 10; round += 1) {
    book('failed', 4);
    book('answered');
    nowMs += 5000;
  }
  assert.deepEqual(states, []);
});

test('our own stalls do not count', () => {
  book('unknown', 1000);
  assert.deepEqual(states, []);
});

test('when open it refuses until the reset time is over, then lets one probe through', () => {
  giveUp();
  assert.ok(breaker.refuses());
  assert.equal(breaker.tryAcquire(), undefined);
  nowMs += 1000;
  assert.ok(!breaker.refuses());
  const probe = pass();
  assert.equal(breaker.tryAcquire(), undefined, 'a second probe beside the first');
  breaker.record(probe, 'answered', nowMs);
  assert.deepEqual(states, ['open', 'half-open', 'closed']);
  book('answered', 10);
});

/** Time until the breaker lets the next command through. */
const refusedMs = (): number => {
  const sinceMs = nowMs;
  while (breaker.refuses()) nowMs += 10;
  return nowMs - sinceMs;
};

test('it probes after a quarter of a second, then at doubled intervals, at least once per second', () => {
  giveUp();
  const pauses = Array.from({ length: 4 }, () => {
    const ms = refusedMs();
    book('failed');
    return ms;
  });
  assert.deepEqual(pauses, [250, 500, 1000, 1000]);
});

test('a hiccup long after another is probed as early as the first; one that returns at once is not', () => {
  giveUp();
  refusedMs();
  book('answered');
  giveUp();
  assert.equal(refusedMs(), 500);
  book('answered');
  nowMs += 2000;
  giveUp();
  assert.equal(refusedMs(), 250);
});

test('a probe with an unknown outcome makes room for the next', () => {
  giveUp();
  nowMs += 1000;
  book('unknown');
  book('answered');
  assert.deepEqual(states, ['open', 'half-open', 'closed']);
});

test('an answer to a command sent before it opened does not close it', () => {
  const early = pass();
  giveUp();
  breaker.record(early, 'answered', nowMs);
  nowMs += 1000;
  const probe = pass();
  breaker.record(early, 'answered', nowMs);
  assert.equal(breaker.state(), 'half-open');
  breaker.record(probe, 'failed', nowMs);
  assert.equal(breaker.state(), 'open');
});

test('a new connection allows a probe at once', () => {
  giveUp();
  breaker.probeNow();
  book('answered');
  assert.equal(breaker.state(), 'closed');
});

test('connections that keep opening and failing allow no more probes than the reset time does', () => {
  giveUp();
  breaker.probeNow();
  book('failed');
  for (let connections = 0; connections < 2; connections += 1) {
    nowMs += 200;
    breaker.probeNow();
    assert.equal(breaker.tryAcquire(), undefined);
  }
  nowMs += 600;
  breaker.probeNow();
  assert.notEqual(breaker.tryAcquire(), undefined);
});

test('after a protocol error the breaker opens at once, and probes when the reset time is over', () => {
  const before = pass();
  breaker.trip();
  breaker.record(before, 'answered', nowMs);
  assert.equal(breaker.state(), 'open');
  breaker.trip();
  nowMs += 2000;
  const probe = pass();
  breaker.trip();
  breaker.record(probe, 'answered', nowMs);
  assert.equal(breaker.state(), 'open');
  assert.deepEqual(states, ['open', 'half-open', 'open']);
});
