import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePorts } from '../../../loadtest/stack/process.ts';
import { until } from '../../../loadtest/stack/redis.ts';
import { startRedisNode } from '../../../loadtest/stack/redis-node.ts';
import { leaseNames } from '../../../src/cache/store.ts';
import { CONNECTION, connected, openStore } from './open.ts';

const NAME = 'sc1:goods:{loaded}';

test('a server that loads its data is down, never empty, and is used as soon as it has loaded', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'serpcache-loading-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const [port = 0] = await freePorts(1);
  // 25,000 keys of 40 µs take a second and more: a sleep so short is longer. It looks at its clients every few KB.
  const config = ['enable-debug-command local', 'key-load-delay 40', 'loading-process-events-interval-bytes 1024'];
  const server = await startRedisNode({ flavour: 'redis', port, directory, config });
  t.after(server.stop);
  const { store, events } = openStore({
    kind: 'standalone',
    nodes: [{ host: '127.0.0.1', port }],
    database: 0,
    ...CONNECTION,
  });
  t.after(store.close);
  await connected(store, 1);
  await server.command('DEBUG', 'POPULATE', 25_000);
  assert.equal((await store.write(NAME, Buffer.from('x'), 600_000)).kind, 'stored');
  const [first] = await store.epochs(2000);
  await server.command('SAVE');

  const seen = new Map<string, number>();
  const see = (what: string): void => {
    seen.set(what, (seen.get(what) ?? 0) + 1);
  };
  const reload = server.command('DEBUG', 'RELOAD').then(
    () => {},
    () => {}, // its own patience may be shorter
  );
  await until('the server to have loaded', async () => {
    const read = await store.read(NAME, 50);
    see(read.kind === 'fault' ? read.fault : read.kind);
    if (read.kind === 'fault') {
      const taken = await store.leases.take(leaseNames(NAME), 'a', 1000, 50);
      assert.ok(taken.kind === 'fault' || taken.kind === 'taken', taken.kind);
    }
    return read.kind === 'value' && seen.size > 1;
  });
  await reload;
  assert.equal(seen.get('absent'), undefined, 'a server that is loading looked empty');
  assert.ok((seen.get('store-down') ?? 0) + (seen.get('node-open') ?? 0) > 0, [...seen].join(' '));
  assert.ok(events.some((event) => event.kind === 'breaker' && event.state === 'open'));
  // What was loaded is what was saved: nothing is lost.
  assert.deepEqual(await store.epochs(2000), [first]);
});
