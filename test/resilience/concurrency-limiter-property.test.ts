import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PRIORITIES, type Priority } from '../../src/resilience/codel-queue.ts';
import { idle } from '../fakes/idle.ts';
import { LIMITER_DEADLINE_MS, limiterHarness, type SlotRequest } from './harness.ts';

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

interface Caller {
  readonly asked: SlotRequest;
  readonly priority: Priority;
  readonly leave: AbortController;
}

const MAX_QUEUED = 8;

for (const shedding of [true, false])
  test(`after any sequence of events${shedding ? '' : ' without shedding'}, every search is served or refused, in order, within bounds`, async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        t.mock.timers.reset();
        const harness = limiterHarness(t, 3, { maxQueued: MAX_QUEUED, shedding });
        const callers: Caller[] = [];
        const inState = (state: SlotRequest['state']): Caller[] => callers.filter(({ asked }) => asked.state === state);
        for (const one of steps) {
          const before = {
            running: new Set(inState('runs')),
            waiting: new Set(inState('waits')),
            inFlight: harness.limiter.inFlight(),
          };
          if (one.do === 'ask')
            for (let count = 0; count < one.count; count += 1) {
              const leave = new AbortController();
              const { priority, deadlineMs } = one;
              callers.push({ asked: harness.ask({ priority, deadlineMs, signal: leave.signal }), priority, leave });
            }
          else if (one.do === 'release') for (const { asked } of inState('runs').slice(0, one.count)) asked.release();
          else if (one.do === 'leave') callers[one.which]?.leave.abort();
          else if (one.do === 'pass') await harness.pass(one.ms);
          else harness.max = one.max;
          await idle();
          const running = inState('runs');
          const waiting = inState('waits');
          assert.equal(harness.limiter.inFlight(), running.length);
          assert.equal(harness.limiter.queued(), waiting.length);
          assert.ok(waiting.length <= MAX_QUEUED);
          const admitted = running.filter((guest) => !before.running.has(guest));
          if (admitted.length > 0) {
            assert.ok(running.length <= harness.max, 'no search is admitted beyond the maximum');
            const low = running.filter(({ priority }) => priority !== 'interactive');
            const newLow = admitted.filter(({ priority }) => priority !== 'interactive');
            if (newLow.length > 0) {
              assert.ok(low.length <= Math.max(1, harness.max / 2), 'interactive searches find half the slots');
              // An interactive search of this step may come after the refresh: the next search to ask uses a raised maximum.
              const waited = waiting.filter((guest) => before.waiting.has(guest));
              assert.ok(
                !waited.some(({ priority }) => priority === 'interactive'),
                'no refresh before an interactive search',
              );
            }
          }
          if (one.do === 'ask' || one.do === 'release')
            assert.ok(
              !waiting.some(({ priority }) => priority === 'interactive') || running.length >= harness.max,
              'no interactive search waits beside a free slot',
            );
        }
        for (let round = 0; inState('waits').length + inState('runs').length > 0; round += 1) {
          assert.ok(round < 100, 'all waiters leave');
          for (const { asked } of inState('runs')) asked.release();
          await harness.pass(1);
        }
        assert.equal(harness.limiter.inFlight(), 0);
        assert.equal(harness.limiter.overloaded(), false);
        assert.ok(
          callers.every(({ asked }) => !(asked.waitedMs > LIMITER_DEADLINE_MS)),
          'no search waits past the deadline',
        );
      }),
      { numRuns: 150 },
    );
  });
