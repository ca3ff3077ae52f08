import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { assertNone } from '../pluck.ts';
import { until } from '../until.ts';
import { type Fleet, fillCaches, missStatuses, startFleet } from './fleet-harness.ts';
import { startTraffic, type Traffic, type TrafficAnswer } from './operator-harness.ts';

const RATE = 40;

describe('warm-ups beside traffic', () => {
  const directory = mkdtempSync(join(tmpdir(), 'serpcache-warm-'));
  let fleet: Fleet;
  let traffic: Traffic;
  before(async () => {
    fleet = await startFleet();
    const urls = fleet.members.map(({ service }) => service.url);
    traffic = await startTraffic({ urls, domain: 'goods', texts: fleet.texts.slice(0, 30), ratePerSecond: RATE });
  });
  after(async () => {
    await traffic?.stop();
    await fleet?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const flushed = async (): Promise<void> => {
    const [one, two] = fleet.members;
    const end = await one.operator.cli('flush', 'goods', '--mode', 'drop', '--yes');
    assert.equal(end.code, 0, end.err);
    const revision = Number(end.lines[0]?.['revision']);
    await until('the other process to follow', async () => (await two.operator.control('goods')).revision >= revision);
    // The traffic has refilled its own pages by then: only the warm-up computes pages from here on.
    await until('the traffic to hit again', () => {
      const latest = traffic.answers.slice(-RATE);
      return latest.filter(({ result }) => result.startsWith('hit')).length >= 0.9 * latest.length;
    });
  };

  test('the popular queries count the searches of both processes', async () => {
    const text = fleet.texts[40] ?? '';
    for (const [at, { cacheStatusOf }] of fleet.members.entries()) {
      for (let n = 0; n < 8 + at; n += 1) await cacheStatusOf(text, '&limit=9');
    }
    for (const { operator } of fleet.members) {
      await until('the counts of both', async () => {
        const path = '/admin/popular?domain=goods&limit=500';
        const { source, queries } = await operator.get<Popular>(path);
        const found = queries.find(({ search }) => {
          const asked = new URLSearchParams(search);
          return asked.get('q') === text && asked.get('limit') === '9';
        });
        return source === 'fleet' && found !== undefined && found.count > 15 && found.count <= 17;
      });
    }
  });

  test('from popular queries: pages without traffic hit again, and the traffic is not disturbed', async () => {
    const texts = fleet.texts.slice(30, 60);
    for (let round = 0; round < 2; round += 1) await fillCaches(fleet.members, texts, '&limit=6');
    const [one] = fleet.members;
    await until('the queries to be popular', async () => {
      const { queries } = await one.operator.get<Popular>('/admin/popular?domain=goods&limit=1000');
      return queries.filter(({ search }) => new URLSearchParams(search).get('limit') === '6').length === texts.length;
    });
    await flushed();
    const sinceMs = performance.now();
    const end = await one.operator.cli('warm', 'goods', '--from', 'popular', '--max-per-second', '50');
    assert.equal(end.code, 0, end.err);
    const said = JSON.stringify(end.lines);
    assert.ok(Number(end.lines[0]?.['computed']) >= texts.length && end.lines[0]?.['failed'] === 0, said);
    assert.deepEqual(await missStatuses(fleet.members, texts, '&limit=6'), []);
    assertUndisturbed(traffic.answers.filter(({ sentMs }) => sentMs >= sinceMs));
  });

  test('from a file of queries: pages that were never searched hit, and the traffic is not disturbed', async () => {
    await flushed();
    const file = join(directory, 'queries.txt');
    const texts = fleet.texts.slice(0, 60);
    const lines = texts.map((text) => `q=${encodeURIComponent(text)}&limit=8\t17`);
    writeFileSync(file, [...lines, '', 'q=', ''].join('\n'));
    const sinceMs = performance.now();
    const [, two] = fleet.members;
    const end = await two.operator.cli('warm', 'goods', '--queries', file, '--max-per-second', '60');
    assert.equal(end.code, 0, end.err);
    const { state, computed, invalid, failed } = end.lines[0] ?? {};
    assert.deepEqual({ state, computed, invalid, failed }, { state: 'done', computed: 60, invalid: 1, failed: 0 });
    assert.deepEqual(await missStatuses(fleet.members, texts, '&limit=8'), []);
    assertUndisturbed(traffic.answers.filter(({ sentMs }) => sentMs >= sinceMs));
  });
});

interface Popular {
  readonly source: string;
  readonly queries: readonly { readonly search: string; readonly count: number }[];
}

/** No search was refused. A search that waits for the engine until its deadline is refused. */
function assertUndisturbed(answers: readonly TrafficAnswer[]): void {
  assert.ok(answers.length > RATE / 2, `${answers.length} answers`);
  assertNone(answers, ({ result }) => result === 'refused' || result === 'broken');
}
