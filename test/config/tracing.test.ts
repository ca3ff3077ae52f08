import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSettings, settingsWarnings } from '../../src/config/load.ts';
import type { Settings } from '../../src/config/settings.ts';
import type { TracingSettings } from '../../src/config/tracing.ts';
import { pluck } from '../pluck.ts';
import { faultsOf, testFaults } from './harness.ts';

type Env = Readonly<Record<string, string>>;

const load = (env: Env, yaml?: string): Settings =>
  loadSettings({
    env: yaml === undefined ? env : { SERPCACHE_CONFIG: 'serpcache.yaml', ...env },
    cwd: '/srv',
    readFile: () => yaml ?? assert.fail('a file was read'),
  });

const tracingOf = (env: Env): TracingSettings => load(env).tracing ?? assert.fail('tracing is off');

function otlpOf(env: Env) {
  const { exporter } = tracingOf(env);
  assert.ok(exporter.kind === 'otlp');
  return exporter;
}

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

test('tracing is on when an exporter or an endpoint is set, and the SDK is not disabled', () => {
  const off: readonly Env[] = [
    {},
    { OTEL_TRACES_EXPORTER: '' },
    { OTEL_TRACES_EXPORTER: 'none' },
    { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'None' },
    { ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' },
    // Settings of another program, perhaps.
    { OTEL_TRACES_SAMPLER: 'of another vendor', OTEL_EXPORTER_OTLP_HEADERS: '?', OTEL_SERVICE_NAME: 'x' },
  ];
  for (const env of off) assert.equal(load(env).tracing, undefined, JSON.stringify(env));
  const on: readonly Env[] = [
    ENDPOINT,
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector/v1/traces' },
    { OTEL_TRACES_EXPORTER: 'otlp' },
    { OTEL_TRACES_EXPORTER: 'console', OTEL_SDK_DISABLED: 'false' },
  ];
  for (const env of on) assert.notEqual(load(env).tracing, undefined, JSON.stringify(env));
});

test('the defaults are those of OpenTelemetry, and a client is not believed', () => {
  assert.deepEqual(tracingOf({ OTEL_TRACES_EXPORTER: 'otlp' }), {
    trustParents: 'none',
    exporter: {
      kind: 'otlp',
      url: 'http://localhost:4318/v1/traces',
      sendsHeaders: false,
      compression: 'none',
      tls: { ca: undefined, cert: undefined, key: undefined },
    },
    sampler: { name: 'parentbased_always_on', ratio: 1 },
    batch: { intervalMs: 5000, exportTimeoutMs: 30_000, maxQueuedSpans: 2048, maxBatchSpans: 512 },
  });
  assert.equal(load(ENDPOINT, 'domains: { goods: { engine: { kind: sqlite } } }').tracing?.trustParents, 'none');
});

test('a variable of traces is read before the variable of all signals', () => {
  const read = otlpOf({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://all:4318/base/',
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=one%2Ctwo, tenant = a=b ,',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'GZIP',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
  });
  assert.deepEqual([read.url, read.sendsHeaders, read.compression], ['http://all:4318/base/v1/traces', true, 'gzip']);
  const exact = { ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces/in' };
  assert.equal(otlpOf(exact).url, 'https://traces/in', 'nothing is added to the endpoint of traces');
});

test('the sampler and the batches are read', () => {
  const { sampler, batch } = tracingOf({
    ...ENDPOINT,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.01',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=from-attributes,team=search%20core',
    OTEL_BSP_MAX_QUEUE_SIZE: '100',
    OTEL_BSP_SCHEDULE_DELAY: '50',
    OTEL_PROPAGATORS: 'tracecontext,baggage',
  });
  assert.deepEqual(sampler, { name: 'parentbased_traceidratio', ratio: 0.01 });
  assert.deepEqual(batch, { intervalMs: 50, exportTimeoutMs: 30_000, maxQueuedSpans: 100, maxBatchSpans: 100 });
});

test('a faulty variable is named with what is allowed, and credentials are never shown', () => {
  const cases: readonly (readonly [name: string, value: string, shown: string, allowed: RegExp])[] = [
    ['OTEL_TRACES_EXPORTER', 'zipkin', '"zipkin"', /^otlp, console, none$/],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', '"grpc"', /^http\/protobuf,/],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'http/json', '"http/json"', /^http\/protobuf,/],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', '"collector:4318"', /URL/],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://me:hunter2@host/', '"***@host/"', /HEADERS/],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization: hunter2', '***', /name=value/],
    ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'a=hunter2%0D%0Ab: c', '***', /name=value/],
    // The exporter would cut the value.
    ['OTEL_EXPORTER_OTLP_HEADERS', 'cookie=hunter2;b', '***', /percent-encoded/],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s', '"10s"', /^an integer from 1 to 600000$/],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote', '"jaeger_remote"', /^always_on, .*parentbased_traceidratio$/],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5', '"1.5"', /^a number from 0 to 1$/],
    ['OTEL_PROPAGATORS', 'tracecontext,b3', '"tracecontext,b3"', /^tracecontext/],
    ['OTEL_RESOURCE_ATTRIBUTES', 'team', '"team"', /name=value/],
    ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '4000', '4000', /at most the 2048 of OTEL_BSP_MAX_QUEUE_SIZE/],
    ['OTEL_EXPORTER_OTLP_CERTIFICATE', 'gone.pem', '"gone.pem"', /ENOENT/],
  ];
  for (const [name, value, shown, allowed] of cases) {
    const { faults, message } = faultsOf('', { env: { OTEL_TRACES_EXPORTER: 'otlp', [name]: value } });
    assert.deepEqual(
      faults.map((fault) => `${fault.path}: ${fault.value}`),
      [`${name}: ${shown}`],
    );
    assert.match(faults[0]?.allowed ?? '', allowed);
    assert.doesNotMatch(message, /hunter2/);
  }
});

test('a certificate for the collector comes with its key', () => {
  const { faults } = faultsOf('', {
    env: { ...ENDPOINT, OTEL_EXPORTER_OTLP_CLIENT_KEY: '/srv/key.pem' },
    files: { '/srv/key.pem': '-----BEGIN KEY-----' },
  });
  assert.deepEqual(pluck(faults, 'path'), [
    'OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE or OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE',
  ]);
});

test('headers that would cross the network in plain text are a warning without their values', () => {
  const warnings = (endpoint: string) =>
    settingsWarnings(
      load({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=hunter2' }),
    ).join();
  assert.match(warnings('http://collector:4318'), /^OTEL_EXPORTER_OTLP_HEADERS [^=]+$/);
  for (const endpoint of ['http://[::1]:4318', 'http://localhost:4318', 'https://collector']) {
    assert.equal(warnings(endpoint), '', endpoint);
  }
});

testFaults([
  [
    'parents are trusted from proxies only where proxies are named',
    'tracing: { trustParents: proxies }',
    [['tracing.trustParents', '"proxies"', /trustedProxies/]],
  ],
  [
    'a trust in parents that does not exist is a fault',
    'tracing: { trustParents: some }',
    [['tracing.trustParents', '"some"', /none, proxies, all|proxies/]],
  ],
]);
