import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TraceRoot, Tracer } from '../../src/search/trace.ts';
import { until } from '../until.ts';
import { startCollector } from './collector.ts';
import { openTracing, settingsOf } from './harness.ts';

const ROOT: TraceRoot = { name: 'GET /search', kind: 'server' };
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const SAMPLED = `00-${TRACE}-${PARENT}-01`;
const UNSAMPLED = `00-${TRACE}-${PARENT}-00`;

/** Begins and ends one span. */
function trace(tracer: Tracer, root: Partial<TraceRoot> = {}): boolean {
  const span = tracer.begin({ ...ROOT, ...root });
  span?.end();
  return span !== undefined;
}

test('spans arrive with their parents, kinds, facts, links, errors and with times exact to the microsecond', async (t) => {
  const collector = await startCollector(t);
  const { tracer, close, events, passMs, startNs } = await openTracing(
    settingsOf({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/base`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20s3cret, tenant = a=b',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'tenant=c',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.instance.id=pod-1',
    }),
  );
  const other = tracer.begin({ ...ROOT, name: 'other' });
  const root = tracer.begin({ ...ROOT, facts: { 'url.path': '/search' } });
  assert.ok(root !== undefined && other !== undefined);
  passMs(0.25);
  const load = root.begin('load', { 'serpcache.domain': 'goods' });
  passMs(0.001);
  load.link(other);
  const engine = load.begin('engine');
  passMs(12.5);
  engine.end({ 'serpcache.total': 7, 'serpcache.partial': true }, 'ECONNRESET');
  root.end({ 'http.response.status_code': 200 });
  passMs(1);
  load.end();
  other.end();
  await close();

  const span = (name: string) => collector.spans.find((each) => each.name === name) ?? assert.fail(name);
  const [gotRoot, gotLoad, gotEngine] = [span('GET /search'), span('load'), span('engine')];
  assert.deepEqual(
    [gotRoot, gotLoad, gotEngine].map(({ kind, parentId, traceId }) => ({ kind, parentId, traceId })),
    [
      { kind: 'server', parentId: '', traceId: root.traceId },
      { kind: 'internal', parentId: root.spanId, traceId: root.traceId },
      { kind: 'client', parentId: load.spanId, traceId: root.traceId },
    ],
  );
  assert.deepEqual(
    [gotRoot, gotLoad, gotEngine].map(({ startNs: from, endNs: to }) => [from - startNs, to - startNs]),
    [
      [0n, 12_751_000n],
      [250_000n, 13_751_000n],
      [251_000n, 12_751_000n],
    ],
  );
  assert.deepEqual(gotRoot.facts, { 'url.path': '/search', 'http.response.status_code': 200 });
  assert.deepEqual(gotEngine.facts, { 'serpcache.total': 7, 'serpcache.partial': true });
  assert.deepEqual(gotEngine.status, { code: 'error', message: 'ECONNRESET' });
  assert.deepEqual(gotLoad.status.code, 'unset');
  assert.deepEqual(gotLoad.links, [{ traceId: other.traceId, spanId: other.spanId }]);
  assert.notEqual(other.traceId, root.traceId);
  assert.deepEqual(
    ['service.name', 'service.version', 'service.instance.id', 'deployment.environment.name'].map(
      (name) => gotRoot.resource[name],
    ),
    ['serpcache', '1.2.3', 'pod-1', 'test'],
  );
  const [{ path, headers } = assert.fail('no request')] = collector.requests;
  assert.equal(path, '/base/v1/traces');
  assert.equal(headers.authorization, 'Bearer s3cret');
  assert.equal(headers['tenant'], 'c', 'headers of both variables are sent');
  assert.equal(headers['content-type'], 'application/x-protobuf');
  assert.deepEqual(events, [{ kind: 'tracing', outcome: 'exported', spans: 4 }]);
});

test('OTEL_SERVICE_NAME names the service, before an attribute', async (t) => {
  const collector = await startCollector(t);
  const OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
  const attributes = 'service.name=other,team=search%20core';
  for (const env of [{ OTEL_SERVICE_NAME: 'search' }, { OTEL_SERVICE_NAME: '' }]) {
    const named = { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_RESOURCE_ATTRIBUTES: attributes, ...env };
    const { tracer, close } = await openTracing(settingsOf(named));
    trace(tracer);
    await close();
  }
  assert.deepEqual(
    collector.spans.map(({ resource }) => [resource['service.name'], resource['team']]),
    [
      ['search', 'search core'],
      ['other', 'search core'],
    ],
  );
});

test('a traceparent is continued when its sender is believed, and is a link otherwise', async (t) => {
  for (const [trustParents, address, isContinued] of [
    ['none', '10.0.0.1', false],
    ['proxies', '10.0.0.1', true],
    ['proxies', '::ffff:10.9.0.1', true],
    ['proxies', 'fd00::1', true],
    ['proxies', 'fd00::2', false],
    ['proxies', '11.0.0.1', false],
    ['proxies', 'fe80::1%eth0', false],
    ['proxies', undefined, false],
    ['all', undefined, true],
  ] as const) {
    const collector = await startCollector(t);
    const { tracer, close } = await openTracing(
      settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, trustParents),
    );
    trace(tracer, { traceparent: SAMPLED, address });
    trace(tracer, { traceparent: 'not one' });
    await close();
    const [given = assert.fail('no span'), without] = collector.spans;
    const context = { traceId: TRACE, spanId: PARENT };
    const label = `${trustParents} ${address}`;
    assert.equal(given.traceId === TRACE, isContinued, label);
    assert.equal(given.parentId, isContinued ? PARENT : '', label);
    assert.deepEqual(given.links, isContinued ? [] : [context], label);
    assert.deepEqual([without?.parentId, without?.links], ['', []], label);
    assert.ok(without?.traceId !== TRACE && without?.traceId !== given.traceId, `${label}: a trace of its own`);
  }
});

test('each sampler decides on requests without a parent, and with a believed one', async () => {
  const share = async (sampler: string, root: Partial<TraceRoot>, trustParents = 'all'): Promise<number> => {
    const { tracer, close } = await openTracing({
      ...settingsOf(
        { OTEL_TRACES_EXPORTER: 'otlp', OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: '0.25' },
        trustParents,
      ),
    });
    const sampled = Array.from({ length: 400 }, () => tracer.begin({ ...ROOT, ...root })).filter(Boolean).length;
    await close();
    return sampled / 400;
  };
  for (const [sampler, root, sampledParent, unsampledParent] of [
    ['always_on', 1, 1, 1],
    ['always_off', 0, 0, 0],
    ['parentbased_always_on', 1, 1, 0],
    ['parentbased_always_off', 0, 1, 0],
  ] as const) {
    assert.equal(await share(sampler, {}), root, sampler);
    assert.equal(await share(sampler, { traceparent: SAMPLED }), sampledParent, sampler);
    assert.equal(await share(sampler, { traceparent: UNSAMPLED }), unsampledParent, sampler);
  }
  for (const sampler of ['traceidratio', 'parentbased_traceidratio']) {
    const sampled = await share(sampler, {});
    assert.ok(sampled > 0.15 && sampled < 0.35, `${sampler}: ${sampled}`);
    // An id that is below every bound: sampled when it is believed only.
    const chosen = `00-00000000000000000000000000000001-${PARENT}-01`;
    assert.equal(await share(sampler, { traceparent: chosen }), 1, sampler);
    const refused = await share(sampler, { traceparent: chosen }, 'none');
    assert.ok(refused > 0.15 && refused < 0.35, `${sampler}, not believed: ${refused}`);
  }
});

test('spans beyond the queue, and those of a batch that the collector refused, are counted as dropped', async (t) => {
  const collector = await startCollector(t, (response) => response.writeHead(401).end('the secret text'));
  const { tracer, close, events, count } = await openTracing(
    settingsOf({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_MAX_QUEUE_SIZE: '4',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '4',
    }),
  );
  for (let at = 0; at < 20; at += 1) trace(tracer);
  await close();
  assert.equal(count('dropped'), 20);
  assert.equal(count('exported'), 0);
  assert.deepEqual([...new Set(events.map(({ detail }) => detail))].toSorted(), [
    'the collector answered 401',
    'the queue is full',
  ]);
  assert.equal(collector.spans.length + events.filter(({ detail }) => detail === 'the queue is full').length > 4, true);
  trace(tracer);
  assert.equal(count('dropped'), 21, 'a span that ends after the close');
});

test('a collector that never answers delays the close by its bound, and no connection to it stays', async (t) => {
  const collector = await startCollector(t, () => {});
  const { tracer, close, count } = await openTracing(settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }));
  for (let at = 0; at < 600; at += 1) trace(tracer);
  await close();
  assert.equal(count('dropped'), 600);
  await until('no connection', () => collector.connections() === 0);
});

/** Runs a script in a process of its own. */
async function run(script: string, env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: join(import.meta.dirname, '../..'),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = Promise.all([Array.fromAsync(child.stdout), Array.fromAsync(child.stderr)]);
  const [status] = await once(child, 'close');
  const [stdout = '', stderr = ''] = (await output).map((chunks) => Buffer.concat(chunks).toString());
  return { status, stdout, stderr };
}

const SCRIPT = `
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
  const { loadSettings } = await import('./src/config/load.ts');
  const { createTracing } = await import('./src/tracing/tracing.ts');
  const { systemClock } = await import('./src/runtime.ts');
  const events = [];
  const settings = loadSettings({ env: process.env, cwd: process.cwd() });
  const tracing = await createTracing(settings, {
    clock: systemClock, random: Math.random, version: '0', processId: 'p',
    observe: (event) => events.push(event),
  });
  tracing?.tracer.begin({ name: 'GET /search', kind: 'server' }).end();
  await tracing?.close();
  const modules = (part) => loaded.filter((url) => url.includes(part)).length;
  console.log(JSON.stringify({ own: modules('/src/tracing/'), isSdkLoaded: modules('@opentelemetry') > 0, events }));`;

test('the SDK is loaded only when tracing is on; without a collector the process ends and writes nothing', async () => {
  const off = await run(SCRIPT);
  assert.deepEqual(JSON.parse(off.stdout), { own: 1, isSdkLoaded: false, events: [] });
  const on = await run(SCRIPT, {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    // Shorter than the wait before a retry.
    OTEL_EXPORTER_OTLP_TIMEOUT: '300',
    OTEL_LOG_LEVEL: 'debug',
  });
  assert.deepEqual({ status: on.status, stderr: on.stderr }, { status: 0, stderr: '' });
  assert.deepEqual(JSON.parse(on.stdout), {
    own: 3,
    isSdkLoaded: true,
    events: [{ kind: 'tracing', outcome: 'dropped', spans: 1, detail: 'ECONNREFUSED' }],
  });
});
