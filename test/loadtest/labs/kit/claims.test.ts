import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimCells, holds, verdictOf } from '../../../../loadtest/labs/kit/claims.ts';
import type { Claim } from '../../../../loadtest/labs/kit/finding.ts';

const claim = (figure: number | undefined, own: Partial<Claim> = {}): Claim => ({
  text: 'x',
  figure,
  unit: 'count',
  atLeast: 1,
  ...own,
});

test('a claim holds within its bounds, the bounds included', () => {
  assert.deepEqual(
    [0.9, 1, 2, 2.1].map((figure) => holds(claim(figure, { atMost: 2 }))),
    [false, true, true, false],
  );
  assert.equal(holds(claim(undefined)), undefined);
  assert.equal(holds(claim(Number.NaN)), undefined);
  assert.equal(holds({ text: 'x', figure: 1, unit: 'count' }), undefined);
  assert.equal(holds(claim(Number.POSITIVE_INFINITY)), true);
});

const context: Claim = { text: 'x', figure: 3, unit: 'count' };
const required = (figure: number | undefined) => claim(figure, { isRequired: true });
for (const [name, claims, verdict] of [
  ['all claims that could be seen hold', [claim(1), claim(2), claim(undefined)], 'yes'],
  ['some hold', [claim(1), claim(0)], 'partly'],
  ['none holds', [claim(0), claim(0), context], 'no'],
  ['there is none', [], 'unseen'],
  ['a figure without a bound decides nothing', [claim(undefined), context], 'unseen'],
  ['a required claim fails', [required(0), claim(1), required(undefined)], 'no'],
  ['a required claim is not seen', [required(undefined), claim(1)], 'unseen'],
  ['a required claim holds', [required(1), claim(0)], 'partly'],
] as const)
  test(`the verdict is ${verdict}: ${name}`, () => assert.equal(verdictOf(claims), verdict));

test('a figure that fails by less than its digits show is given more digits', () => {
  const near = [
    claim(0.8966, { unit: 'times', atLeast: 0.9 }),
    claim(1.02, { unit: 'times', atLeast: 1.24, atMost: 2 }),
    claim(1.2449, { unit: 'times', atLeast: 1.245 }),
    claim(0.80004, { unit: 'share', atLeast: 0, atMost: 0.8 }),
    claim(500.4, { unit: 'ms', atLeast: 0, atMost: 500 }),
    claim(0.9, { unit: 'times', atLeast: 0.9 }),
  ];
  assert.deepEqual(
    claimCells({ claims: near }).rows.map((cells) => cells.slice(1).map((cell) => cell.replaceAll('\u00a0', ' '))),
    [
      ['0.897 ×', '≥ 0.9 ×', 'no'],
      ['1 ×', '≥ 1.2 ×, ≤ 2 ×', 'no'],
      ['1.24 ×', '≥ 1.245 ×', 'no'],
      ['80.004 %', '≥ 0 %, ≤ 80 %', 'no'],
      ['500.4 ms', '≥ 0 ms, ≤ 500 ms', 'no'],
      ['0.9 ×', '≥ 0.9 ×', 'yes'],
    ],
  );
});
