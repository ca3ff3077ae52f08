import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ComparedRow, isMet, rowsText, statusOf } from '../../../loadtest/rehearsal/plan-rows.ts';

const row = (measured: number, known?: ComparedRow['known']): ComparedRow => ({
  ...{ what: 'pages', predicted: 100, measured, text: String },
  ...(known === undefined ? {} : { known }),
});
const known = { why: 'a bound', least: 0.2, most: 1 };

test('a figure within 30 % of its prediction is met, and no other one without a reason', () => {
  assert.deepEqual(
    [69, 70, 100, 130, 131].map((measured) => isMet(row(measured))),
    [false, true, true, true, false],
  );
});

test('a reason has bounds of its own, and is shown only where it is needed', () => {
  assert.deepEqual(
    [19, 20, 129, 131].map((measured) => isMet(row(measured, known))),
    [false, true, true, false],
  );
  assert.match(rowsText([row(20, known)]), /0\.2\s×: a bound/);
  assert.match(rowsText([row(90, known)]), /0\.9\s×: within 30 %/);
  assert.match(rowsText([row(131, known), row(131)]), /1\.3\s×: NO[\s\S]*1\.3\s×: NO/);
});

test('a figure that was not measured fails the check', () => {
  assert.equal(statusOf([row(100), row(Number.NaN, known)]), 1);
  assert.equal(statusOf([row(100), row(20, known)]), 0);
});
