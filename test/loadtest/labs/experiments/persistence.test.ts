import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { breakLinks } from '../../../../loadtest/labs/experiments/persistence/break-links.ts';
import { commandOf } from '../../../../loadtest/labs/experiments/persistence/command.ts';
import {
  diskBytesOf,
  evictionBytes,
  masterFigures,
  ownLatencyOf,
} from '../../../../loadtest/labs/experiments/persistence/figures.ts';
import { type LessonRow, persistenceLesson } from '../../../../loadtest/labs/experiments/persistence/lesson.ts';
import type { PersistenceRow } from '../../../../loadtest/labs/experiments/persistence/measure.ts';
import { masterConfig, replicaConfig, SETUPS } from '../../../../loadtest/labs/experiments/persistence/setups.ts';
import { persistenceCharts, persistenceTables } from '../../../../loadtest/labs/experiments/persistence/tables.ts';
import { attachedOf, settled } from '../../../../loadtest/labs/experiments/persistence/watch-master.ts';
import { coresOf, inLab } from '../../../../loadtest/labs/kit/lab.ts';

type Change = (row: LessonRow) => Partial<LessonRow>;

/** Every setup at x1, x3 and x5, all without problems, then modified by `change`. */
function rowsWith(change: Change = () => ({})): LessonRow[] {
  return [1, 3, 5].flatMap((times) =>
    SETUPS.map((setup) => {
      const row: LessonRow = {
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
        awaySeconds: 0,
        evicted: 400 * times,
        streamBytes: setup.replicas > 0 ? 7e6 * times : 0,
      };
      return { ...row, ...change(row) };
    }),
  );
}

const isOfSite = ({ setup }: LessonRow): boolean => setup.replicas > 0 && setup.hasSnapshots;
const away: Change = ({ setup, times }) =>
  setup.replicas > 0 && times > 1 ? { fullSyncs: 4, attached: 0, awaySeconds: 3 } : {};
const stalled: Change = (row) => (isOfSite(row) ? { p99Ms: 60, longestMs: 28 } : {});
/** 36 bytes each: 1 MiB is 29,128 of them. */
const evicting: Change = ({ setup }) => (setup.replicas > 0 ? { evicted: 5 * 30_000 } : {});

test('evictions overrun the backlog, replicas cannot resync, the master stalls, and x3 is fine without either: it holds', () => {
  const { holds, sentence } = persistenceLesson(
    rowsWith((row) => ({ ...away(row), ...stalled(row), ...evicting(row) })),
  );
  assert.equal(holds, 'yes');
  assert.match(
    sentence,
    /full resync in 6 of 9 rows; in 6 it did not finish .* \(from x3; up to 4 times a replica\), in 6 /,
  );
  assert.match(sentence, /evictions alone outran the backlog: 30,000 evictions\/s/);
  assert.match(sentence, /without either x3 was held with 6,990 of 6,999/);
  assert.match(sentence, /x3 p99 60.ms and 28 ms, .*without either 4.ms and 1 ms at most/);
});

test('writes overrun the backlog and evictions are a small part of it: the sentence says so, and it holds in part', () => {
  const { holds, sentence } = persistenceLesson(rowsWith((row) => ({ ...away(row), ...stalled(row) })));
  assert.equal(holds, 'partly');
  assert.match(sentence, /but evictions do not outrun the backlog at these rates: /);
  assert.match(sentence, /400 evictions\/s at most \(x5\) are 14.1.KiB\/s of the 6.7.MiB\/s that replicas are sent/);
  const nearly = rowsWith((row) => ({ ...away(row), ...stalled(row), ...(row.times > 0 && { evicted: 5 * 29_000 }) }));
  assert.equal(persistenceLesson(nearly).holds, 'partly');
});

test('replicas lose nothing and the master does not stall: it does not hold, because the backlog was large enough', () => {
  const { holds, sentence } = persistenceLesson(rowsWith());
  assert.equal(holds, 'no');
  assert.match(sentence, /fitted into the backlog/);
});

test('a full resync that ends under load counts as finished, and its duration is given', () => {
  const back: Change = ({ setup }) => (setup.replicas > 0 ? { fullSyncs: setup.replicas, awaySeconds: 1.5 } : {});
  const { holds, sentence } = persistenceLesson(rowsWith(back));
  assert.equal(holds, 'no');
  assert.match(sentence, /in 9 of 9 rows, and every one finished under load, in 1.5 s/);
  assert.equal(persistenceLesson(rowsWith((row) => ({ ...back(row), ...stalled(row) }))).holds, 'partly');
});

test('a full resync that had to be restarted counts as unfinished, even if the last one finished', () => {
  const again: Change = ({ setup }) => (setup.replicas > 0 ? { fullSyncs: setup.replicas + 1, awaySeconds: 3 } : {});
  assert.match(persistenceLesson(rowsWith(again)).sentence, /^It holds in part, full resyncs cannot finish, but/);
});

test('a full resync in progress when its row ends does not count as one that cannot finish', () => {
  const late: Change = ({ setup }) => (setup.replicas > 0 ? { fullSyncs: setup.replicas, attached: 0 } : {});
  const { holds, sentence } = persistenceLesson(rowsWith(late));
  assert.equal(holds, 'no');
  assert.match(sentence, /none had to begin again, and in 9 it was under way when the row ended/);
});

test('a replica that is not back yet and requested no full resync does not count as one that cannot finish it', () => {
  const { sentence } = persistenceLesson(rowsWith(({ setup }) => (setup.replicas > 0 ? { attached: 0 } : {})));
  assert.match(sentence, /fitted into the backlog/);
  assert.match(sentence, /^It does not hold here/);
});

