import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, mock, type TestContext, test } from 'node:test';
import { startRespProxy } from '../../../loadtest/fault-proxy/resp-proxy.ts';
import { freePorts } from '../../../loadtest/stack/process.ts';
import { startCluster, startStandalone } from '../../../loadtest/stack/redis.ts';
import { readOnce, type StoreReason } from '../../../src/cache/store.ts';
import type { RedisSettings } from '../../../src/stores/redis/connection.ts';
import { storeReasonOf } from '../../../src/stores/redis/errors.ts';
import { temporaryFolder } from '../../folder.ts';
import { pluck } from '../../pluck.ts';
import { until } from '../../until.ts';
import {
  CONNECTION,
  clusterOf,
  connected,
  connectedFor,
  openedFor,
  openStore,
  probeOf,
  sentinelOf,
  standaloneOf,
  startedFor,
} from './harness.ts';

/** It is connected, writes and reads. */
async function serves(t: TestContext, settings: RedisSettings): Promise<void> {
  const { store } = await connectedFor(t, settings);
  assert.equal((await store.write('a', Buffer.from('1'), 60_000)).kind, 'stored');
  assert.equal((await readOnce(store, 'a', 1000)).kind, 'value');
  assert.deepEqual(pluck(store.nodes(), 'trouble'), [undefined]);
}

const WITHOUT = ['rename-command INFO ""', 'rename-command CLIENT ""'];

// Each test has its own server.
describe('a server that refuses INFO and CLIENT is ready', { concurrency: true }, () => {
  const lines: unknown[] = [];
  before(() => {
    mock.method(console, 'warn', (...line: readonly unknown[]) => lines.push(line));
  });
  after(() => {
    mock.restoreAll();
    assert.deepEqual(lines, [], 'nothing is written to the console');
  });

  test('because its user may not use them', async (t) => {
    const acl = { username: 'app', password: 'secret', rules: '~* +@all -info -client' };
    const stack = await startedFor(t, startStandalone({ flavour: 'redis', acl }));
    await serves(t, standaloneOf(stack, { username: acl.username, password: acl.password }));
  });

  for (const flavour of ['redis', 'valkey'] as const) {
    test(`because it does not know them (${flavour})`, async (t) => {
      await serves(t, standaloneOf(await startedFor(t, startStandalone({ flavour, config: WITHOUT }))));
    });
  }

  test('as a node of a cluster', async (t) => {
    await serves(t, clusterOf(await startedFor(t, startCluster({ flavour: 'redis', masters: 1, config: WITHOUT }))));
  });

  test('by the end of the connection, as some proxies do, or by an answer that is no INFO', async (t) => {
    const stack = await startedFor(t, startStandalone({ flavour: 'redis' }));
    const [target] = stack.nodes;
    assert.ok(target !== undefined);
    const proxy = await startedFor(t, startRespProxy({ target }));
    const settings = standaloneOf({ nodes: [proxy] });
    const end = { last: Buffer.alloc(0), end: 'reset' } as const;
    proxy.answer(([name]) => (/^(info|client)$/i.test(String(name)) ? end : undefined));
    await serves(t, settings);
    for (const reply of ['$-1', '*-1', ':1', '*0', '+OK', '-unsupported command', '-PERM no']) {
      proxy.answer(([name]) => (/^info$/i.test(String(name)) ? Buffer.from(`${reply}\r\n`) : undefined));
      await serves(t, settings);
    }
  });
});

test('a Unix socket is a store, for searches and for the doctor', async (t) => {
  const path = join(temporaryFolder(t), 'redis.sock');
  const settings = { kind: 'standalone', nodes: [{ path }], database: 3, ...CONNECTION } as const;
  const { store, events } = openedFor(t, settings);
  await until('the reason', () => events.some((event) => event.kind === 'connection' && event.reason === 'refused'));
  await startedFor(t, startStandalone({ flavour: 'redis', config: [`unixsocket ${path}`] }));
  await serves(t, settings);
  await connected(store, 1);
  assert.equal(store.locate('a').node, `unix:${path}`);
  const probe = probeOf(settings, t);
  const list = await probe.nodes();
  assert.deepEqual(list, { known: [{ address: `unix:${path}`, role: 'master' }] });
  assert.equal((await probe.ask(`unix:${path}`, ['PING'])).kind, 'reply');
});

