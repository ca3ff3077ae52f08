import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRegistries, pageFormatOf, registerSamples } from '../../src/metrics/page.ts';
import { createCounter, createHistogram } from '../../src/metrics/series.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { filled, parseExposition, TRACE } from './harness.ts';

const OPEN_METRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
/** Sent by Prometheus 2.42. */
const PROMETHEUS_ACCEPT =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';

test('OpenMetrics is written for clients that name it and do not prefer the text format', () => {
  const chosen = {
    [PROMETHEUS_ACCEPT]: 'openmetrics',
    'application/openmetrics-text': 'openmetrics',
    'Application/OpenMetrics-Text; Version=1.0.0': 'openmetrics',
    'text/plain;q=0.5, application/openmetrics-text;q=0.9': 'openmetrics',
    'text/plain, application/openmetrics-text;q=0.9': 'text',
    'application/openmetrics-text;version=0.0.1': 'text',
    'application/openmetrics-text;q=0': 'text',
    'application/openmetrics-text;q=x': 'text',
    'text/html, */*': 'text',
    '': 'text',
    ';;,,=': 'text',
  };
  for (const [accept, format] of Object.entries(chosen)) assert.equal(pageFormatOf(accept), format, accept);
  assert.equal(pageFormatOf(undefined), 'text');
});

test('both formats have the same series with the same labels', async (context) => {
  const metrics = filled(context);
  const [open, text] = [await metrics.text(PROMETHEUS_ACCEPT), await metrics.text()];
  assert.deepEqual([open.contentType, text.contentType], [OPEN_METRICS, 'text/plain; version=0.0.4; charset=utf-8']);
  const seriesOf = (body: string) =>
    body
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith('nodejs_gc_'))
      .map((line) => line.replace(/ # \{.*/, '').replace(/ \S+$/, ''));
  assert.deepEqual(seriesOf(open.body), seriesOf(text.body));
  parseExposition(text.body);
});

test('a page in OpenMetrics ends with its mark, and a counter has the suffix of its type or is of unknown type', async (context) => {
  const { body } = await filled(context).text(PROMETHEUS_ACCEPT);
  assert.ok(body.endsWith('\n# EOF\n'));
  const lines = body.split('\n').slice(0, -2);
  assert.ok(!lines.includes(''), 'no empty line');
  const types = new Map<string, string>();
  let family = '';
  for (const line of lines) {
    const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (name !== undefined && type !== undefined) {
      assert.ok(!types.has(name), `one family ${name}`);
      types.set(name, type);
      family = name;
    } else if (!line.startsWith('#')) {
      const suffixes: Readonly<Record<string, RegExp>> = {
        counter: /^_total$/,
        histogram: /^_(bucket|sum|count)$/,
        summary: /^(_sum|_count|)$/,
      };
      const sample = /^[^{ ]+/.exec(line)?.[0] ?? '';
      assert.ok(sample.startsWith(family), line);
      assert.match(sample.slice(family.length), suffixes[types.get(family) ?? ''] ?? /^$/, line);
    }
  }
  assert.equal(types.get('serpcache_requests'), 'counter');
  const twins = ['redis_pipeline_execution_failures', 'redis_pipeline_execution_failures_total'];
  assert.deepEqual(
    twins.map((name) => types.get(name)),
    ['unknown', 'unknown'],
  );
});

test('special characters of labels and help texts, and infinite values, are written as each format says', async () => {
  const registries = createRegistries();
  const name = 'strange';
  registerSamples(registries, { name, help: 'a "b" \\ c\nd', type: 'gauge' }, () => [
    { labels: { label: 'x"y\\z\nw' }, value: -1.5 },
    { labels: { label: 'high' }, sharedLabels: { shared: 's' }, value: Number.POSITIVE_INFINITY },
    { labels: {} as Record<string, string>, value: 1e-7 },
  ]);
  const samples = [
    String.raw`strange{label="x\"y\\z\nw"} -1.5`,
    'strange{label="high",shared="s"} +Inf',
    'strange 1e-7',
  ];
  assert.deepEqual((await registries.text.metrics()).split('\n'), [
    String.raw`# HELP strange a "b" \\ c\nd`,
    '# TYPE strange gauge',
    ...samples,
    '',
  ]);
  assert.deepEqual((await registries.openmetrics.metrics()).split('\n'), [
    String.raw`# HELP strange a "b" \\ c\nd`,
    '# TYPE strange gauge',
    ...samples,
    '# EOF',
    '',
  ]);
});

test('writing OpenMetrics renames no metric', async () => {
  const registries = createRegistries();
  createCounter({ registries, name: 'things_total', help: 'Things.', labels: { of: ['a'] }, fromZero: true })(2, 'a');
  const before = await registries.text.metrics();
  const open = await registries.openmetrics.metrics();
  assert.equal(open, '# HELP things Things.\n# TYPE things counter\nthings_total{of="a"} 2\n# EOF\n');
  assert.equal(await registries.text.metrics(), before);
});

test('each bucket shows its last traced request in OpenMetrics, and none without a trace', async () => {
  const registries = createRegistries();
  const clock = createFakeClock();
  const observe = createHistogram({
    registries,
    name: 'took_seconds',
    help: '',
    labels: { domain: ['a', 'b'] },
    clock,
  });
  observe(0.3, 'a', undefined, 'first');
  clock.advance(1500);
  observe(0.4, 'a', undefined, 'second');
  const atSeconds = clock.wallMs() / 1000;
  observe(0.45, 'a');
  observe(9000, 'a', undefined, 'slow');
  observe(3, 'a', undefined, 'x'.repeat(65));
  observe(0.4, 'b');
  const exemplars = (body: string) => body.split('\n').filter((line) => line.includes(' # '));
  assert.deepEqual(exemplars(await registries.openmetrics.metrics()), [
    `took_seconds_bucket{le="0.0005",domain="a"} 3 # {trace_id="second"} 0.0004 ${atSeconds}`,
    `took_seconds_bucket{le="+Inf",domain="a"} 5 # {trace_id="slow"} 9 ${atSeconds}`,
  ]);
  assert.deepEqual(exemplars(await registries.text.metrics()), []);
});

test('the latency of a traced search has its trace as an exemplar', async (context) => {
  const { body } = await filled(context).text(PROMETHEUS_ACCEPT);
  const traced = body.split('\n').filter((line) => line.includes('trace_id'));
  assert.equal(traced.length, 1);
  const [line = ''] = traced;
  assert.match(line, /^serpcache_request_duration_seconds_bucket\{.*domain="goods".*\} 1 # /);
  assert.ok(line.includes(` # {trace_id="${TRACE}"} `), line);
});
