import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Verdict } from '../../src/operations/drills/journal.ts';
import type { Plan } from '../../src/operations/drills/plan.ts';
import { soon } from './operate.ts';
import { BROAD, type Fleet, isHit, LEASE_MS, type Member, notHit, plant, startFleet } from './operate-fleet.ts';
import { type People, startPeople } from './operate-people.ts';

/** Everything but the holdout, at once and for longer than any test waits. */
const PLAN: Plan = {
  name: 'own',
  title: 'Everything at once',
  mode: 'drop',
  eraseBy: 'unlink',
  over: 'one',
  baselineMs: 1000,
  holdout: 0.001,
  stages: [{ kind: 'fraction', fraction: 1, holdMs: 60_000 }],
  guards: [],
  recovery: { withinPoints: 50, timeoutMs: 5000 },
  afterMs: 1000,
  minSearches: 10,
};
describe('drills of a fleet', { timeout: 150_000 }, () => {
  let fleet: Fleet;
  let people: People;
  let one: Member;
  let two: Member;
  let planted: readonly string[];
  let hidden = '';
  before(async () => {
    fleet = await startFleet();
    [one, two] = fleet.members;
    planted = fleet.texts.slice(0, 20);
    const urls = fleet.members.map(({ service }) => service.url);
    people = await startPeople({ urls, domain: 'goods', texts: fleet.texts });
  });
  after(async () => {
    await people?.stop();
    await fleet?.stop();
  });
  // What one test left running is not the next one's fault.
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
      await soon('the last stage to be followed', async () => {
        const { drill } = await operator.control('goods');
        return drill?.id === id && drill.flushed > 0.99;
      });
    }
  };
  const backAfter = ({ operator }: Member): Promise<number> =>
    soon('the overlay to be gone', async () => (await operator.control('goods')).drill === undefined);
  const verdictOf = async ({ operator }: Member, id: string): Promise<Pick<Verdict, 'kind' | 'detail'>> => {
    await soon('the journal to end', async () => (await operator.journal(id)).state.kind === 'over');
    const { verdict } = await operator.journal(id);
    assert.ok(verdict);
    return verdict;
  };

  test('what one process drops is flushed in both, and an abort at the other restores both within a second', async () => {
    await plant(fleet.members, fleet.texts.slice(0, 40), '&limit=7');
    const id = await begin(one);
    await flushedIn(id);
    for (const [at, { look }] of fleet.members.entries()) {
      const gone: string[] = [];
      for (const text of fleet.texts.slice(10 * at, 10 * at + 10)) gone.push(await look(text, '&limit=7'));
      assert.ok(gone.filter((status) => status.includes('detail=flushed')).length > 5, gone.join('\n'));
      // One key in a thousand is in the control cohort.
      assert.ok(gone.filter(isHit).length < 3, gone.join('\n'));
    }
    const abort = two.operator.post(`/admin/drills/${id}/abort`, { reason: 'enough' });
    await sleep(1000);
    assert.deepEqual(await notHit(fleet.members, fleet.texts.slice(0, 40), '&limit=7'), []);
    assert.equal((await abort).status, 200);
    const { kind, detail } = await verdictOf(one, id);
    assert.equal(kind, 'aborted');
    assert.match(detail, /enough/);
  });

  test('when its owner is killed the other goes back by itself within the lease and a second', async () => {
    await plant([two], planted, '&limit=8');
    const id = await begin(one);
    await flushedIn(id);
    one.service.running()?.signal('SIGKILL');
    const tookMs = await backAfter(two);
    assert.ok(tookMs <= LEASE_MS + 1000, `${tookMs} ms`);
    assert.deepEqual(await notHit([two], planted, '&limit=8'), []);
    await one.start();
    assert.equal((await verdictOf(one, id)).kind, 'lost');
  });

  test('when its owner stands still the other goes back too, and the owner knows that it has lost it', async () => {
    const id = await begin(one);
    await flushedIn(id);
    await one.service.running()?.pause();
    const tookMs = await backAfter(two);
    assert.ok(tookMs <= LEASE_MS + 1000, `${tookMs} ms`);
    // It is changed meanwhile: what was void is left out.
    await two.operator.post('/admin/purge', { domain: 'goods', q: 'что угодно' });
    one.service.running()?.signal('SIGCONT');
    assert.ok((await backAfter(one)) <= 1000);
    assert.equal((await verdictOf(one, id)).kind, 'lost');
  });

  test('when its owner is told to leave, the other is back at once, and the owner leaves in time', async () => {
    await plant([two], planted, '&limit=9');
    const id = await begin(one);
    await flushedIn(id);
    const leaving = one.service.running();
    const startedMs = performance.now();
    leaving?.signal('SIGTERM');
    const tookMs = await backAfter(two);
    const leaves = leaving?.ended.then(() => performance.now() - startedMs);
    assert.deepEqual(await notHit([two], planted, '&limit=9'), []);
    const leftMs = (await leaves) ?? 0;
    const said = one.service.log().split('\n').slice(-20).join('\n');
    assert.ok(tookMs <= 1500 && leftMs <= 5000, `back after ${tookMs} ms, left after ${leftMs} ms\n${said}`);
    await one.start();
    const { kind, detail } = await verdictOf(one, id);
    assert.equal(kind, 'aborted', detail);
  });

  test('the halt lever ends a drill everywhere and lets none begin until it is lifted', async () => {
    const id = await begin(one);
    await flushedIn(id);
    const halt = await two.operator.cli('halt', '--reason', 'incident', '--yes');
    assert.equal(halt.code, 0, halt.err);
    // The command is over when it is done there; the owner follows within a look.
    for (const member of fleet.members) await within(1000, () => backAfter(member));
    assert.equal((await verdictOf(one, id)).kind, 'aborted');
    for (const { operator } of fleet.members) {
      const { status, body } = await operator.post('/admin/drills', { plan: PLAN, domains: ['goods'], reason: 'x' });
      assert.deepEqual([status, body['code']], [409, 'halted']);
      assert.match(String(body['detail']), /incident/);
    }
    const lift = await one.operator.post('/admin/halt/lift', { reason: 'over' });
    assert.equal(lift.status, 200);
    await soon('the other to hear of it', async () => !(await two.operator.control('goods')).halted);
    const next = await begin(two);
    assert.equal((await two.operator.post(`/admin/drills/${next}/abort`, {})).status, 200);
    await Promise.all(fleet.members.map(backAfter));
  });

  test('without the control store searches go on, what is hidden stays so, and a drill ends by its lease', async () => {
    const [first = ''] = (await one.page(BROAD)).ids;
    hidden = first;
    assert.equal((await one.operator.post('/admin/suppress', { domain: 'goods', ids: [hidden] })).status, 200);
    await plant(fleet.members, planted, '&limit=6');
    const id = await begin(one);
    await flushedIn(id);
    const killedMs = people.answers.length;
    await fleet.controlNode.kill();
    const tookMs = await Promise.all(fleet.members.map(backAfter));
    assert.ok(Math.max(...tookMs) <= LEASE_MS + 1000, tookMs.join(' ms, '));
    assert.deepEqual(await notHit(fleet.members, planted, '&limit=6'), []);
    assert.equal((await verdictOf(one, id)).kind, 'lost');
    for (const member of fleet.members) assert.ok(!(await member.page(BROAD)).ids.includes(hidden));
    const refused = await two.operator.post('/admin/suppress', { domain: 'goods', ids: ['another'] });
    assert.deepEqual([refused.status, refused.body['code']], [503, 'control-unavailable']);
    const unanswered = people.answers.slice(killedMs).filter(({ result }) => result === 'broken');
    assert.deepEqual(unanswered, []);
  });

  test('a control store that comes back empty is given what the fleet knows, and who starts then knows it too', async () => {
    const { revision } = await one.operator.control('goods');
    await fleet.controlNode.restart();
    await soon('the document to be written back', async () => Number(await fleet.controlNode.command('DBSIZE')) > 0);
    await fleet.spare.start();
    assert.ok(!(await fleet.spare.page(BROAD)).ids.includes(hidden));
    const found = await fleet.spare.operator.get<{ suppressed: readonly { id: string }[] }>(
      '/admin/suppressed?domain=goods',
    );
    assert.deepEqual(
      found.suppressed.map((each) => each.id),
      [hidden],
    );
    assert.ok((await fleet.spare.operator.control('goods')).revision >= revision);
    for (const member of fleet.members) assert.ok(!(await member.page(BROAD)).ids.includes(hidden));
  });

  test('nothing of all that was logged as an error', () => {
    const lines = [...fleet.members, fleet.spare].flatMap(({ service }) => service.log().split('\n'));
    assert.deepEqual(
      lines.filter((line) => /"level":"(error|fatal)"/.test(line)),
      [],
    );
  });

  test('all that while nobody who was not asking a process that left went without an answer', () => {
    const atTwo = people.answers.filter(({ process }) => process === 1);
    assert.ok(atTwo.length > 500, `${atTwo.length} answers`);
    assert.deepEqual(
      atTwo.filter(({ result }) => result === 'broken'),
      [],
    );
  });
});

async function within(ms: number, waited: () => Promise<number>): Promise<void> {
  const tookMs = await waited();
  assert.ok(tookMs <= ms, `${tookMs} ms`);
}
