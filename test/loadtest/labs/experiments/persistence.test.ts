import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  breakLinks,
  masterConfig,
  masterFigures,
  type PersistenceRow,
  replicaConfig,
  SETUPS,
  settled,
} from '../../../../loadtest/labs/experiments/persistence/measure.ts';
import { persistence } from '../../../../loadtest/labs/experiments/persistence.ts';
import { coresOf, inLab } from '../../../../loadtest/labs/kit/lab.ts';
import { claimOf, type Found } from './harness.ts';

type Change = (row: PersistenceRow) => Partial<PersistenceRow>;

/** Every setup at x1, x3 and x5, all without problems, then modified by `change`. */
function rowsWith(change: Change = () => ({})): PersistenceRow[] {
  return [1, 3, 5].flatMap((times) =>
    SETUPS.map((setup) => {
      const row: PersistenceRow = {
        maxMs: 10,
        storeCores: 0.2,
        limit: 'neither',
        setup,
        times,
        attachedBefore: setup.replicas,
        askedPerSecond: 2333 * times,
        answeredPerSecond: 2330 * times,
        seconds: 5,
        p99Ms: 4,
        longestMs: 1,
        fullSyncs: 0,
        attached: setup.replicas,
        evicted: 400 * times,
      };
      return { ...row, ...change(row) };
    }),
  );
}

const isOfSite = ({ setup }: PersistenceRow): boolean => setup.replicas > 0 && setup.hasSnapshots;
const away: Change = ({ setup, times }) => (setup.replicas > 0 && times > 1 ? { fullSyncs: 4, attached: 0 } : {});
const stalled: Change = (row) => (isOfSite(row) ? { p99Ms: 60, longestMs: 28 } : {});
/** 36 bytes each: 1 MiB is 29,128 of them. */
const evicting: Change = ({ setup }) => (setup.replicas > 0 ? { evicted: 5 * 30_000 } : {});

const findingWith = (change?: Change): Found => persistence.findingOf(rowsWith(change));

/** Values of one column by the row's name. */
function columnOf({ tables }: Found, name: string): ReadonlyMap<string, number | string | undefined> {
  const table = tables.find(({ columns }) => columns.some((column) => column.name === name));
  const at = table?.columns.findIndex((column) => column.name === name) ?? -1;
  return new Map(table?.rows.map((row) => [row.name, row.values[at]]));
}

const BEGUN_AGAIN = /full resync had to begin again/;
const STALLED = /the master stalled/;
const OUTRUN = /evictions alone outran/;
const NEEDED = /replicas needed a full resync, of 9/;

function effectsOf(found: Found): readonly (boolean | undefined)[] {
  return [BEGUN_AGAIN, STALLED, OUTRUN].map((text) => claimOf(found, text)[1]);
}

test('evictions overrun the backlog, replicas cannot resync, the master stalls, and x3 is fine without either: it holds', () => {
  const found = findingWith((row) => ({ ...away(row), ...stalled(row), ...evicting(row) }));
  assert.equal(found.verdict, 'yes');
  assert.equal(claimOf(found, NEEDED)[0], 6);
  assert.deepEqual(claimOf(found, BEGUN_AGAIN), [6, true]);
  const syncs = columnOf(found, 'full resyncs');
  assert.deepEqual([syncs.get('x1: 1 replica'), syncs.get('x3: 1 replica')], [0, 4]);
  const attached = [...columnOf(found, 'attached at the end').values()];
  assert.equal(attached.filter((text) => /^0 of/.test(String(text))).length, 6);
  assert.deepEqual(claimOf(found, OUTRUN), [9, true]);
  assert.equal(columnOf(found, 'evicted').get('x1: 1 replica'), 30_000);
  assert.equal(columnOf(found, 'answered').get('x3: neither'), 6990);
  assert.equal(columnOf(found, 'asked').get('x3: neither'), 6999);
  assert.equal(claimOf(found, /answered ÷ asked without either, x3/)[1], true);
  const [p99, own] = ['p99', 'longest of its own'].map((name) => columnOf(found, name));
  assert.deepEqual([p99?.get('x3: save + 2 replicas'), own?.get('x3: save + 2 replicas')], [60, 28]);
  assert.deepEqual([p99?.get('x3: neither'), own?.get('x3: neither')], [4, 1]);
});

