import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { accepts, freePorts, startProcess } from '../../loadtest/stack/process.ts';
import { startStandalone } from '../../loadtest/stack/redis.ts';
import { startSearchd } from '../../loadtest/stack/sphinx.ts';
import { ADVISED_USER } from '../stores/redis/users.ts';

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
      args: [file, '--port', String(port), '--bind', '127.0.0.1', '--cluster-enabled', 'yes', '--maxmemory', '32mb'],
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
      'maxmemory-policy': 'allkeys-lru',
      'lazyfree-lazy-eviction': 'yes',
      'lazyfree-lazy-user-flush': 'yes',
      'latency-monitor-threshold': '50',
      'cluster-require-full-coverage': 'no',
      'protected-mode': 'yes',
    };
    for (const [name, value] of Object.entries(wanted)) {
      assert.deepEqual(await client.config('GET', name), [name, value]);
    }
  });
}

test('both files advise one user for serpcache, which is refused everything beyond its rights', async (t) => {
  const rulesIn = (kind: string): string =>
    /^# user serpcache on #<sha256> (.+)$/m.exec(
      readFileSync(join(deploy, 'redis', `${kind}-cache.conf`), 'utf8'),
    )?.[1] ?? '';
  assert.equal(rulesIn('redis'), rulesIn('valkey'));
  assert.equal(rulesIn('redis'), ADVISED_USER.rules);
  const { nodes, stop } = await startStandalone({ flavour: 'redis', acl: ADVISED_USER });
  t.after(stop);
  const [node] = nodes;
  await node?.command('SET', 'another:service', 'secret');
  const { username, password } = ADVISED_USER;
  const client = new Redis({ port: node?.port ?? 0, username, password, enableReadyCheck: false, retryStrategy: null });
  client.on('error', () => {}); // the commands reject with the same error
  t.after(() => client.disconnect());
  assert.equal(await client.set('sc1:a', '1'), 'OK');
  for (const [name = '', ...words] of [
    ['FLUSHALL'],
    ['FLUSHDB'],
    ['KEYS', '*'],
    ['CONFIG', 'GET', '*'],
    ['CONFIG', 'SET', 'dir', '/tmp'],
    ['CLUSTER', 'RESET'],
    ['CLIENT', 'LIST'],
    ['CLIENT', 'KILL', 'TYPE', 'normal'],
    ['ACL', 'LIST'],
    ['SCRIPT', 'FLUSH'],
    ['FUNCTION', 'FLUSH'],
    ['REPLICAOF', 'NO', 'ONE'],
    ['MODULE', 'LIST'],
    ['MONITOR'],
    ['PUBLISH', 'sc1:a', 'x'],
    ['SAVE'],
    ['SHUTDOWN', 'NOSAVE'],
    ['SWAPDB', 0, 1],
    ['GET', 'another:service'],
    ['STRLEN', 'another:service'],
    ['SET', 'another:service', 'x'],
    ['UNLINK', 'another:service'],
    ['EVAL', "return redis.call('GET', KEYS[1])", 1, 'another:service'],
    ['EVAL', "return redis.call('GET', 'another:service')", 1, 'sc1:a'],
    ['EVAL', "return redis.call('FLUSHALL')", 1, 'sc1:a'],
  ]) {
    await assert.rejects(client.call(String(name), words), /NOPERM|can't (?:access|run)/, `${name} ${words.join(' ')}`);
  }
  assert.equal(await node?.command('GET', 'another:service'), 'secret');
});

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
