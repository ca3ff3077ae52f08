import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisNode } from '../../loadtest/stack/redis-node.ts';
import type { ShadowStatus } from '../../src/operations/shadow/shadow.ts';
import { until } from '../until.ts';
import {
  BROAD,
  engineCallsOf,
  type Fleet,
  fillCaches,
  type Member,
  missStatuses,
  startFleet,
} from './fleet-harness.ts';

/** Two processes with a Redis cluster, and a Valkey server as the candidate. The tests depend on each other, in order. */
describe('a candidate store of a fleet', () => {
  let fleet: Fleet;
  let one: Member;
  let two: Member;
  let candidate: RedisNode;
  let web: Server;
  const texts = (): readonly string[] => fleet.texts.slice(0, 40);

  before(async () => {
    web = createServer((_, response) => response.end('no Redis'));
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    const { port } = web.address() as { readonly port: number };
    fleet = await startFleet({ web: { kind: 'standalone', nodes: [`127.0.0.1:${port}`] } });
    [one, two] = fleet.members;
    assert.ok(fleet.candidate !== undefined);
    candidate = fleet.candidate;
  });
  after(async () => {
    web?.close();
    await fleet?.stop();
  });

  const statusOf = (member: Member): Promise<ShadowStatus> =>
    member.operator.get('/admin/shadow/status?domain=goods&for=10');
  const begin = (name: string, fraction = 1) =>
    one.operator.post('/admin/shadow', { domain: 'goods', candidate: name, fraction, reads: 2 });
  const engineCalls = (): Promise<number> => engineCallsOf([one, two]);

  test('an unfit candidate is named with its fault, and nothing is copied', async () => {
    await candidate.command('SET', 'sc2:goods:{AAAAAAAAAAAAAAAAAAAAAA}', 'an entry of a later version');
    const [later, noRedis] = await Promise.all([begin('valkey'), begin('web')]);
    assert.deepEqual([later.status, later.body['code']], [409, 'candidate-unfit']);
    assert.match(String(later.body['detail']), /another version of serpcache, such as sc2:goods/);
    assert.match(String(noRedis.body['detail']), /no RESP/);
    await candidate.command('FLUSHALL');
    await candidate.command('CONFIG', 'SET', 'maxmemory', '1mb');
    const small = await begin('valkey');
    assert.match(String(small.body['detail']), /lacks memory/);
    await candidate.command('CONFIG', 'SET', 'maxmemory', '0');
    assert.equal(await candidate.command('DBSIZE'), 0);
  });

  test('the candidate fills with the pages of both processes, and a second shadow is refused', async () => {
    await fillCaches([one, two], texts(), '&limit=5');
    const begun = await begin('valkey');
    assert.equal(begun.status, 201, JSON.stringify(begun.body));
    assert.equal((await begin('valkey')).body['code'], 'shadow-running');
    await until('the other process to copy', async () => (await statusOf(two)).shadow !== undefined);
    await fillCaches([one, two], texts(), '&limit=6');
    await until('pages to be copied', async () => Number(await candidate.command('DBSIZE')) > 0);
    // L1 has what was searched. After a restart it is read from the store, and a copy that was dropped is made again.
    await until('all pages to be copied', async () => {
      await one.start();
      await until('it to copy', async () => (await statusOf(one)).shadow !== undefined);
      for (const limit of ['&limit=5', '&limit=6']) await fillCaches([one], texts(), limit);
      for (let tries = 0; tries < 50; tries += 1) {
        if (Number(await candidate.command('DBSIZE')) >= 2 * texts().length) return true;
        await sleep(20);
      }
      return false;
    });
  });

  test('wrong values of the candidate are found and named', async () => {
    const names = (await candidate.command('KEYS', 'sc1:goods:{*}')) as readonly string[];
    const planted = names.slice(0, 3);
    for (const name of planted) await candidate.command('SETRANGE', name, 200, '????');
    await two.start();
    await fillCaches([two], texts(), '&limit=5');
    await fillCaches([two], texts(), '&limit=6');
    const wrong = async (): Promise<readonly string[]> => (await statusOf(one)).wrongKeys;
    await until('the wrong values to be found', async () => (await wrong()).length === planted.length);
    assert.deepEqual([...(await wrong())].sort(), [...planted].sort());
    const { verdict } = await statusOf(one);
    assert.equal(verdict?.kind, 'do-not');
    const refused = await one.operator.post('/admin/shadow/cut-over', { domain: 'goods', reason: 'a try' });
    assert.equal(refused.body['code'], 'no-verdict');
    for (const name of planted) await candidate.command('DEL', name);
  });

  test('a forced cut-over moves both processes; no page is lost, and none is computed again', async () => {
    const calls = await engineCalls();
    const body = { domain: 'goods', force: true, reason: 'the values were planted' };
    const moved = await one.operator.post('/admin/shadow/cut-over', body);
    assert.equal(moved.status, 200, JSON.stringify(moved.body));
    assert.match(String(moved.body['configuration']), /store:\n +kind: standalone/);
    for (const member of [one, two]) assert.equal((await statusOf(member)).active.name, 'valkey');
    assert.deepEqual(await missStatuses([one, two], texts(), '&limit=5'), []);
    assert.equal(await engineCalls(), calls);
    const report = await one.operator.page(`/admin/shadow/reports/${moved.body['report']}/report`);
    assert.equal(report.status, 200);
    assert.match(await report.text(), /valkey/);
  });

  test('a process that starts during the cut-over uses the new store, and finds pages behind it', async () => {
    await candidate.command('FLUSHALL');
    const calls = await engineCalls();
    await two.start();
    assert.deepEqual(await missStatuses([two], texts(), '&limit=5'), []);
    assert.equal(await engineCalls(), calls, 'the old store still has the pages');
    const copied = async (): Promise<boolean> => Number(await candidate.command('DBSIZE')) >= texts().length;
    await until('its reads to copy them', copied);
  });

  test('a page that is purged, or erased from both stores, does not come back, not on the way back either', async () => {
    await fillCaches([one, two], [BROAD], '');
    const purged = await one.operator.post('/admin/purge', { domain: 'goods', q: BROAD });
    assert.equal(purged.status, 200);
    await until('the other process to follow', async () => (await two.operator.control('goods')).purges === 1);
    const calls = await engineCalls();
    await missStatuses([one, two], [BROAD], '');
    assert.equal(await engineCalls(), calls + 1, 'it is computed again, once for both');
    const erase = { domain: 'goods', mode: 'erase', fraction: 1, reason: 'a try' };
    assert.equal((await one.operator.post('/admin/flush', erase)).status, 200);
    const isErased = async (): Promise<boolean> => {
      const { erasure } = await one.operator.get<{ erasure?: { state: string } }>('/admin/flush?domain=goods');
      return erasure?.state === 'done';
    };
    await until('the erasure', isErased);
    const left = await Promise.all([candidate, ...fleet.nodes].map((node) => node.command('KEYS', 'sc1:goods:{*}')));
    const entries = left.flat().filter((name) => /\{[\w-]{22}\}$/.test(String(name)));
    // Popular pages may have been refreshed since the floor rose; the erased keys are those of before.
    assert.ok(entries.length <= 2, entries.join(' '));
    const back = await two.operator.post('/admin/shadow/back', { domain: 'goods', reason: 'a try' });
    assert.equal(back.status, 200, JSON.stringify(back.body));
    for (const member of [one, two]) assert.equal((await statusOf(member)).active.name, 'store');
    const statuses = await missStatuses([one, two], texts().slice(0, 5), '&limit=5');
    assert.ok(statuses.length >= 5, 'erased pages are computed again');
  });

  test('a drill is refused until the old way is settled, and the record of the cut-over goes', async () => {
    const drill = { plan: 'canary', domains: ['goods'], reason: 'a try' };
    assert.equal((await one.operator.post('/admin/drills', drill)).body['code'], 'cut-over-running');
    const stopped = await one.operator.post('/admin/shadow/stop', { domain: 'goods' });
    assert.deepEqual(stopped.body, { domain: 'goods', ended: 'old-store' });
    await until('both to follow', async () => (await statusOf(two)).placement === undefined);
    const actions = (await one.operator.audit()).map(({ action, result }) => `${action} ${result}`);
    for (const wanted of ['cut-over no-verdict', 'cut-over done', 'shadow-start candidate-unfit', 'shadow-stop done']) {
      assert.ok(actions.includes(wanted), `${wanted} of ${actions.join(', ')}`);
    }
  });

  test('a halt ends a shadow at once in every process', async () => {
    assert.equal((await begin('valkey', 0.5)).status, 201);
    await until('the other process to copy', async () => (await statusOf(two)).shadow !== undefined);
    assert.equal((await two.operator.post('/admin/halt', { reason: 'enough' })).status, 200);
    await until('its end', async () => (await statusOf(one)).shadow === undefined);
    assert.equal((await begin('valkey')).body['code'], 'halted');
  });
});
