import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { accepts, freePorts, startProcess } from '../../loadtest/stack/process.ts';
import { startSearchd } from '../../loadtest/stack/sphinx.ts';

const deploy = join(import.meta.dirname, '..', '..', 'deploy');

for (const kind of ['redis', 'valkey'] as const) {
  test(`${kind}-server starts from its file in deploy and is a pure cache`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'serpcache-deploy-'));
    const [port = 0] = await freePorts(1);
    const file = join(deploy, 'redis', `${kind}-cache.conf`);
    const server = await startProcess({
      name: `${kind}-server`,
      command: `${kind}-server`,
      // The same command as in deploy/compose.
      args: [
        ...[file, '--include', join(deploy, 'redis', 'cluster.conf'), '--port', String(port)],
        ...['--bind', '127.0.0.1', '--maxmemory', '32mb'],
      ],
      cwd: folder,
      logFile: join(folder, 'server.log'),
      ready: () => accepts(port),
    });
    t.after(async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    const client = new Redis({ port, lazyConnect: true, retryStrategy: null });
    client.on('error', () => {}); // the commands reject with the same error
    t.after(() => client.disconnect());
    await client.connect();
    const wanted = {
      save: '',
      appendonly: 'no',
      'rdb-del-sync-files': 'yes',
      'maxmemory-policy': 'allkeys-lru',
      'lazyfree-lazy-eviction': 'yes',
      'lazyfree-lazy-user-flush': 'yes',
      'latency-monitor-threshold': '50',
      'cluster-enabled': 'yes',
      'cluster-require-full-coverage': 'no',
      'protected-mode': 'yes',
    };
    for (const [name, value] of Object.entries(wanted)) {
      assert.deepEqual(await client.config('GET', name), [name, value]);
    }
  });
}

test('searchd starts from a generated configuration, after the printed command has built its indexes', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'serpcache-deploy-'));
  const domain = {
    name: 'goods',
    attributes: [{ name: 'price', type: 'number', facet: false, sort: true }],
    context: [],
    answerProfile: '',
  } as const;
  const documents = [{ id: 'a', title: 'кроссовки', description: 'летние', attributes: { price: 990 } }];
  const searchd = await startSearchd({ directory: folder, from: { domains: [{ domain, index: 'goods', documents }] } });
  t.after(async () => {
    await searchd.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  assert.deepEqual(
    searchd.source?.domains.map((one) => one.documents),
    [1],
  );
});
