import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { Redis } from 'ioredis';
import { openUsers, operatorOf, passwordOf, userLines } from '../../deploy/check/stores-service.ts';
import {
  backlogBytes,
  clusterFailoverBoundMs,
  directivesOf,
  failoverBoundMs,
  numberOf,
  optionalDirectivesOf,
  partitionWindowMs,
  pathOf,
  repeatedFailoverBoundMs,
  replicaRule,
  sentinelTimes,
  startDelayMs,
  textOf,
} from '../../deploy/check/stores-windows.ts';
import { accepts, freePorts, startProcess } from '../../loadtest/stack/process.ts';
import { startStandalone } from '../../loadtest/stack/redis.ts';
import { startRedisNode } from '../../loadtest/stack/redis-node.ts';
import { temporaryFolder } from '../folder.ts';
import { assertNone } from '../pluck.ts';
import { until } from '../until.ts';

const USERS = [...textOf('users.acl').matchAll(/^user (\S+) off/gm)].map(([, name = '']) => name);

function clientAs(t: TestContext, port: number, user?: { readonly username: string; readonly password: string }) {
  const client = new Redis({
    port,
    ...user,
    protocol: 2,
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: null,
  });
  client.on('error', () => {}); // the commands reject with the same error
  t.after(() => client.disconnect());
  return client;
}

test('no directive of an overlay stands in a cache file, except those that control.conf changes', () => {
  const namesIn = (file: string): readonly string[] => directivesOf(file).map((line) => line.split(' ')[0] ?? '');
  for (const cache of ['redis-cache.conf', 'valkey-cache.conf']) {
    const own = new Set(namesIn(cache));
    for (const overlay of ['cluster.conf', 'replicas.conf']) {
      assertNone(namesIn(overlay), (name) => own.has(name));
    }
    assert.deepEqual(
      namesIn('control.conf').filter((name) => own.has(name)),
      ['maxmemory-policy', 'maxmemory', 'appendonly'],
    );
  }
  const [redis, valkey] = ['redis-cache.conf', 'valkey-cache.conf'].map(directivesOf);
  assert.deepEqual(redis, valkey);
});

test('what no server would complain of has the value that its reason asks for', () => {
  for (const [file, line] of [
    ['cluster.conf', 'cluster-require-full-coverage no'],
    ['cluster.conf', 'cluster-replica-validity-factor 0'],
    ['cluster.conf', 'cluster-allow-replica-migration no'],
    ['replicas.conf', 'replica-read-only yes'],
    ['replicas.conf', 'replica-serve-stale-data yes'],
    ['replicas.conf', 'replica-ignore-maxmemory yes'],
    ['replicas.conf', 'repl-timeout 60'],
    ['control.conf', 'maxmemory-policy noeviction'],
    ['control.conf', 'appendonly yes'],
    ['control.conf', 'appendfsync everysec'],
    ['control.conf', 'aof-load-truncated yes'],
    ['sentinel.conf', 'protected-mode yes'],
    ['sentinel.conf', 'sentinel parallel-syncs serpcache 1'],
    ['sentinel.conf', 'sentinel deny-scripts-reconfig yes'],
  ] as const) {
    assert.ok(directivesOf(file).includes(line), `${file}: ${line}`);
  }
  // Two of three sentinels are left when a machine is lost.
  assert.match(directivesOf('sentinel.conf').join('\n'), /^sentinel monitor serpcache <master-address> 6379 2$/m);
});

test('a server with replicas starts later than any failover ends, with Sentinel and in a cluster', () => {
  assert.ok(startDelayMs() > repeatedFailoverBoundMs(sentinelTimes()));
  assert.ok(startDelayMs() > clusterFailoverBoundMs(numberOf('cluster.conf', 'cluster-node-timeout')));
});

test('Sentinel and a cluster wait for a silent master equally long', () => {
  assert.equal(sentinelTimes().downAfterMs, numberOf('cluster.conf', 'cluster-node-timeout'));
});

test('a cache has no bound in a partition, and a control store with a replica has one', () => {
  assert.equal(partitionWindowMs(replicaRule()), Number.POSITIVE_INFINITY);
  const [strict = ''] = optionalDirectivesOf('control.conf', /^min-replicas-to-write$/);
  const minReplicas = Number(strict.split(' ')[1]);
  assert.ok(partitionWindowMs({ ...replicaRule(), minReplicas }) < failoverBoundMs(sentinelTimes()));
});

test('the backlog holds a mebibyte a second for a minute, and less than a replica may fall behind', () => {
  const size = numberOf('replicas.conf', 'repl-backlog-size');
  assert.ok(size >= backlogBytes({ bytesPerSecond: 2 ** 20, outageSeconds: 60 }));
  assert.ok(backlogBytes({ bytesPerSecond: 2 ** 21, outageSeconds: 60 }) > size);
});

