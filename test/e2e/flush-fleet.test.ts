import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { RedisNode } from '../../loadtest/stack/redis-node.ts';
import type { BucketRange } from '../../src/control/document.ts';
import { keyOfStoreName } from '../../src/operations/flush/preview.ts';
import { storedNameOf } from '../../src/search/key.ts';
import { namesOf } from '../faults/store-entries.ts';
import { assertNone } from '../pluck.ts';
import { until } from '../until.ts';
import {
  BROAD,
  engineCallsOf,
  type Fleet,
  fillCaches,
  isHit,
  type Member,
  missStatuses,
  startFleet,
} from './fleet-harness.ts';
import { startTraffic, type TrafficAnswer } from './operator-harness.ts';

/** Flushes, purges and suppressions on two processes with one cluster. The tests depend on each other, in order. */
describe('flushes, purges and suppressions of a fleet', () => {
  let fleet: Fleet;
  let one: Member;
  let two: Member;
  before(async () => {
    fleet = await startFleet();
    [one, two] = fleet.members;
  });
  after(() => fleet?.stop());

  const followed = async (): Promise<void> => {
    const { revision } = await one.operator.control('goods');
    await until('the other process to follow', async () => (await two.operator.control('goods')).revision >= revision);
  };

  test('a document suppressed under load is gone from both processes, and from one that starts later', async () => {
    const urls = fleet.members.map(({ service }) => service.url);
    const traffic = await startTraffic({ urls, domain: 'goods', texts: fleet.texts, ratePerSecond: 80 });
    try {
      await until('the traffic to get pages', () => traffic.answers.length > 80);
      const id = mostSeen(traffic.answers);
      const end = await one.operator.post('/admin/suppress', { domain: 'goods', ids: [id], reason: 'banned' });
      assert.equal(end.status, 200);
      await followed();
      const sinceMs = performance.now();
      const first = await Promise.all(fleet.members.map(({ page }) => page(BROAD)));
      assert.ok(first.every(({ ids }) => !ids.includes(id)));
      await until(
        'the traffic to have searched again',
        () => traffic.answers.filter((one) => one.sentMs > sinceMs).length > 100,
      );
      const late = traffic.answers.filter(({ sentMs, ids }) => sentMs > sinceMs && ids.includes(id));
      assert.deepEqual(late, []);
      const texts = [...new Set(traffic.answers.filter(({ ids }) => ids.includes(id)).map(({ text }) => text))];
      assert.ok(texts.length > 0);
      await one.start();
      for (const text of texts) assert.ok(!(await one.page(text)).ids.includes(id), text);
      const lift = await two.operator.cli('suppress', 'goods', id, '--lift');
      assert.equal(lift.code, 0, lift.err);
      const [text = ''] = texts;
      for (const [at, { page, operator }] of fleet.members.entries()) {
        await until('the suppression to be lifted', async () => (await operator.control('goods')).suppressed === 0);
        // A new page: stored pages without the document stay until they expire.
        assert.ok((await page(text, `&limit=${50 + at}`)).ids.includes(id));
      }
    } finally {
      await traffic.stop();
    }
  });

  test('a purge removes all pages of one query from both processes, and no other page', async () => {
    const pages = ['', '&page=2', '&sort=price', '&facet=city'];
    for (const more of pages) await fillCaches(fleet.members, [BROAD], more);
    await fillCaches(fleet.members, [`${BROAD} новый`, ...fleet.texts.slice(0, 10)], '');
    const purge = await one.operator.cli('purge', 'goods', ` ${BROAD.toUpperCase()} `);
    assert.equal(purge.code, 0, purge.err);
    await followed();
    assert.deepEqual(await missStatuses(fleet.members, [`${BROAD} новый`, ...fleet.texts.slice(0, 10)], ''), []);
    const [mine, others] = [pages.slice(0, 2), pages.slice(2)];
    const statuses = [
      ...mine.map((more) => one.cacheStatusOf(BROAD, more)),
      ...others.map((more) => two.cacheStatusOf(BROAD, more)),
    ];
    for (const status of await Promise.all(statuses)) assert.match(status, /detail=flushed/);
    for (const more of pages) await fillCaches(fleet.members, [BROAD], more);
  });

  test('after a refresh, pages are served as stale at once and computed again in the background', async () => {
    const texts = fleet.texts.slice(0, 20);
    await fillCaches(fleet.members, texts, '');
    const calls = await engineCallsOf(fleet.members);
    const refresh = await one.operator.post('/admin/flush', { domain: 'goods', mode: 'refresh', indexVersion: 'v2' });
    assert.equal(refresh.status, 200, JSON.stringify(refresh.body));
    const first = await Promise.all(texts.map((text) => one.cacheStatusOf(text)));
    // Some are refreshed before they are searched.
    assert.ok(
      first.some((status) => /l1; hit; ttl=-/.test(status)),
      first.join('\n'),
    );
    assertNone(first, (status) => !/; hit; ttl=-?\d/.test(status));
    await followed();
    const second = await Promise.all(texts.map((text) => two.cacheStatusOf(text)));
    assertNone(second, (status) => !/; hit; ttl=-?\d/.test(status));
    await until('all pages to be fresh again', async () => (await missStatuses(fleet.members, texts, '')).length === 0);
    assert.ok((await engineCallsOf(fleet.members)) >= calls + texts.length);
  });

  test('an erasure of three tenths by key removes exactly their keys from the store', async () => {
    await fillCaches([one], fleet.texts, '');
    await fillCaches([one], fleet.texts, '&limit=5');
    const stored = async (): Promise<boolean> => (await allNames(fleet.nodes)).length >= 2 * fleet.texts.length - 2;
    await until('the pages to be stored', stored);
    const foreign = await writeForeign(fleet.nodes);
    const before = await allNames(fleet.nodes);
    const words = ['flush', 'goods', '--mode', 'erase', '--fraction', '0.3', '--reason', 'test', '--yes'];
    const end = await one.operator.cli(...words);
    assert.equal(end.code, 0, end.err);
    const ranges = end.lines[0]?.['ranges'] as readonly BucketRange[];
    const isDoomed = (name: string): boolean => {
      const { bucket } = storedNameOf(keyOfStoreName(name), 'goods');
      return ranges.some(({ from, to }) => from <= bucket && bucket < to);
    };
    const doomed = before.filter(isDoomed);
    assert.ok(doomed.length > 0.15 * before.length && doomed.length < 0.45 * before.length, `${doomed.length}`);
    const left = new Set(await allNames(fleet.nodes));
    assertNone(doomed, (name) => left.has(name));
    assertNone(before, (name) => !isDoomed(name) && !left.has(name));
    assert.equal(await countForeign(fleet.nodes, foreign), foreign.length);
    await followed();
    const statuses = await Promise.all(fleet.texts.map((text) => one.cacheStatusOf(text)));
    const flushed = statuses.filter((status) => !isHit(status));
    assert.ok(
      flushed.length > 0 && flushed.every((status) => /detail=(flushed|unseen)/.test(status)),
      flushed.join('\n'),
    );
  });

  test('an erasure by FLUSHALL empties the nodes, and suppressions survive it', async () => {
    const [id = ''] = (await one.page(BROAD)).ids;
    assert.equal((await one.operator.cli('suppress', 'goods', id)).code, 0);
    const { revision, suppressed } = await one.operator.control('goods');
    const words = ['flush', 'goods', '--mode', 'erase', '--by', 'flushall', '--reason', 'test', '--yes'];
    const end = await two.operator.cli(...words);
    assert.equal(end.code, 0, end.err);
    assert.deepEqual(await allNames(fleet.nodes), []);
    assert.equal(await countForeign(fleet.nodes, ['foreign:1', 'foreign:2', 'foreign:3']), 0);
    await until('the other process to follow', async () => (await one.operator.control('goods')).revision > revision);
    for (const { operator, cacheStatusOf, page } of fleet.members) {
      assert.equal((await operator.control('goods')).suppressed, suppressed);
      assert.ok(!isHit(await cacheStatusOf(fleet.texts[0] ?? '', `&limit=${operator === one.operator ? 11 : 12}`)));
      assert.ok(!(await page(BROAD)).ids.includes(id));
    }
    const [newest] = (await two.operator.audit()).filter(({ action }) => action === 'flush');
    assert.deepEqual([newest?.result, newest?.reason, newest?.domain], ['done', 'test', 'goods']);
  });
});

