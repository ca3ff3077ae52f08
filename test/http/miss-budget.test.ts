import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createMissBudget, type MissBudget } from '../../src/http/transport/client.ts';
import { createFakeClock } from '../fakes/clock.ts';

test('a quiet client has its burst, then what it earns', () => {
  const { budget, clock } = start({ perMinute: 60, burst: 5 });
  assert.equal(spend(budget, 'a', 10), 5);
  clock.advance(999);
  assert.equal(spend(budget, 'a', 10), 0);
  clock.advance(1);
  assert.equal(spend(budget, 'a', 10), 1);
  clock.advance(3500);
  assert.equal(spend(budget, 'a', 10), 3);
  clock.advance(500);
  assert.equal(spend(budget, 'a', 10), 1, 'half a miss was kept');
  clock.advance(3_600_000);
  assert.equal(spend(budget, 'a', 10), 5, 'no more than a burst is saved');
});

test('asking while there is nothing does not put off the next miss', () => {
  const { budget, clock } = start({ perMinute: 60, burst: 1 });
  spend(budget, 'a', 1);
  let allowed = 0;
  for (let i = 0; i < 1000; i += 1) {
    clock.advance(7);
    allowed += spend(budget, 'a', 1);
  }
  assert.ok(allowed === 6 || allowed === 7, String(allowed));
});

test('one client spends nothing of another', () => {
  const { budget } = start({ burst: 3 });
  assert.deepEqual([spend(budget, 'a', 9), spend(budget, 'b', 9)], [3, 3]);
});

test('a miss that was refunded can be spent again, and no more than a burst', () => {
  const { budget } = start({ burst: 3 });
  spend(budget, 'a', 3);
  budget.refund('a', 2);
  assert.equal(spend(budget, 'a', 9), 2);
  budget.refund('a', 100);
  assert.equal(spend(budget, 'a', 9), 3);
});

test('the client that has been quiet longest is forgotten, and a busy one never', () => {
  const { budget } = start({ burst: 2, maxClients: 3 });
  assert.equal(spend(budget, 'busy', 9), 2);
  spend(budget, 'quiet', 9);
  for (let i = 0; i < 100; i += 1) {
    budget.mayMiss(`other ${i}`);
    assert.equal(budget.mayMiss('busy'), false);
  }
  assert.equal(spend(budget, 'quiet', 9), 2);
});

test('whatever the pace, a client gets its burst and its rate and no more', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1000 }),
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.tuple(fc.integer({ min: 0, max: 5000 }), fc.integer({ min: 1, max: 20 })), { maxLength: 60 }),
      (perMinute, burst, steps) => {
        const { budget, clock } = start({ perMinute, burst });
        let [elapsedMs, allowed] = [0, 0];
        for (const [ms, asks] of steps) {
          clock.advance(ms);
          elapsedMs += ms;
          allowed += spend(budget, 'a', asks);
        }
        assert.ok(allowed <= burst + (elapsedMs * perMinute) / 60_000 + 1e-6);
      },
    ),
  );
});

function start(options: { perMinute?: number; burst?: number; maxClients?: number }) {
  const clock = createFakeClock();
  return { clock, budget: createMissBudget({ perMinute: 60, burst: 10, maxClients: 1000, clock, ...options }) };
}

/** How many of so many misses were allowed. */
function spend(budget: MissBudget, client: string, misses: number): number {
  return Array.from({ length: misses }, () => budget.mayMiss(client)).filter(Boolean).length;
}