test('with only one of the effects it holds in part, and the missing one is named', () => {
  assert.match(
    persistenceLesson(rowsWith(away)).sentence,
    /^It holds in part, full resyncs cannot finish, but the master does not stall and evictions do not/,
  );
  assert.match(
    persistenceLesson(rowsWith(stalled)).sentence,
    /^It holds in part, the master stalls, but replicas come back and evictions do not/,
  );
});

test('a p99 below twice the worst one without either, at any load, is not a stall', () => {
  const nearly: Change = (row) => (isOfSite(row) ? { p99Ms: 7.9, longestMs: 28 } : {});
  assert.match(persistenceLesson(rowsWith(nearly)).sentence, /the master does not stall/);
  const noisy: Change = (row) => ({
    ...stalled(row),
    ...(row.setup.name === 'neither' && row.times === 5 && { p99Ms: 31 }),
  });
  assert.match(persistenceLesson(rowsWith(noisy)).sentence, /the master does not stall/);
});

test('a p99 of a few milliseconds is not a stall of the master, however low the other one is', () => {
  const { sentence } = persistenceLesson(
    rowsWith((row) => ({ ...stalled(row), ...(isOfSite(row) && { longestMs: 19 }) })),
  );
  assert.match(sentence, /^It does not hold here, .*what is slow is not the master/);
});

test('when x3 without either already fails, in answers or in time, there is no baseline to compare with', () => {
  for (const worse of [{ answeredPerSecond: 6000 }, { p99Ms: 51 }]) {
    const change: Change = (row) => ({
      ...away(row),
      ...(isOfSite(row) && { p99Ms: 500, longestMs: 200 }),
      ...(row.setup.name === 'neither' && row.times === 3 && worse),
    });
    const { holds, sentence } = persistenceLesson(rowsWith(change));
    assert.equal(holds, 'unseen');
    assert.match(sentence, /^It could not be seen here: this machine does not hold x3 without either/);
  }
});

test('a replica that was not following before the row did not fall out in it', () => {
  const never: Change = (row) => ({ ...away(row), ...stalled(row), ...(row.times > 1 && { attachedBefore: 0 }) });
  const { sentence } = persistenceLesson(rowsWith(never));
  assert.match(sentence, /no replica needed a full resync/);
  const none = persistenceLesson(rowsWith(({ setup }) => (setup.replicas > 0 ? { attachedBefore: 0 } : {})));
  assert.deepEqual([none.holds, /^It could not be seen here/.test(none.sentence)], ['unseen', true]);
});

test('the longest stall of a master is the largest of its latency events, and a fork is one of them', () => {
  const latest = [
    ['fork', 1795268635, 12, 18],
    ['eviction-cycle', 1795268634, 2, 34],
  ];
  assert.deepEqual(ownLatencyOf(latest), { forkMs: 18, longestMs: 34 });
  assert.deepEqual(ownLatencyOf([]), { forkMs: 0, longestMs: 0 });
});

test('disk bytes include every snapshot, the log, and what each rewrite of the log wrote in addition', () => {
  const info: Readonly<Record<string, number>> = {
    ...{ rdb_saves: 3, aof_current_size: 500, aof_rewrites: 2, aof_base_size: 40 },
  };
  const figure = (name: string): number => info[name] ?? 0;
  assert.equal(diskBytesOf(figure, 1000), 3580);
  assert.equal(
    diskBytesOf(() => 0, 1000),
    0,
  );
});

test('only replicas that have the data count as attached', () => {
  const info = {
    slave0: 'ip=::1,port=1,state=online,lag=0',
    slave1: 'ip=::1,port=2,state=send_bulk,lag=0',
    slaves: '2',
  };
  assert.equal(attachedOf(info), 1);
});

test('a setup has only the settings that its name says', () => {
  for (const setup of SETUPS) {
    const config = masterConfig(setup, '1').join('\n');
    assert.equal(/^save \d+ \d+$/m.test(config), setup.hasSnapshots, setup.name);
    assert.equal(/^appendfsync /m.test(config), setup.hasLog, setup.name);
    const command = commandOf(setup, { askedPerSecond: 7000, seconds: 5 });
    assert.match(command, setup.hasSnapshots ? / save '\d+ \d+'/ : / save '' /, setup.name);
    assert.match(command, setup.hasLog ? / appendonly 'yes'/ : / appendonly 'no'/, setup.name);
    const started = /for port in ([\d ]+);/.exec(command)?.[1]?.split(' ') ?? [];
    assert.equal(started.length, setup.replicas, setup.name);
  }
});

test('a command restores every setting that it changes', () => {
  for (const setup of SETUPS) {
    const command = commandOf(setup, { askedPerSecond: 7000, seconds: 5 });
    const kept = /for name in ([\w -]+);/.exec(command)?.[1]?.split(' ') ?? [];
    const changed = [...(/redis-cli config set ([^;]+)/.exec(command)?.[1] ?? '').matchAll(/([\w-]+) '[^']*'/g)];
    assert.deepEqual(
      changed.map(([, name]) => name),
      kept,
      setup.name,
    );
    assert.ok(kept.includes('maxmemory') && command.endsWith('echo "$old" | redis-cli'), setup.name);
  }
});

test('the bytes that evictions add to the replication stream are counted as a share of the stream', () => {
  assert.equal(evictionBytes({ evicted: 1000 }), 36_000);
});

test('rows and charts have a value for every column and place', () => {
  const rows: PersistenceRow[] = rowsWith().map((row) => ({
    ...row,
    ...{ maxMs: 10, storeCores: 0.2, limit: 'neither' as const, peakBytes: 2e8, forks: 1, snapshots: 0 },
    ...{ partialSyncs: 0, refusedSyncs: 0, diskBytes: 0, forkMs: 3 },
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