test('replicas lose nothing and the master does not stall: it does not hold, because the backlog was large enough', () => {
  const found = findingWith();
  assert.equal(found.verdict, 'no');
  assert.equal(claimOf(found, NEEDED)[0], 0);
});

test('a full resync that had to be restarted counts as unfinished, even if the last one finished', () => {
  const again: Change = ({ setup }) => (setup.replicas > 0 ? { fullSyncs: setup.replicas + 1 } : {});
  const found = findingWith(again);
  assert.equal(found.verdict, 'partly');
  assert.deepEqual(effectsOf(found), [true, false, false]);
});

test('a p99 below twice the worst one without either, at any load, is not a stall', () => {
  const nearly: Change = (row) => (isOfSite(row) ? { p99Ms: 7.9, longestMs: 28 } : {});
  assert.equal(claimOf(findingWith(nearly), STALLED)[1], false);
  const noisy: Change = (row) => ({
    ...stalled(row),
    ...(row.setup.name === 'neither' && row.times === 5 && { p99Ms: 31 }),
  });
  assert.equal(claimOf(findingWith(noisy), STALLED)[1], false);
});

test('when x3 without either already fails, in answers or in time, there is no baseline to compare with', () => {
  for (const worse of [{ answeredPerSecond: 6000 }, { p99Ms: 51 }]) {
    const change: Change = (row) => ({
      ...away(row),
      ...(isOfSite(row) && { p99Ms: 500, longestMs: 200 }),
      ...(row.setup.name === 'neither' && row.times === 3 && worse),
    });
    const found = findingWith(change);
    assert.equal(found.verdict, 'unseen');
    const text = 'p99Ms' in worse ? /p99 without either, x3/ : /answered ÷ asked without either, x3/;
    assert.equal(claimOf(found, text)[1], false);
    assert.deepEqual(claimOf(found, /not seen when x3 is not held without either/), [undefined, undefined]);
  }
});

test('a setup has only the settings that its name says', () => {
  for (const setup of SETUPS) {
    const config = masterConfig(setup, '1').join('\n');
    assert.equal(/^save \d+ \d+$/m.test(config), setup.hasSnapshots, setup.name);
    assert.equal(/^appendfsync /m.test(config), setup.hasLog, setup.name);
  }
});

test('a replica whose link breaks while more is written than the backlog holds needs a full copy of the memory', async (t) => {
  const options = { cores: coresOf('0'), say: () => undefined, signal: t.signal };
  await inLab(options, async (lab) => {
    const master = await lab.startStore({ cores: 'any', config: ['repl-backlog-size 16kb', 'maxmemory 64mb'] });
    const replica = await lab.startStore({ cores: 'any', config: replicaConfig(master.port) });
    assert.ok(await settled(master, 1, 15_000, lab.signal));
    const write = async (bytes: number): Promise<unknown> => {
      await sleep(100);
      return master.command('SET', 'page', 'x'.repeat(bytes));
    };
    const syncsAfter = async (bytes: number) => {
      const before = await masterFigures(master);
      await Promise.all([breakLinks(master, [replica], 0.4, lab.signal), write(bytes)]);
      assert.ok(await settled(master, 1, 15_000, lab.signal));
      const after = await masterFigures(master);
      return [after.fullSyncs - before.fullSyncs, after.partialSyncs - before.partialSyncs];
    };
    assert.deepEqual(await syncsAfter(100), [0, 1]);
    assert.deepEqual(await syncsAfter(1_000_000), [1, 0]);
  });
});
