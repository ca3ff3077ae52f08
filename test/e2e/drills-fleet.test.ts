import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Verdict } from '../../src/operations/drills/journal.ts';
import type { Plan } from '../../src/operations/drills/plan.ts';
import { assertNone, pluck } from '../pluck.ts';
import { until } from '../until.ts';
import {
  BROAD,
  type Fleet,
  fillCaches,
  isHit,
  LEASE_MS,
  type Member,
  missStatuses,
  startFleet,
} from './fleet-harness.ts';
import { startTraffic, type Traffic } from './operator-harness.ts';

/** Drops all keys but the holdout at once, for longer than any test waits. */
const PLAN: Plan = {
  name: 'own',
  title: 'Everything at once',
  mode: 'drop',
  eraseBy: 'unlink',
  over: 'one',
  baselineMs: 1000,
  holdout: 0.001,
  stages: [{ kind: 'fraction', fraction: 1, holdMs: 600_000 }],
  guards: [],
  recovery: { withinPoints: 50, timeoutMs: 5000 },
  afterMs: 1000,
  minSearches: 1,
};
describe('drills of a fleet', () => {
  let fleet: Fleet;
  let traffic: Traffic;
  let one: Member;
  let two: Member;
  let planted: readonly string[];
  let suppressedId = '';
  before(async () => {
    fleet = await startFleet();
    [one, two] = fleet.members;
    planted = fleet.texts.slice(0, 20);
    const urls = fleet.members.map(({ service }) => service.url);
    traffic = await startTraffic({ urls, domain: 'goods', texts: fleet.texts });
  });
  after(async () => {
    await traffic?.stop();
    await fleet?.stop();
  });
  // A drill that one test left running must not disturb the next one.
  afterEach(async () => {
    for (const { operator } of fleet.members) {
      const { drill } = await operator.control('goods').catch(() => ({ drill: undefined }));
      if (drill !== undefined) await operator.post(`/admin/drills/${drill.id}/abort`, {});
    }
  });

  const begin = async ({ operator }: Member): Promise<string> => {
    const ask = { plan: PLAN, domains: ['goods'], reason: 'test' };
    const { status, body } = await operator.post('/admin/drills', ask);
    assert.equal(status, 201, JSON.stringify(body));
    return String(body['id']);
  };
  const flushedIn = async (id: string, members: readonly Member[] = fleet.members): Promise<void> => {
    for (const { operator } of members) {
      await until('both to follow the last stage', async () => {
        const { drill } = await operator.control('goods');
        // A drill that ended early tells why at its owner.
        if (drill?.id !== id) assert.equal((await operator.journal(id).catch(() => undefined))?.verdict, undefined);
        return drill?.id === id && drill.flushed > 0.99;
      });
    }
  };
  const restored = ({ operator }: Member): Promise<void> =>
    until('the overlay to end', async () => (await operator.control('goods')).drill === undefined);
  const verdictOf = async ({ operator }: Member, id: string): Promise<Pick<Verdict, 'kind' | 'detail'>> => {
    await until('the journal to end', async () => (await operator.journal(id)).state.kind === 'over');
    const { verdict } = await operator.journal(id);
    assert.ok(verdict);
    return verdict;
  };

  test('keys that one process drops are flushed in both, and an abort at the other process restores both', async () => {
    await fillCaches(fleet.members, fleet.texts.slice(0, 40), '&limit=7');
    const id = await begin(one);
    await flushedIn(id);
    for (const [at, { cacheStatusOf }] of fleet.members.entries()) {
      const gone: string[] = [];
      for (const text of fleet.texts.slice(10 * at, 10 * at + 10)) gone.push(await cacheStatusOf(text, '&limit=7'));
      assert.ok(gone.filter((status) => status.includes('detail=flushed')).length > 5, gone.join('\n'));
      // One key in a thousand is in the control cohort.
      assert.ok(gone.filter(isHit).length < 3, gone.join('\n'));
    }
    const abort = await two.operator.post(`/admin/drills/${id}/abort`, { reason: 'enough' });
    assert.equal(abort.status, 200);
    await Promise.all(fleet.members.map(restored));
    assert.deepEqual(await missStatuses(fleet.members, fleet.texts.slice(0, 40), '&limit=7'), []);
    const { kind, detail } = await verdictOf(one, id);
    assert.equal(kind, 'aborted');
    assert.match(detail, /enough/);
  });

  test('when the drill’s owner is killed, the other process restores itself', async () => {
    await fillCaches([two], planted, '&limit=8');
    const id = await begin(one);
    await flushedIn(id);
    one.service.running()?.signal('SIGKILL');
    await restored(two);
    assert.deepEqual(await missStatuses([two], planted, '&limit=8'), []);
    await one.start();
    assert.equal((await verdictOf(one, id)).kind, 'lost');
  });

  test('when the drill’s owner is stopped, the other process restores itself, and the owner finds its drill lost', async () => {
    const id = await begin(one);
    await flushedIn(id);
    await one.service.running()?.pause();
    await restored(two);
    // The other process may have missed the last renewal. The owner counts the lease from that one.
    await sleep(LEASE_MS);
    // A change in the meantime leaves the expired drill out of the document.
    await two.operator.post('/admin/purge', { domain: 'goods', q: 'что угодно' });
    one.service.running()?.signal('SIGCONT');
    await restored(one);
    assert.equal((await verdictOf(one, id)).kind, 'lost');
  });

  test('when the drill’s owner gets SIGTERM, it restores the other process, and exits', async () => {
    await fillCaches([two], planted, '&limit=9');
    const id = await begin(one);
    await flushedIn(id);
    const leaving = one.service.running();
    leaving?.signal('SIGTERM');
    await restored(two);
    assert.deepEqual(await missStatuses([two], planted, '&limit=9'), []);
    await leaving?.ended;
    await one.start();
    const { kind, detail } = await verdictOf(one, id);
    // Had the lease ended it, it would be lost.
    assert.equal(kind, 'aborted', detail);
  });

  test('a halt ends a drill everywhere, and no drill begins until it is lifted', async () => {
    const id = await begin(one);
    await flushedIn(id);
    const halt = await two.operator.cli('halt', '--reason', 'incident', '--yes');
    assert.equal(halt.code, 0, halt.err);
    // The command ends when that process has halted; the owner follows within a poll.
    await Promise.all(fleet.members.map(restored));
    assert.equal((await verdictOf(one, id)).kind, 'aborted');
    for (const { operator } of fleet.members) {
      const { status, body } = await operator.post('/admin/drills', { plan: PLAN, domains: ['goods'], reason: 'x' });
      assert.deepEqual([status, body['code']], [409, 'halted']);
      assert.match(String(body['detail']), /incident/);
    }
    const lift = await one.operator.post('/admin/halt/lift', { reason: 'over' });
    assert.equal(lift.status, 200);
    await until('the other process to follow', async () => !(await two.operator.control('goods')).halted);
    const next = await begin(two);
    assert.equal((await two.operator.post(`/admin/drills/${next}/abort`, {})).status, 200);
    await Promise.all(fleet.members.map(restored));
  });

  test('without the control store searches go on, suppressions hold, and a drill ends with its lease', async () => {
    const [first = ''] = (await one.page(BROAD)).ids;
    suppressedId = first;
    assert.equal((await one.operator.post('/admin/suppress', { domain: 'goods', ids: [suppressedId] })).status, 200);
    await fillCaches(fleet.members, planted, '&limit=6');
    const id = await begin(one);
    await flushedIn(id);
    const answered = traffic.answers.length;
    await fleet.controlNode.kill();
    await Promise.all(fleet.members.map(restored));
    assert.deepEqual(await missStatuses(fleet.members, planted, '&limit=6'), []);
    assert.equal((await verdictOf(one, id)).kind, 'lost');
    for (const member of fleet.members) assert.ok(!(await member.page(BROAD)).ids.includes(suppressedId));
    const refused = await two.operator.post('/admin/suppress', { domain: 'goods', ids: ['another'] });
    assert.deepEqual([refused.status, refused.body['code']], [503, 'control-unavailable']);
    const unanswered = traffic.answers.slice(answered).filter(({ result }) => result === 'broken');
    assert.deepEqual(unanswered, []);
  });

  test('a control store that comes back empty gets the fleet’s document, and a process that starts then follows it', async () => {
    const { revision } = await one.operator.control('goods');
    await fleet.controlNode.restart();
    await until('the document to be written back', async () => Number(await fleet.controlNode.command('DBSIZE')) > 0);
    await fleet.spare.start();
    assert.ok(!(await fleet.spare.page(BROAD)).ids.includes(suppressedId));
    const found = await fleet.spare.operator.get<{ suppressed: readonly { id: string }[] }>(
      '/admin/suppressed?domain=goods',
    );
    assert.deepEqual(pluck(found.suppressed, 'id'), [suppressedId]);
    assert.ok((await fleet.spare.operator.control('goods')).revision >= revision);
    for (const member of fleet.members) assert.ok(!(await member.page(BROAD)).ids.includes(suppressedId));
  });

  test('no process logged an error in these tests', () => {
    const lines = [...fleet.members, fleet.spare].flatMap(({ service }) => service.log().split('\n'));
    assertNone(lines, (line) => /"level":"(error|fatal)"/.test(line));
  });

  test('in these tests every search at a process that was not stopped got an answer', () => {
    const atTwo = traffic.answers.filter(({ process }) => process === 1);
    assert.ok(atTwo.length > 100, `${atTwo.length} answers`);
    assertNone(atTwo, ({ result }) => result === 'broken');
  });
});