describe('one word says why a store is not ready', { concurrency: true }, () => {
  const reasonFrom = async (settings: RedisSettings, expected: StoreReason): Promise<void> => {
    const { store } = openStore(settings);
    const shown = () => [store.trouble(), ...store.nodes().map(({ trouble }) => trouble)];
    try {
      await until(`the reason ${expected}`, () => shown().includes(expected));
      assert.ok(!store.nodes().some((node) => node.connected));
    } finally {
      await store.close();
    }
  };

  test('refused: nothing listens there; no-master: no sentinel names one', async () => {
    const [port = 0] = await freePorts(1);
    const nodes = [{ host: '127.0.0.1', port }];
    await reasonFrom(standaloneOf({ nodes }), 'refused');
    await reasonFrom(clusterOf({ nodes }), 'refused');
    await reasonFrom(sentinelOf({ sentinels: nodes }), 'no-master');
  });

  test('unknown-host, credentials, no-cluster, timeout and full', async (t) => {
    await reasonFrom(standaloneOf({ nodes: [{ host: 'no-such-host.invalid', port: 6379 }] }), 'unknown-host');
    const config = ['requirepass right'];
    const operator = { username: 'default', password: 'right' };
    const stack = await startedFor(t, startStandalone({ flavour: 'redis', config, operator }));
    await reasonFrom(standaloneOf(stack), 'credentials');
    await reasonFrom(standaloneOf(stack, { password: 'wrong' }), 'credentials');
    await reasonFrom(clusterOf(stack), 'credentials');
    const right = { password: 'right' };
    await reasonFrom(clusterOf(stack, right), 'no-cluster');
    const [server] = stack.nodes;
    await server?.pause();
    try {
      await reasonFrom(standaloneOf(stack, { ...right, socketTimeoutMs: 300 }), 'timeout');
    } finally {
      server?.resume();
    }
    await server?.command('CONFIG', 'SET', 'maxclients', 1);
    await connectedFor(t, standaloneOf(stack, right));
    await reasonFrom(standaloneOf(stack, right), 'full');
  });

  test('full, although the server has no password whose check it could refuse', async (t) => {
    const stack = await startedFor(t, startStandalone({ flavour: 'redis' }));
    await stack.nodes[0]?.command('CONFIG', 'SET', 'maxclients', 1);
    await connectedFor(t, standaloneOf(stack));
    await reasonFrom(standaloneOf(stack), 'full');
  });

  test('cluster-down: no node has slots', async (t) => {
    const config = ['cluster-enabled yes'];
    const stack = await startedFor(t, startStandalone({ flavour: 'redis', config }));
    await reasonFrom(clusterOf(stack), 'cluster-down');
  });

  test('by the message of the server or the code of the network', () => {
    const words: readonly (readonly [string, StoreReason])[] = [
      ['NOAUTH Authentication required.', 'credentials'],
      ['LOADING Redis is loading the dataset in memory', 'loading'],
      ['MASTERDOWN Link with MASTER is down', 'loading'],
      ['CLUSTERDOWN The cluster is down', 'cluster-down'],
      ["READONLY You can't write against a read only replica.", 'read-only'],
      ['EHOSTUNREACH connect EHOSTUNREACH 10.0.0.1:6379', 'unreachable'],
      ['connect ETIMEDOUT', 'timeout'],
      ['the handshake timed out', 'timeout'],
      ['a reply that no command waits for, at byte 0 of 31: ERR max number of clients reached', 'full'],
      ['self-signed certificate in certificate chain', 'tls'],
      ['a reply that is no RESP at byte 0 of 5', 'protocol'],
      ['All sentinels are unreachable. Retrying from scratch after 50ms.', 'no-master'],
      ['All sentinels are unreachable. Last error: connect ECONNREFUSED 10.0.0.1:26379', 'refused'],
      ['read ECONNRESET', 'closed'],
      ['something new', 'other'],
    ];
    for (const [text, reason] of words) assert.equal(storeReasonOf(text), reason, text);
  });
});
