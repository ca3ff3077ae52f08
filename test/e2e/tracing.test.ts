import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startStandalone } from '../../loadtest/stack/redis.ts';
import { loadSettings } from '../../src/config/load.ts';
import { buildSmallIndex, createServiceHere } from '../fakes/small-service.ts';
import { type ReceivedSpan, startCollector } from '../tracing/collector.ts';

const directory = mkdtempSync(join(tmpdir(), 'serpcache-traced-'));
const stack = new AsyncDisposableStack();
const collector = await startCollector({ after });
let urls = { publicUrl: '', adminUrl: '' };
/** Sends the spans that have ended. */
let flush = async (): Promise<void> => {};

before(async () => {
  const redis = await startStandalone({ flavour: 'redis' });
  stack.defer(() => redis.stop());
  const file = join(directory, 'serpcache.yaml');
  writeFileSync(
    file,
    `
# On a busy machine a late reply does not mean that a part is overloaded.
public: { port: 0, maxLoopDelay: 1m }
admin: { port: 0 }
domains:
  goods:
    store: { kind: standalone, nodes: ["127.0.0.1:${redis.nodes[0]?.port}"], deadline: 10s, socketTimeout: 30s }
    patience: 10s
    engine: { kind: sqlite, directory: index, workers: 1, deadline: 5s, hardDeadline: 10s }
    attributes: {}
`,
  );
  const env = {
    SERPCACHE_CONFIG: file,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  };
  Object.assign(process.env, env);
  const settings = loadSettings({ env, cwd: directory });
  await buildSmallIndex(settings, directory);
  const service = await createServiceHere(settings);
  let closing: Promise<void> | undefined;
  flush = () => {
    closing ??= service.close();
    return closing;
  };
  stack.defer(flush);
  urls = await service.listen();
});
after(async () => {
  await stack.disposeAsync();
  rmSync(directory, { recursive: true, force: true });
});

test('a miss, a hit of the lane and an exemplar tell the same traces to a collector and to Prometheus', async () => {
  const ask = async (): Promise<string> => {
    const response = await fetch(`${urls.publicUrl}/search?q=${encodeURIComponent('диван')}`);
    await response.arrayBuffer();
    return response.headers.get('traceresponse')?.split('-')[1] ?? assert.fail('not traced');
  };
  const [miss, hit] = [await ask(), await ask()];
  assert.notEqual(miss, hit, 'each request is a trace of its own');
  const scraped = await fetch(`${urls.adminUrl}/metrics`, { headers: { accept: 'application/openmetrics-text' } });
  const page = await scraped.text();
  for (const traceId of [miss, hit]) assert.match(page, new RegExp(`# \\{trace_id="${traceId}"\\}`));
  await flush();

  const of = (traceId: string): readonly ReceivedSpan[] => collector.spans.filter((span) => span.traceId === traceId);
  const tree = (spans: readonly ReceivedSpan[]): string[] => {
    const name = new Map(spans.map((span) => [span.spanId, span.name]));
    return spans.map((span) => `${name.get(span.parentId) ?? ''} > ${span.name}`).sort();
  };
  assert.deepEqual(tree(of(miss)), [
    ' > GET /search',
    'GET /search > l1',
    'GET /search > l2',
    'GET /search > load',
    'load > engine',
    'load > lease',
    'load > permit',
  ]);
  assert.deepEqual(tree(of(hit)), [' > GET /search', 'GET /search > l1']);
  const root = of(miss).find(({ parentId }) => parentId === '');
  assert.equal(root?.facts['serpcache.outcome'], 'engine');
  assert.equal(root?.resource['service.version'], '1.2.3');
  assert.equal(root?.resource['deployment.environment.name'], 'test');
  const l2 = of(miss).find((span) => span.name === 'l2');
  assert.match(String(l2?.facts['serpcache.node']), /^127\.0\.0\.1:\d+$/);
  assert.doesNotMatch(
    JSON.stringify(collector.spans, (_, value) => (typeof value === 'bigint' ? '' : value)),
    /диван/,
  );
});
