import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engineCallsOf, parseMetrics, seriesValue } from '../../../loadtest/k6/kit/metrics-text.ts';

const one = (line: string) => parseMetrics(line)[0];

test('a series is its name, its labels and its value', () => {
  assert.deepEqual(
    parseMetrics('# HELP up Is it.\n# TYPE up gauge\nup 1\nseen_total{domain="goods",outcome="hit-l1"} 3\n'),
    [
      { name: 'up', labels: {}, value: 1 },
      { name: 'seen_total', labels: { domain: 'goods', outcome: 'hit-l1' }, value: 3 },
    ],
  );
});

test('label values may hold braces, commas, escaped quotes, backslashes and line ends', () => {
  const line = String.raw`a{x="} 5, y=\"z\"",path="C:\\new",text="two\nlines",} 7`;
  assert.deepEqual(one(line), {
    name: 'a',
    labels: { x: '} 5, y="z"', path: 'C:\\new', text: 'two\nlines' },
    value: 7,
  });
});

for (const [written, value] of [
  ['1e+06', 1e6],
  ['4.2E-3', 0.0042],
  ['-0.5', -0.5],
  ['+Inf', Infinity],
  ['-Inf', -Infinity],
  ['NaN', Number.NaN],
] as const) {
  test(`${written} is a value`, () => assert.equal(one(`a ${written}`)?.value, value));
}

test('a timestamp after the value, tabs and carriage returns change nothing', () => {
  assert.deepEqual(one('a{b="c"}\t5 1795255947000\r'), { name: 'a', labels: { b: 'c' }, value: 5 });
});

test('lines that are not a series are skipped', () => {
  const text = ['', '# c', 'a', 'a5', 'a x', 'a 1 2 3', 'a 0x10', '5 a', 'a{b="c} 5', 'a{b="c" 5', '<html lang="en">'];
  assert.deepEqual(parseMetrics(text.join('\n')), []);
});

test('a value is found by its name and some of its labels', () => {
  const series = parseMetrics('a{x="1",y="1"} 1\na{x="2",y="1"} 2\nb 3');
  assert.equal(seriesValue(series, 'a', { x: '2' }), 2);
  assert.equal(seriesValue(series, 'b'), 3);
  assert.equal(seriesValue(series, 'b', { x: '2' }), undefined);
});

test('engine calls are summed over domains and outcomes, whatever else is on the page', () => {
  const text = `# HELP serpcache_engine_calls_total Engine calls.
# TYPE serpcache_engine_calls_total counter
serpcache_engine_calls_total{domain="goods",outcome="whole"} 30
serpcache_engine_calls_total{domain="a}b",outcome="empty"} 1.2e+1 1795255947000
serpcache_engine_calls_total_other{domain="goods"} 1000
other{note="serpcache_engine_calls_total{} 1000"} 1000
serpcache_engine_calls_total{domain="auto",outcome="whole"} 1`;
  assert.equal(engineCallsOf(text), 43);
  assert.equal(engineCallsOf('serpcache_engine_calls_total 5\n'), 5);
  assert.equal(engineCallsOf('serpcache_engine_calls_total{domain="goods"} 0\n'), 0);
});

test('a page without the engine call counter does not count as zero calls', () => {
  assert.equal(engineCallsOf('<html>serpcache_engine_calls_total 5</html>'), undefined);
  assert.equal(engineCallsOf(''), undefined);
});
