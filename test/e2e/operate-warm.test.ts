import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { soon } from './operate.ts';
import { type Fleet, notHit, plant, startFleet } from './operate-fleet.ts';
import { type People, type PeoplesAnswer, startPeople } from './operate-people.ts';

const RATE = 40;

describe('warm-ups beside people', { timeout: 90_000 }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'serpcache-warm-'));
  let fleet: Fleet;
  let people: People;
  before(async () => {
    fleet = await startFleet();
    const urls = fleet.members.map(({ service }) => service.url);
    people = await startPeople({ urls, domain: 'goods', texts: fleet.texts.slice(0, 30), ratePerSecond: RATE });
  });
  after(async () => {
    await people?.stop();
    await fleet?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const flushed = async (): Promise<void> => {
    const [one, two] = fleet.members;
    const end = await one.operator.cli('flush', 'goods', '--mode', 'drop', '--yes');
    assert.equal(end.code, 0, end.err);
    const revision = Number(end.lines[0]?.['revision']);
    await soon('the other to follow', async () => (await two.operator.control('goods')).revision >= revision);
    // What people ask they have computed themselves by then: from here on only the warm-up costs anything.
    await soon('people to have theirs again', () => {
      const latest = people.answers.slice(-RATE);
      return latest.filter(({ result }) => result.startsWith('hit')).length >= 0.9 * latest.length;
    });
  };

  test('what is popular is what both processes were asked, added up', async () => {
    const text = fleet.texts[40] ?? '';
    for (const [at, { look }] of fleet.members.entries()) {
      for (let n = 0; n < 8 + at; n += 1) await look(text, '&limit=9');
    }
    for (const { operator } of fleet.members) {
      await soon('the counts of both', async () => {
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

  test('from what is popular: pages nobody asks any more hit again, and people notice nothing', async () => {
    const texts = fleet.texts.slice(30, 60);
    for (let round = 0; round < 2; round += 1) await plant(fleet.members, texts, '&limit=6');
    const [one] = fleet.members;
    await soon('them to be popular', async () => {
      const { queries } = await one.operator.get<Popular>('/admin/popular?domain=goods&limit=1000');
      return queries.filter(({ search }) => new URLSearchParams(search).get('limit') === '6').length === texts.length;
    });
    await flushed();
    const sinceMs = performance.now();
    const end = await one.operator.cli('warm', 'goods', '--from', 'popular', '--max-per-second', '50');
    assert.equal(end.code, 0, end.err);
    const said = JSON.stringify(end.lines);
    assert.ok(Number(end.lines[0]?.['computed']) >= texts.length && end.lines[0]?.['failed'] === 0, said);
    assert.deepEqual(await notHit(fleet.members, texts, '&limit=6'), []);
    assertUndisturbed(people.answers.filter(({ sentMs }) => sentMs >= sinceMs));
  });

  test('from a file of queries: pages nobody ever asked hit, and people notice nothing', async () => {
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
    assert.deepEqual(await notHit(fleet.members, texts, '&limit=8'), []);
    assertUndisturbed(people.answers.filter(({ sentMs }) => sentMs >= sinceMs));
  });
});

interface Popular {
  readonly source: string;
  readonly queries: readonly { readonly search: string; readonly count: number }[];
}

/** Nobody is refused; a search that waits for the engine's deadline would be. */
function assertUndisturbed(answers: readonly PeoplesAnswer[]): void {
  assert.ok(answers.length > RATE / 2, `${answers.length} answers`);
  assert.deepEqual(
    answers.filter(({ result }) => result === 'refused' || result === 'broken'),
    [],
  );
}
