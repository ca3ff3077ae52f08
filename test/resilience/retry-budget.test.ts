import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createRetryBudget } from '../../src/resilience/retry-budget.ts';

it('retries stay within their share of requests once the burst is spent', () => {
  const budget = createRetryBudget({ share: 0.1, burst: 10 });
  let retries = 0;
  for (let request = 0; request < 1000; request += 1) {
    budget.deposit();
    if (budget.withdraw()) retries += 1;
  }
  assert.ok(retries >= 100 && retries <= 111, String(retries));
});

it('exactly the tenth request pays for a retry', () => {
  const budget = createRetryBudget({ share: 0.1, burst: 1 });
  assert.ok(budget.withdraw());
  for (let request = 1; request < 10; request += 1) {
    budget.deposit();
    assert.ok(!budget.withdraw(), `after ${request}`);
  }
  budget.deposit();
  assert.ok(budget.withdraw());
  assert.equal(budget.balance(), 0);
});

it('a quiet time saves up no more than the burst', () => {
  const budget = createRetryBudget({ share: 0.5, burst: 3 });
  for (let request = 0; request < 100; request += 1) budget.deposit();
  assert.deepEqual(
    [1, 2, 3, 4].map(() => budget.withdraw()),
    [true, true, true, false],
  );
});

it('refuses a share or a burst that makes no sense', () => {
  for (const options of [
    { share: -1, burst: 1 },
    { share: 2, burst: 1 },
    { share: Number.NaN, burst: 1 },
    { share: 0.1, burst: 0 },
  ]) {
    assert.throws(() => createRetryBudget(options), JSON.stringify(options));
  }
});
