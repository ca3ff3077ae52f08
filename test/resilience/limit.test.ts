import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createAimdLimit,
  createFixedLimit,
  createGradientLimit,
  type Limit,
  type LimitSample,
} from '../../src/resilience/adaptive-limit.ts';
import { createFakeClock, type FakeClock, seededRandom } from '../fakes/clock.ts';

interface Rig {
  readonly limit: Limit;
  readonly clock: FakeClock;
  readonly random: () => number;
  /** So many calls one after another, with the limit used up unless said otherwise. */
  readonly calls: (
    count: number,
    durationMs: number | ((inFlight: number) => number),
    more?: Partial<LimitSample>,
  ) => void;
  ceiling: number;
}

type Kind = 'gradient' | 'aimd';

function limitRig(kind: Kind, ceiling = 64): Rig {
  const clock = createFakeClock();
  const random = seededRandom(3);
  const options = { ceiling: () => rig.ceiling, monotonicMs: clock.monotonicMs, random, slowMs: 400 };
  const limit = kind === 'gradient' ? createGradientLimit(options) : createAimdLimit(options);
  const rig: Rig = {
    limit,
    clock,
    random,
    ceiling,
    calls: (count, duration, more = {}) => {
      for (let call = 0; call < count; call += 1) {
        const inFlight = more.inFlight ?? limit.current();
        const durationMs = typeof duration === 'number' ? duration : duration(inFlight);
        clock.advance(durationMs / inFlight);
        limit.sample({ durationMs, result: 'answered', ...more, inFlight });
      }
    },
  };
  return rig;
}

/** Eight at once, 20 ms each by half to double, the rest waits inside. */
const engineOf =
  (random: () => number, baseMs = 20) =>
  (inFlight: number): number =>
    baseMs * (0.5 + 1.2 * random()) * Math.max(1, inFlight / 8);

for (const kind of ['gradient', 'aimd'] as const) {
  test(`${kind}: it stays between one and the ceiling, whatever it is told and wherever that moves`, () => {
    const { random, ...rig } = limitRig(kind);
    const live = limitRig(kind);
    for (let step = 0; step < 5000; step += 1) {
      if (step % 50 === 0) live.ceiling = random() < 0.1 ? 0 : 1 + 40 * random();
      const result = (['answered', 'answered', 'lost', 'failed'] as const)[Math.floor(4 * random())] ?? 'answered';
      live.calls(1, 10 ** (4 * random() - 2), { result, inFlight: 1 + Math.floor(64 * random()) });
      const now = live.limit.current();
      assert.ok(Number.isInteger(now) && now >= 1 && now <= Math.max(1, live.ceiling), `${now} of ${live.ceiling}`);
    }
    assert.ok(rig.limit.current() >= 1);
  });

  test(`${kind}: a lower ceiling counts at once, and what was above is not remembered`, () => {
    const rig = limitRig(kind);
    rig.calls(2000, 5);
    assert.ok(rig.limit.current() > 16);
    rig.ceiling = 4;
    assert.equal(rig.limit.current(), 4);
    rig.calls(600, 5);
    rig.ceiling = 64;
    assert.ok(rig.limit.current() <= 8);
  });

  test(`${kind}: an unused limit does not grow`, () => {
    const rig = limitRig(kind);
    const before = rig.limit.current();
    rig.calls(1000, 5, { inFlight: 2 });
    assert.equal(rig.limit.current(), before);
    rig.calls(1000, 5);
    assert.ok(rig.limit.current() > before);
  });

  test(`${kind}: calls that failed for other reasons change nothing`, () => {
    const rig = limitRig(kind);
    rig.calls(500, 5);
    const before = rig.limit.current();
    rig.calls(1000, 5, { result: 'failed' });
    rig.calls(1000, 5000, { result: 'failed' });
    assert.equal(rig.limit.current(), before);
  });

  test(`${kind}: when everything is lost it falls to one, and comes back by itself within twenty seconds`, () => {
    const rig = limitRig(kind);
    const engine = engineOf(rig.random, 100);
    rig.calls(600, engine);
    rig.calls(600, 800, { result: 'lost' });
    assert.equal(rig.limit.current(), 1);
    const backAtMs = rig.clock.monotonicMs();
    while (rig.limit.current() < 8) {
      rig.calls(1, engine);
      assert.ok(rig.clock.monotonicMs() - backAtMs < 20_000, `${rig.limit.current()} after 20 s`);
    }
  });

  test(`${kind}: one lost in twenty is no reason to fall`, () => {
    const rig = limitRig(kind, 8);
    for (let round = 0; round < 100; round += 1) {
      rig.calls(19, 20);
      rig.calls(1, 800, { result: 'lost' });
    }
    assert.ok(rig.limit.current() >= 6, `${rig.limit.current()}`);
  });
}

test('fixed: it is the ceiling', () => {
  let ceiling = 8;
  const limit = createFixedLimit({ ceiling: () => ceiling });
  limit.sample({ durationMs: 800, inFlight: 8, result: 'lost' });
  assert.equal(limit.current(), 8);
  ceiling = 0.4;
  assert.equal(limit.current(), 1);
});

test('aimd: answers later than what is slow count as lost', () => {
  const rig = limitRig('aimd');
  rig.calls(200, (inFlight) => 30 * inFlight);
  rig.calls(2000, (inFlight) => 30 * inFlight);
  assert.ok(rig.limit.current() >= 8 && rig.limit.current() <= 14, `${rig.limit.current()}`);
});