/** Commands beyond the rights of serpcache. */
const REFUSED = `
  FLUSHALL, FLUSHDB, KEYS *, CONFIG GET *, CONFIG SET dir /tmp, CLUSTER RESET, CLIENT LIST, CLIENT KILL TYPE normal,
  ACL LIST, SCRIPT FLUSH, FUNCTION FLUSH, REPLICAOF NO ONE, MODULE LIST, MONITOR, PUBLISH sc1:a x, SAVE, SHUTDOWN NOSAVE,
  SWAPDB 0 1, GET another:service, GET scx:a, STRLEN another:service, SET another:service x, UNLINK another:service
`
  .split(',')
  .map((command) => command.trim().split(' '));

// Each has its own servers.
describe('over real servers', { concurrency: 3 }, () => {
  for (const flavour of ['redis', 'valkey'] as const) {
    test(`${flavour} loads users.acl as it is, and answers nobody`, async (t) => {
      const folder = temporaryFolder(t);
      const [port = 0] = await freePorts(1);
      copyFileSync(pathOf('users.acl'), join(folder, 'users.acl'));
      const server = await startProcess({
        name: flavour,
        command: `${flavour}-server`,
        args: [pathOf(`${flavour}-cache.conf`), '--port', String(port), '--aclfile', join(folder, 'users.acl')],
        cwd: folder,
        logFile: join(folder, 'server.log'),
        ready: () => accepts(port),
      });
      t.after(() => server.stop());
      await assert.rejects(clientAs(t, port).ping(), /NOAUTH/);
      for (const username of USERS) {
        for (const password of ['', username]) {
          const client = clientAs(t, port);
          await assert.rejects(client.call('AUTH', username, password), /WRONGPASS/, username);
        }
      }
    });
  }

  test('the user of serpcache is refused everything beyond its rights', async (t) => {
    const folder = temporaryFolder(t);
    const users = openUsers('users.acl', folder);
    const { nodes, stop } = await startStandalone({
      flavour: 'redis',
      operator: operatorOf(users.passwords),
      config: userLines(users),
    });
    t.after(stop);
    const [node] = nodes;
    await node?.command('SET', 'another:service', 'secret');
    const password = passwordOf(users.passwords, 'serpcache');
    const client = clientAs(t, node?.port ?? 0, { username: 'serpcache', password });
    assert.equal(await client.set('sc1:a', '1'), 'OK');
    assert.equal(await client.set('sc2:a', '1'), 'OK', 'the next entry version');
    for (const [name = '', ...words] of [
      ...REFUSED,
      ['EVAL', "return redis.call('GET', KEYS[1])", 1, 'another:service'],
      ['EVAL', "return redis.call('GET', 'another:service')", 1, 'sc1:a'],
      ['EVAL', "return redis.call('FLUSHALL')", 1, 'sc1:a'],
    ]) {
      const asked = client.call(String(name), words);
      await assert.rejects(asked, /NOPERM|can't (?:access|run)/, `${name} ${words.join(' ')}`);
    }
    assert.equal(await node?.command('GET', 'another:service'), 'secret');
  });

  test('a replica copies as its own user, which may do nothing else, and leaves no file behind', async (t) => {
    const folder = temporaryFolder(t);
    const users = openUsers('users.acl', folder);
    const operator = operatorOf(users.passwords);
    const [masterPort = 0, replicaPort = 0] = await freePorts(2);
    const config = [...userLines(users), `include ${pathOf('replicas.conf')}`, 'maxmemory 256mb'];
    const nodeAt = (port: number, more: readonly string[]) =>
      startRedisNode({
        flavour: 'valkey',
        port,
        operator,
        directory: join(folder, String(port)),
        config: [...config, ...more],
      });
    const master = await nodeAt(masterPort, []);
    t.after(master.stop);
    await master.command('SET', 'sc1:a', 'x');
    const replica = await nodeAt(replicaPort, [`replicaof 127.0.0.1 ${masterPort}`]);
    t.after(replica.stop);
    const isCopied = async (): Promise<boolean> => (await replica.command('GET', 'sc1:a')) === 'x';
    await until('the first copy', isCopied);
    // A replica that holds pages receives the next copy into a file.
    await replica.command('REPLICAOF', 'NO', 'ONE');
    await replica.command('SET', 'sc1:own', 'x');
    await replica.command('REPLICAOF', '127.0.0.1', masterPort);
    const isCopiedAgain = async (): Promise<boolean> => (await replica.command('EXISTS', 'sc1:own')) === 0;
    await until('the second copy', isCopiedAgain);
    assert.equal(existsSync(join(folder, String(replicaPort), 'dump.rdb')), false);
    const password = passwordOf(users.passwords, 'replication');
    const client = clientAs(t, masterPort, { username: 'replication', password });
    for (const [name = '', ...words] of [['GET', 'sc1:a'], ['FLUSHALL'], ['CONFIG', 'GET', 'dir'], ['INFO']]) {
      await assert.rejects(client.call(name, words), /NOPERM/, name);
    }
  });
});

test('the servers of compose and of a machine start from one file, without lines of their own for users', () => {
  for (const file of ['redis-cache.conf', 'valkey-cache.conf']) {
    assert.match(textOf(file), /^# aclfile \/etc\/(?:redis|valkey)\/users\.acl$/m);
    assert.doesNotMatch(readFileSync(pathOf(file), 'utf8'), /^#? ?user /m);
  }
});
