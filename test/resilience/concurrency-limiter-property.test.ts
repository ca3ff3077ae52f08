import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PRIORITIES, type Priority } from '../../src/resilience/admission.ts';
import { idle } from '../fakes/idle.ts';
import { type Asked, LIMITER_DEADLINE_MS, limiterHarness } from './harness.ts';

const step = fc.oneof(
  fc.record({
    do: fc.constant('ask' as const),
    priority: fc.constantFrom(...PRIORITIES),
    count: fc.integer({ min: 1, max: 6 }),
    deadlineMs: fc.constantFrom(1, 30, LIMITER_DEADLINE_MS),
  }),
  fc.record({ do: fc.constant('release' as const), count: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ do: fc.constant('leave' as const), which: fc.nat(30) }),
  fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 15, 80) }),
  fc.record({ do: fc.constant('max' as const), max: fc.integer({ min: 1, max: 9 }) }),
);

interface Guest {
  readonly asked: Asked;
  readonly priority: Priority;
  readonly leave: AbortController;
}

const MAX_QUEUED = 8;

for (const shedding of [true, false])
  test(`whatever happens${shedding ? '' : ' without shedding'}, everybody is served or refused, in order, within bounds`, async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        t.mock.timers.reset();
        const rig = limiterHarness(t, 3, { maxQueued: MAX_QUEUED, shedding });
        const guests: Guest[] = [];
        const inState = (state: Asked['state']): Guest[] => guests.filter(({ asked }) => asked.state === state);
        for (const one of steps) {
          const before = {
            running: new Set(inState('runs')),
            waiting: new Set(inState('waits')),
            inFlight: rig.limiter.inFlight(),
          };
          if (one.do === 'ask')
            for (let count = 0; count < one.count; count += 1) {
              const leave = new AbortController();
              const { priority, deadlineMs } = one;
              guests.push({ asked: rig.ask({ priority, deadlineMs, signal: leave.signal }), priority, leave });
            }
          else if (one.do === 'release') for (const { asked } of inState('runs').slice(0, one.count)) asked.release();
          else if (one.do === 'leave') guests[one.which]?.leave.abort();
          else if (one.do === 'pass') await rig.pass(one.ms);
          else rig.max = one.max;
          await idle();
          const running = inState('runs');
          const waiting = inState('waits');
          assert.equal(rig.limiter.inFlight(), running.length);
          assert.equal(rig.limiter.queued(), waiting.length);
          assert.ok(waiting.length <= MAX_QUEUED);
          const admitted = running.filter((guest) => !before.running.has(guest));
          if (admitted.length > 0) {
            assert.ok(running.length <= rig.max, 'nobody is admitted beyond the maximum');
            const low = running.filter(({ priority }) => priority !== 'interactive');
            const newLow = admitted.filter(({ priority }) => priority !== 'interactive');
            if (newLow.length > 0) {
              assert.ok(low.length <= Math.max(1, rig.max / 2), 'people find half the places');
              // Who asks in this step may come after the refresh: a raised maximum is used by the next one who asks.
              const waited = waiting.filter((guest) => before.waiting.has(guest));
              assert.ok(!waited.some(({ priority }) => priority === 'interactive'), 'no refresh before a person');
            }
          }
          if (one.do === 'ask' || one.do === 'release')
            assert.ok(
              !waiting.some(({ priority }) => priority === 'interactive') || running.length >= rig.max,
              'no person waits beside a free place',
            );
        }
        for (let round = 0; inState('waits').length + inState('runs').length > 0; round += 1) {
          assert.ok(round < 100, 'it comes to an end');
          for (const { asked } of inState('runs')) asked.release();
          await rig.pass(1);
        }
        assert.equal(rig.limiter.inFlight(), 0);
        assert.equal(rig.limiter.overloaded(), false);
        assert.ok(
          guests.every(({ asked }) => !(asked.waitedMs > LIMITER_DEADLINE_MS)),
          'nobody waits past the deadline',
        );
      }),
      { numRuns: 150 },
    );
  });
