import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type RedisStack, startStandalone } from '../../loadtest/stack/redis.ts';
import type { Service } from '../../src/app.ts';
import { loadSettings } from '../../src/config/load.ts';
import type { Settings } from '../../src/config/settings.ts';
import { buildSmallIndex, createServiceHere } from '../fakes/small-service.ts';
import { temporaryFolder } from '../folder.ts';
import { until } from '../until.ts';
import { ask } from './service-harness.ts';

const directory = temporaryFolder({ after });
const TOKEN = 'a-token-for-two-replicas';
/** The stream of another team. */
const SOURCE = 'indexer:goods';

type Running = Service & { readonly url: string; readonly adminUrl: string };

/** Two replicas of one domain on one Redis server and one embedded index. The tests depend on each other, in order. */
describe('the feed of changes in two replicas', () => {
  let redis: RedisStack | undefined;
  let settings: Settings;
  let one: Running;
  let two: Running;
  const start = async (): Promise<Running> => {
    const service = await createServiceHere(settings);
    return {
      ...service,
      ...(await service.listen().then(({ publicUrl, adminUrl }) => ({ url: publicUrl, adminUrl }))),
    };
  };
  before(async () => {
    redis = await startStandalone({ flavour: 'redis' });
    const file = join(directory, 'serpcache.yaml');
    const config = {
      admin: { port: 0, token: TOKEN },
      public: { port: 0, maxLoopDelay: '1m' },
      domains: {
        goods: {
          store: { kind: 'standalone', nodes: [redis.nodes[0]?.address], deadline: '10s', socketTimeout: '30s' },
          engine: { kind: 'sqlite', directory: 'index', workers: 1 },
          patience: '10s',
          // No entry expires during the tests: only changes make pages stale.
          freshness: { ttl: '1h', emptyTtl: '1h', staleWhileRevalidate: '10m' },
          changes: { onChange: 'miss', stream: { key: SOURCE } },
          attributes: {},
        },
      },
    };
    writeFileSync(file, JSON.stringify(config));
    settings = loadSettings({ env: { SERPCACHE_CONFIG: file }, cwd: directory });
    await buildSmallIndex(settings, directory);
    [one, two] = await Promise.all([start(), start()]);
  });
  after(async () => {
    await Promise.all([one?.close(), two?.close()]);
    await redis?.stop();
  });

  const post = async (at: Running, path: string, ...lines: object[]): Promise<void> => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/x-ndjson' };
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    const response = await fetch(`${at.adminUrl}/admin/${path}?domain=goods`, { method: 'POST', headers, body });
    assert.equal(response.status, 202, await response.text());
  };
  const found = async (at: Running, text: string) => {
    const { status, body, cacheStatus } = await ask(at, text);
    assert.equal(status, 200, body);
    const { results } = JSON.parse(body) as { results: readonly { id: string; title: string }[] };
    return { cacheStatus, titles: results.map(({ title }) => title), ids: results.map(({ id }) => id) };
  };
  const isHit = async (at: Running, text: string): Promise<boolean> =>
    /; hit;/.test((await found(at, text)).cacheStatus);
  const cached = async (...texts: string[]): Promise<void> => {
    for (const text of texts) {
      for (const at of [one, two]) await until(`${text} to be cached`, () => isHit(at, text));
    }
  };
  const NEW = { id: 'new-1', title: 'Фонарь кемпинговый синий' };

  test('a new document is on the page of the replica that was told, and on that of the other one', async () => {
    await cached('фонарь кемпинговый', 'полотенце махровое');
    assert.deepEqual((await found(one, 'фонарь кемпинговый')).ids, []);
    await post(one, 'documents', NEW);
    assert.deepEqual((await found(one, 'фонарь кемпинговый')).titles, [NEW.title]);
    await until('the other replica to show it', async () =>
      (await found(two, 'фонарь кемпинговый')).ids.includes('new-1'),
    );
    assert.ok(await isHit(two, 'полотенце махровое'), 'the other page stays');
  });

  test('a changed title is on both, and a page of L2 is judged by the process that reads it', async () => {
    await cached('фонарь кемпинговый');
    await post(two, 'documents', { ...NEW, title: 'Фонарь кемпинговый красный' });
    assert.deepEqual((await found(two, 'фонарь кемпинговый')).titles, ['Фонарь кемпинговый красный']);
    await until('the other replica to show it', async () => {
      const { titles } = await found(one, 'фонарь кемпинговый');
      return titles[0] === 'Фонарь кемпинговый красный';
    });
  });

  test('a replica that starts takes from L2 the pages that no change has touched since, and no others', async () => {
    await cached('фонарь кемпинговый', 'полотенце махровое');
    await two.close();
    await post(one, 'documents', { id: 'new-1', op: 'delete' });
    assert.deepEqual((await found(one, 'фонарь')).ids, [], 'a page from after the change');
    two = await start();
    const page = await found(two, 'фонарь кемпинговый');
    assert.deepEqual(page.ids, []);
    assert.match(page.cacheStatus, /detail=deleted/);
    assert.deepEqual((await found(one, 'фонарь кемпинговый')).ids, []);
    for (const text of ['фонарь', 'полотенце махровое']) assert.match((await found(two, text)).cacheStatus, /hit/);
  });

  /** The sum of the series of a counter. */
  const counted = async (at: Running, series: string): Promise<number> => {
    const page = await (await fetch(`${at.adminUrl}/metrics`)).text();
    const values = page.split('\n').filter((line) => line.startsWith(series));
    return values.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };

  test('a change in the stream of another team is in force in both, once', async () => {
    await cached('фонарь кемпинговый');
    const before = await Promise.all([one, two].map((at) => counted(at, 'serpcache_changes_total')));
    const change = JSON.stringify({ id: 'new-2', text: 'Фонарь кемпинговый' });
    await redis?.nodes[0]?.command('XADD', SOURCE, '*', 'change', change);
    for (const [index, at] of [one, two].entries()) {
      const isApplied = async () => (await counted(at, 'serpcache_changes_total')) === (before[index] ?? 0) + 1;
      await until('the change to be applied', isApplied);
    }
    assert.match((await found(one, 'фонарь кемпинговый')).cacheStatus, /detail=changed/);
  });

  test('a deleted stream is begun again, and changes after it are in force in both', async () => {
    await cached('фонарь кемпинговый');
    await redis?.nodes[0]?.command('DEL', 'sc1:goods:{control:goods}:changes');
    for (const at of [one, two]) {
      await until('the gap to be seen', async () => (await counted(at, 'serpcache_changes_gaps_total')) > 0);
    }
    await cached('фонарь кемпинговый');
    await post(one, 'documents', { ...NEW, id: 'new-3' });
    assert.deepEqual((await found(one, 'фонарь кемпинговый')).ids, ['new-3']);
    await until('the other replica to show it', async () =>
      (await found(two, 'фонарь кемпинговый')).ids.includes('new-3'),
    );
  });
});
