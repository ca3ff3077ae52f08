import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { breakLinks } from '../../../loadtest/experiments/persistence/break-links.ts';
import { masterFigures, ownLatencyOf } from '../../../loadtest/experiments/persistence/figures.ts';
import { type LessonRow, persistenceLesson } from '../../../loadtest/experiments/persistence/lesson.ts';
import type { PersistenceRow } from '../../../loadtest/experiments/persistence/measure.ts';
import { masterConfig, replicaConfig, SETUPS, setupCommand } from '../../../loadtest/experiments/persistence/setups.ts';
import { persistenceCharts, persistenceTables } from '../../../loadtest/experiments/persistence/tables.ts';
import { attachedOf, settled } from '../../../loadtest/experiments/persistence/watch-master.ts';
import { coresOf } from '../../../loadtest/lab/cores.ts';
import { inLab } from '../../../loadtest/lab/lab.ts';

type Change = (row: LessonRow) => Partial<LessonRow>;

/** Every setup at x1, x3 and x5, all well; then as `change` has it. */
function rowsWith(change: Change = () => ({})): LessonRow[] {
  return [1, 3, 5].flatMap((times) =>
    SETUPS.map((setup) => {
      const row: LessonRow = {
        setup,
        times,
        attachedBefore: setup.replicas,
        askedPerSecond: 2333 * times,
        answeredPerSecond: 2330 * times,
        p99Ms: 4,
        maxMs: 10,
        longestMs: 1,
        fullSyncs: 0,
        attached: setup.replicas,
        awaySeconds: 0,
      };
      return { ...row, ...change(row) };
    }),
  );
}

const isOfSite = ({ setup }: LessonRow): boolean => setup.replicas > 0 && setup.hasSnapshots;
const away: Change = ({ setup, times }) =>
  setup.replicas > 0 && times > 1 ? { fullSyncs: 4, attached: 0, awaySeconds: 3 } : {};
const stalled: Change = (row) => (isOfSite(row) ? { p99Ms: 60, longestMs: 18 } : {});

