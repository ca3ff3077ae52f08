import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resultLabelsOf, selectorsOf } from './promql.ts';

const labelsOf = (expression: string) =>
  Object.fromEntries(selectorsOf(expression).map(({ metric, labels }) => [metric, labels]));

test('a selector has the labels of its matchers, and of every grouping and matching around it', () => {
  assert.deepEqual(labelsOf('sum by (a) (rate(x{b="1",c=~"q|r"}[5m])) / on (a) group_left (v) y{z!="1"}'), {
    x: ['b', 'c', 'a'],
    y: ['z', 'a', 'v'],
  });
  assert.deepEqual(labelsOf('x unless on (a) y > 1'), { x: ['a'], y: ['a'] });
  assert.deepEqual(labelsOf('sum by (a) (x) or vector(0)'), { x: ['a'] });
  assert.deepEqual(labelsOf('histogram_quantile(0.9, sum by (a, le) (x_bucket))'), { x_bucket: ['le', 'a'] });
  assert.deepEqual(labelsOf('sum by (n) (label_replace(x, "n", "$1", "m", "(.*)"))'), { x: ['m'] });
  assert.deepEqual(labelsOf('sum by (a) (x / scalar(y))'), { x: ['a'], y: [] });
});

test('a matcher has its label, operator and value', () => {
  assert.deepEqual(selectorsOf('x{a!~"b|c"} offset 5m')[0]?.matchers, [{ label: 'a', operator: '!~', value: 'b|c' }]);
});

test('a text that is not PromQL is refused, and so is a label that an inner aggregation removed', () => {
  for (const expression of ['sum(x', 'x{a=}', 'x by y', 'sum by (a) (sum by (b) (x))', 'topk(1, sum(x)) * on (a) y']) {
    assert.throws(() => selectorsOf(expression), Error, expression);
  }
});

test('the result of an expression has the labels that it keeps', () => {
  const of = (expression: string) => resultLabelsOf(expression, () => ['job', 'a', 'le']);
  assert.deepEqual(of('sum by (job) (rate(x[5m]))'), ['job']);
  assert.deepEqual(of('sum without (a) (x)'), ['job', 'le']);
  assert.deepEqual(of('topk(3, sum by (a) (x))'), ['a']);
  assert.deepEqual(of('histogram_quantile(0.9, x) > 1'), ['job', 'a']);
  assert.deepEqual(of('count(x)'), []);
  assert.deepEqual(of('sum by (a) (x) * on (a) group_left (v) y'), ['a', 'v']);
  assert.deepEqual(of('x / on (a) y unless z'), ['a']);
});