function mostSeen(answers: readonly TrafficAnswer[]): string {
  const seen = new Map<string, number>();
  for (const { ids } of answers) for (const id of ids) seen.set(id, (seen.get(id) ?? 0) + 1);
  const [most] = [...seen].sort(([, one], [, other]) => other - one);
  assert.ok(most !== undefined && most[1] > 5);
  return most[0];
}

async function allNames(nodes: readonly RedisNode[]): Promise<readonly string[]> {
  return (await Promise.all(nodes.map(namesOf))).flat();
}

/** Writes keys of other programs and of another domain. @returns their names. */
async function writeForeign(nodes: readonly RedisNode[]): Promise<readonly string[]> {
  const names = Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? `foreign:${i + 1}` : `sc1:other:{foreign-${i}}`));
  for (const name of names) await onOwner(nodes, 'SET', name, 'theirs');
  return names;
}

async function countForeign(nodes: readonly RedisNode[], names: readonly string[]): Promise<number> {
  const there = await Promise.all(names.map((name) => onOwner(nodes, 'EXISTS', name)));
  return there.reduce((sum: number, each) => sum + Number(each), 0);
}

/** Sends a command to each node until the slot's owner accepts it; the others answer MOVED. */
async function onOwner(nodes: readonly RedisNode[], ...parts: readonly string[]): Promise<unknown> {
  for (const node of nodes) {
    const reply = await node.command(...parts).catch((error: Error) => error);
    if (!(reply instanceof Error)) return reply;
    if (!reply.message.startsWith('MOVED')) throw reply;
  }
  throw new Error(`no node takes ${parts.join(' ')}`);
}
