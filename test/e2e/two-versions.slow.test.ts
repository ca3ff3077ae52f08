import assert from 'node:assert/strict';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startStandalone } from '../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../loadtest/stack/redis-node.ts';
import { sampleGoods, startSearchd } from '../../loadtest/stack/sphinx.ts';
import { queriesOf } from '../../loadtest/traffic/queries.ts';
import { leaseNames } from '../../src/cache/lease.ts';
import { buildWithResources, waitUntilReady } from '../faults/harness.ts';
import type { ServiceProcess } from '../faults/service.ts';
import { until } from '../until.ts';
import { BROAD, configurationOf, isHit, type Member, memberOf } from './fleet-harness.ts';

const CHECKOUT = join(import.meta.dirname, '..', '..');
const VERSION_AT = 2;

interface Side extends Member {
  /** Names of its entries in the store. */
  readonly names: () => Promise<readonly string[]>;
}

/** The source with the entry version 2, in a folder of its own. */
function buildOfVersion2(folder: string): string {
  cpSync(join(CHECKOUT, 'src'), join(folder, 'src'), {
    recursive: true,
    // The programs of src/node are large, and the service does not import them.
    filter: (from) => from !== join(CHECKOUT, 'src', 'node'),
  });
  cpSync(join(CHECKOUT, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(CHECKOUT, 'node_modules'), join(folder, 'node_modules'));
  const codec = join(folder, 'src', 'cache', 'codec.ts');
  const parts = readFileSync(codec, 'utf8').split('export const ENTRY_VERSION = 1;');
  assert.equal(parts.length, 2, 'src/cache/codec.ts sets ENTRY_VERSION once');
  writeFileSync(codec, parts.join('export const ENTRY_VERSION = 2;'));
  return folder;
}

/** A process of this version and one of the entry version 2, on one Redis. The tests depend on each other, in order. */
describe('two entry versions on one store', () => {
  let one: Side;
  let two: Side;
  /** Takes the place of `two` when the upgrade is rolled back. Not started yet. */
  let back: Side;
  let redis: RedisNode;
  let texts: readonly string[];
  let stop: (() => Promise<void>) | undefined;

  before(async () => {
    await buildWithResources('two-versions', async ({ directory, keep, services, ...resources }) => {
      stop = resources.stop;
      const goods = sampleGoods(400);
      texts = queriesOf(goods.documents, 12).repeated.filter((text) => text !== BROAD);
      const [stack, searchd, build] = await Promise.all([
        startStandalone({ flavour: 'redis' }).then(keep),
        startSearchd({
          directory: join(directory, 'searchd'),
          from: { domains: [{ domain: goods.domain, index: 'goods', documents: goods.documents }] },
        }).then(keep),
        buildOfVersion2(join(directory, 'version-2')),
      ]);
      const [node] = stack.nodes;
      assert.ok(node !== undefined);
      redis = node;
      const config = configurationOf(searchd, { store: { kind: 'standalone', nodes: [node.address] } });
      const [current, returned] = await services(['one', 'back'], { checkout: CHECKOUT });
      const [next] = await services(['two'], { checkout: build });
      assert.ok(current !== undefined && returned !== undefined && next !== undefined);
      const sideOf = (service: ServiceProcess, version: number): Side => ({
        ...memberOf(service, config),
        start: async () => {
          await service.start(config);
          await waitUntilReady(service);
        },
        names: async () => {
          const found = (await node.command('KEYS', `sc${version}:goods:{${'?'.repeat(22)}}`)) as readonly string[];
          return found.toSorted();
        },
      });
      one = sideOf(current, 1);
      two = sideOf(next, 2);
      back = sideOf(returned, 1);
      await Promise.all([one.start(), two.start()]);
    });
  });
  after(async () => {
    // Nothing is left to prove, and a process that drains takes a second.
    for (const side of [one, two, back]) side?.service.running()?.signal('SIGKILL');
    await stop?.();
  });

  /** The bytes of every entry of a version, by name. */
  const contents = async (side: Side): Promise<ReadonlyMap<string, string>> => {
    const names = await side.names();
    const values = await Promise.all(names.map((name) => redis.commandBuffer('GET', name)));
    return new Map(names.map((name, at) => [name, (values[at] as Buffer).toString('base64')]));
  };
  const bothFollow = async (revision: number): Promise<void> => {
    for (const { operator } of [one, two]) {
      await until('the change to be followed', async () => (await operator.control('goods')).revision >= revision);
    }
  };
  /** A change through the admin API of one process, which both processes have followed. */
  const change = async (through: Side, path: string, body: unknown): Promise<void> => {
    const answer = await through.operator.post(path, body);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    await bothFollow((await through.operator.control('goods')).revision);
  };

  test('each version fills its own entries, and leaves those of the other as they are', async () => {
    for (const text of texts) assert.match(await one.cacheStatusOf(text), /fwd=uri-miss/);
    await until('the pages to be stored', async () => (await one.names()).length === texts.length);
    const written = await contents(one);
    for (const text of texts) assert.match(await two.cacheStatusOf(text), /fwd=uri-miss/);
    await until('the pages to be stored', async () => (await two.names()).length === texts.length);
    assert.deepEqual(await contents(one), written);
    const namesOfTwo = (await two.names()).map((name) => name.replace('sc2:', 'sc1:'));
    assert.deepEqual(namesOfTwo, await one.names());
    for (const [side, version] of [
      [one, 1],
      [two, 2],
    ] as const) {
      for (const value of (await contents(side)).values()) {
        assert.equal(Buffer.from(value, 'base64').readUInt8(VERSION_AT), version);
      }
      for (const text of texts) assert.ok(isHit(await side.cacheStatusOf(text)), text);
      const misses = (reason: string): Promise<number> => side.service.metric('serpcache_misses_total', { reason });
      assert.deepEqual([await misses('unseen'), await misses('incompatible')], [texts.length, 0]);
    }
  });

  test('a lease of one version does not hold up the other', async () => {
    const text = `${BROAD} новый`;
    const [oneBefore, twoBefore] = [await one.engineCalls(), await two.engineCalls()];
    const key = ((await one.operator.get(`/admin/explain?q=${encodeURIComponent(text)}`)) as { key: string }).key;
    const { lease } = leaseNames(`sc1:goods:{${key}}`);
    await redis.command('SET', lease, 'another process', 'PX', 2000);
    const waiting = one.cacheStatusOf(text);
    assert.match(await two.cacheStatusOf(text), /fwd=uri-miss/);
    assert.equal(await redis.command('GET', lease), 'another process');
    assert.equal(await one.engineCalls(), oneBefore);
    await redis.command('DEL', lease);
    await waiting;
    assert.deepEqual([await one.engineCalls(), await two.engineCalls()], [oneBefore + 1, twoBefore + 1]);
  });

  test('each version counts the processes of both, and divides the permits of the engine by them', async () => {
    for (const { service } of [one, two]) {
      await until('both processes to be counted', async () => (await service.metric('serpcache_processes')) === 2);
    }
  });

  test('a suppression, a purge and a flush made through either version hold in both', async () => {
    const [id = ''] = (await one.page(BROAD)).ids;
    assert.ok((await two.page(BROAD)).ids.includes(id));
    await change(one, '/admin/suppress', { domain: 'goods', ids: [id], reason: 'sold' });
    for (const side of [one, two]) assert.ok(!(await side.page(BROAD)).ids.includes(id));

    const [purged = '', kept = ''] = texts.filter((text) => text !== BROAD);
    await change(two, '/admin/purge', { domain: 'goods', q: purged });
    for (const side of [one, two]) {
      assert.match(await side.cacheStatusOf(purged), /detail=flushed/);
      assert.ok(isHit(await side.cacheStatusOf(kept)));
    }

    await change(two, '/admin/flush', { domain: 'goods', mode: 'drop', fraction: 1, reason: 'a new catalogue' });
    for (const side of [one, two]) assert.match(await side.cacheStatusOf(kept), /detail=flushed/);
  });

  test('an erasure hides the pages of both versions, and frees the memory of its own', async () => {
    const before = await two.names();
    await change(one, '/admin/flush', { domain: 'goods', mode: 'erase', fraction: 1, reason: 'a new catalogue' });
    await until('the entries to be removed', async () => (await one.names()).length === 0);
    assert.deepEqual(await two.names(), before);
    assert.match(await one.cacheStatusOf(texts[0] ?? ''), /detail=unseen/);
    assert.match(await two.cacheStatusOf(texts[0] ?? ''), /detail=flushed/);
  });

  test('after a rollback the cache of the old version is warm, and the entries of the new one wait to expire', async () => {
    for (const text of texts) await one.cacheStatusOf(text);
    await until('the pages to be stored', async () => (await one.names()).length >= texts.length);
    const ofTwo = await contents(two);
    await Promise.all([two.service.stop(), back.start()]);
    for (const text of texts) assert.ok(isHit(await back.cacheStatusOf(text)), text);
    assert.equal(await back.engineCalls(), 0);
    assert.deepEqual(await contents(two), ofTwo);
    for (const name of ofTwo.keys()) assert.ok(Number(await redis.command('PTTL', name)) > 0, name);
  });
});