test('replicas that cannot come back, a master that stalls, and x3 held without either: it holds', () => {
  const { holds, sentence } = persistenceLesson(rowsWith((row) => ({ ...away(row), ...stalled(row) })));
  assert.equal(holds, 'yes');
  assert.match(sentence, /did not finish in 6 of 9 rows with replicas \(from x3; up to 4 begun\)/);
  assert.match(sentence, /without either x3 was held with 6,990 of 6,999/);
  assert.match(sentence, /x3 p99 60 ms, longest of the master's own 18 ms \(without either 4.0 ms, 1 ms\)/);
});

test('replicas that never lost anything and a master that does not stall: it does not hold, because the backlog was enough', () => {
  const { holds, sentence } = persistenceLesson(rowsWith());
  assert.equal(holds, 'no');
  assert.match(sentence, /fitted into the backlog/);
});

test('a full resync that ends under load is none that cannot finish, and how long it took is said', () => {
  const back: Change = ({ setup }) => (setup.replicas > 0 ? { fullSyncs: setup.replicas, awaySeconds: 1.5 } : {});
  const { holds, sentence } = persistenceLesson(rowsWith(back));
  assert.equal(holds, 'no');
  assert.match(sentence, /every full resync finished under load, in 1.5 s/);
  assert.equal(persistenceLesson(rowsWith((row) => ({ ...back(row), ...stalled(row) }))).holds, 'partly');
});

test('a full resync that has to begin again did not finish, though the last one did', () => {
  const again: Change = ({ setup }) => (setup.replicas > 0 ? { fullSyncs: setup.replicas + 1, awaySeconds: 3 } : {});
  assert.equal(persistenceLesson(rowsWith((row) => ({ ...again(row), ...stalled(row) }))).holds, 'yes');
});

test('a replica that is not back yet and asked for no full resync is none that cannot finish one', () => {
  const { sentence } = persistenceLesson(rowsWith(({ setup }) => (setup.replicas > 0 ? { attached: 0 } : {})));
  assert.match(sentence, /fitted into the backlog/);
  assert.match(sentence, /^It does not hold here/);
});

test('only one of both: it holds in part', () => {
  assert.match(persistenceLesson(rowsWith(away)).sentence, /^It holds in part, replicas cannot come back, but the p99/);
  assert.match(persistenceLesson(rowsWith(stalled)).sentence, /^It holds in part, the stalls are there/);
});

test('a p99 that is not twice the one without either is no stall', () => {
  const nearly: Change = (row) => (isOfSite(row) ? { p99Ms: 7.9, longestMs: 18 } : {});
  assert.equal(persistenceLesson(rowsWith((row) => ({ ...away(row), ...nearly(row) }))).holds, 'partly');
});

test('slow replies of which the master noticed nothing are not its stall', () => {
  const { holds, sentence } = persistenceLesson(rowsWith((row) => ({ ...away(row), ...stalled(row), longestMs: 1 })));
  assert.equal(holds, 'partly');
  assert.match(sentence, /what is slow is not the master/);
});

test('where x3 is not held without either, in answers or in time, the lesson holds in part at most', () => {
  for (const worse of [{ answeredPerSecond: 6000 }, { p99Ms: 51 }]) {
    const change: Change = (row) => ({
      ...away(row),
      ...(isOfSite(row) && { p99Ms: 500, longestMs: 200 }),
      ...(row.setup.name === 'neither' && row.times === 3 && worse),
    });
    const { holds, sentence } = persistenceLesson(rowsWith(change));
    assert.equal(holds, 'partly');
    assert.match(sentence, /does not hold x3 without either/);
  }
});

test('a replica that did not follow before the row is none that fell out in it', () => {
  const never: Change = (row) => ({ ...away(row), ...stalled(row), ...(row.times > 1 && { attachedBefore: 0 }) });
  const { sentence } = persistenceLesson(rowsWith(never));
  assert.match(sentence, /no replica needed a full resync/);
  const none = persistenceLesson(rowsWith(({ setup }) => (setup.replicas > 0 ? { attachedBefore: 0 } : {})));
  assert.deepEqual([none.holds, /Not to be said/.test(none.sentence)], ['no', true]);
});

test('the longest of what a master noticed is the largest of its longest, and a fork is one of them', () => {
  const latest = [
    ['fork', 1795268635, 12, 18],
    ['eviction-cycle', 1795268634, 2, 34],
  ];
  assert.deepEqual(ownLatencyOf(latest), { forkMs: 18, longestMs: 34 });
  assert.deepEqual(ownLatencyOf([]), { forkMs: 0, longestMs: 0 });
});

test('only replicas that have the data are attached', () => {
  const info = {
    slave0: 'ip=::1,port=1,state=online,lag=0',
    slave1: 'ip=::1,port=2,state=send_bulk,lag=0',
    slaves: '2',
  };
  assert.equal(attachedOf(info), 1);
});

test('a setup asks for what its name says, and for nothing else', () => {
  for (const setup of SETUPS) {
    const config = masterConfig(setup, '1').join('\n');
    assert.equal(/^save \d+ \d+$/m.test(config), setup.hasSnapshots, setup.name);
    assert.equal(/^appendonly yes$/m.test(config), setup.hasLog, setup.name);
    assert.equal(setupCommand(setup).split(' replicaof ').length - 1, setup.replicas, setup.name);
  }
});

test('rows and charts have a value for every column and place', () => {
  const rows: PersistenceRow[] = rowsWith().map((row) => ({
    ...row,
    ...{ seconds: 3, storeCores: 0.2, limit: 'neither' as const, peakBytes: 2e8, forks: 1, snapshots: 0 },
    ...{ partialSyncs: 0, refusedSyncs: 0, evicted: 900, diskBytes: 0, forkMs: 3 },
  }));
  for (const table of persistenceTables(rows)) {
    assert.equal(table.rows.length, 18);
    for (const row of table.rows) assert.equal(row.values.length, table.columns.length);
  }
  for (const { places, series } of persistenceCharts(rows)) {
    assert.equal(series.length, 3);
    for (const { values } of series) assert.equal(values.filter((value) => value !== undefined).length, places.length);
  }
});

test('a replica whose link breaks while more is written than the backlog holds needs all of the memory again', async (t) => {
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
