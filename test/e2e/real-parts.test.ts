import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type RedisStack, startCluster } from '../../loadtest/stack/redis.ts';
import { type RunningSearchd, sampleGoods, startSearchd } from '../../loadtest/stack/sphinx.ts';
import { createSigning, seal } from '../../src/cache/signing.ts';
import { loadSettings } from '../../src/config/load.ts';
import { emptyDocument } from '../../src/control/document.ts';
import { encodeDocument } from '../../src/control/document-codec.ts';
import { eachServer } from '../engines/sphinx/harness.ts';
import { createServiceHere } from '../fakes/small-service.ts';
import { until } from '../until.ts';
import { ask, type Service, startService } from './service-harness.ts';

/**
 * Searches over a real Redis Cluster and a real searchd, by the service in a process of its own. The tests
 * depend on each other, in order.
 */
eachServer((name, server) => {
  describe(`over a cluster and searchd of ${name}`, () => {
    let cluster: RedisStack;
    let searchd: RunningSearchd;
    let service: Service;
    let domains = '';
    const directory = mkdtempSync(join(tmpdir(), 'serpcache-e2e-sphinx-'));

    before(async () => {
      cluster = await startCluster({ flavour: 'redis', masters: 3 });
      searchd = await startSearchd({
        directory,
        server,
        from: { domains: [{ ...sampleGoods(3000), index: 'goods' }] },
      });
      const nodes = cluster.nodes.map(({ address }) => `"${address}"`).join(', ');
      const engine = `kind: ${server.dialect}, host: 127.0.0.1, port: ${searchd.port}, index: goods, idAttribute: doc_id`;
      // On a busy machine a late reply does not mean that a part is slow.
      domains = `  goods:
    store: { kind: cluster, nodes: [${nodes}], deadline: 10s, socketTimeout: 30s }
    patience: 10s
    engine: { ${engine}, maxConcurrent: 4, deadline: 5s, hardDeadline: 10s }
    attributes:
      category: { type: string, facet: true }
      city: { type: string, facet: true }
      price: { type: integer, sort: true }
`;
      service = await startService(domains, { SIGNING_KEY: 'k'.repeat(32) });
      await until('the store to be connected', async () => (await readiness(service)).status === 'ready');
    });
    after(async () => {
      await service?.stop();
      await searchd?.stop();
      await cluster?.stop();
      rmSync(directory, { recursive: true, force: true });
    });

    test('first the engine, then L1; after a restart L2, then L1: the same bytes and ETag, per coding', async () => {
      const seen: { step: string; gzip: string | null; identity: string | null; body: string }[] = [];
      const look = async (step: string): Promise<void> => {
        const [zipped, plain] = [
          await ask(service, 'Кроссовки', '&facet=city', { 'accept-encoding': 'gzip' }),
          await ask(service, 'кроссовки ', '&facet=city&utm_source=x', { 'accept-encoding': 'identity' }),
        ];
        assert.equal(zipped.headers.get('content-encoding'), 'gzip');
        assert.equal(zipped.body, plain.body);
        seen.push({
          step: `${step}: ${zipped.cacheStatus}`,
          gzip: zipped.etag,
          identity: plain.etag,
          body: plain.body,
        });
      };
      await look('first');
      await look('again');
      await service.restart();
      await until('the store to be connected', async () => (await readiness(service)).status === 'ready');
      await look('restarted');
      const [first, again, restarted] = seen;
      assert.match(first?.step ?? '', /serpcache-l2; fwd=uri-miss; stored.*, serpcache-l1; fwd=uri-miss; stored/);
      assert.match(again?.step ?? '', /^again: serpcache-l1; hit; ttl=\d+$/);
      assert.match(restarted?.step ?? '', /^restarted: serpcache-l2; hit; ttl=\d+, serpcache-l1; fwd=uri-miss$/);
      for (const each of [again, restarted]) {
        assert.deepEqual([each?.gzip, each?.identity, each?.body], [first?.gzip, first?.identity, first?.body]);
      }
      assert.ok(first?.gzip?.endsWith('-gz"') && first.identity === first.gzip.replace('-gz"', '"'));
      assert.ok(JSON.parse(first?.body ?? '').results.length > 0);
    });

    test('a process with another signing key accepts neither the stored pages nor the stored control document', async (t) => {
      const yaml = `public: { port: 0, drain: 100ms, maxLoopDelay: 1m }\nadmin: { port: 0 }\naudit: { file: ${join(directory, 'audit')} }\ndomains:\n${domains}`;
      const settings = loadSettings({
        env: { SERPCACHE_CONFIG: 'other.yaml', SIGNING_KEY: 'o'.repeat(32) },
        cwd: directory,
        readFile: () => yaml,
      });
      const signing = createSigning({ key: 'k'.repeat(32), required: true }, 'goods');
      const { tag, value } = encodeDocument({ ...emptyDocument, revision: 1, stamp: 'ours' });
      const sealed = seal(signing, 'document', '', value).toString();
      const slots = cluster.nodes.map((node) =>
        node.command('HSET', 'sc1:goods:{control:goods}', 'tag', tag, 'value', sealed).catch(() => {}),
      );
      await Promise.all(slots);
      const other = await createServiceHere(settings);
      t.after(other.close);
      const { publicUrl } = await other.listen();
      const domain = async (url: string) => (await readiness({ url })).domains[0];
      let tries = 0;
      await until('a page that was computed, because the stored one is not believed', async () => {
        tries += 1;
        await ask(service, 'кроссовки', `&facet=city&filter=price:${tries}..`);
        const { cacheStatus, status } = await ask(
          { url: publicUrl },
          'кроссовки',
          `&facet=city&filter=price:${tries}..`,
        );
        assert.deepEqual([status, /detail=unsigned/.test(cacheStatus)], [200, true], cacheStatus);
      });
      await until('each to have read the document', async () => (await domain(publicUrl))?.control === 'corrupt');
      assert.equal((await domain(service.url))?.control, 'ok');
    });

    test('a batch has a status for each item', async () => {
      const response = await fetch(`${service.url}/msearch`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ searches: [{ q: 'кроссовки', facet: ['city'] }, { q: 'диван' }, { q: '' }] }),
      });
      const { results } = (await response.json()) as { results: { status: number }[] };
      const statuses = results.map(({ status }) => status);
      assert.deepEqual(statuses, [200, 200, 400]);
    });

    test('the metrics page has the outcomes, under the names that operators know', async () => {
      const text = await (await fetch(`${service.adminUrl}/metrics`)).text();
      for (const name of ['hit-l1', 'hit-l2', 'engine']) {
        assert.match(text, new RegExp(`^serpcache_requests_total\\{.*outcome="${name}".*\\} [1-9]`, 'm'), name);
      }
      assert.match(text, /^redis_pipeline_duration_seconds\{quantile="0.99",type="read"\} \d/m);
      assert.match(text, /^redis_pipeline_batch_size_summary\{.*type="read".*\} \d/m);
      assert.match(text, /^redis_pipeline_execution_failures\{type="read"\} \d/m);
    });

    test('the service logged no error in these tests', () => {
      const errors = service
        .log()
        .split('\n')
        .filter((line) => /"level":"(error|fatal)"/.test(line));
      assert.deepEqual(errors, []);
    });
  });
});

async function readiness({ url }: Pick<Service, 'url'>) {
  const body = (await fetch(`${url}/readyz`)).json();
  return body as Promise<{ readonly status: string; readonly domains: readonly { readonly control: string }[] }>;
}
