import type { Finding } from '../kit/finding.ts';
import type { Experiment, Lab } from '../kit/lab.ts';
import { onceMore } from '../kit/rounds.ts';
import { isHeld, persistenceLesson } from './persistence/lesson.ts';
import { measure, type PersistenceRow } from './persistence/measure.ts';
import { endShard, settledSnapshot, startShard } from './persistence/settled.ts';
import { BARE_NAME, SETUPS, type Setup } from './persistence/setups.ts';
import { persistenceCharts, persistenceTables } from './persistence/tables.ts';

/** Published for x3 after the change; x1 is a third of it. */
const SHARD_AT_X3_PER_SECOND = 7000;
const TIMES = [1, 3, 5];
const [ROW_SECONDS, REPLICATED_ROW_SECONDS] = [2, 4.5];

export const persistence: Experiment = {
  varies: 'snapshots, append-only log and replicas at x1, x3 and x5, with a break of the replicas',
  parts: ['redis'],
  run,
};

async function measured(lab: Lab, setup: Setup, times: number, snapshot: string): Promise<PersistenceRow> {
  const shard = await startShard(lab, setup, snapshot);
  const askedPerSecond = Math.round((SHARD_AT_X3_PER_SECOND / 3) * times);
  const seconds = lab.seconds(setup.replicas > 0 ? REPLICATED_ROW_SECONDS : ROW_SECONDS);
  const row = await measure(lab, shard, { times, askedPerSecond, seconds });
  await endShard(lab, shard);
  return row;
}

async function run(lab: Lab): Promise<Omit<Finding, 'name'>> {
  lab.say('filling a store until it is settled');
  const snapshot = await settledSnapshot(lab);
  const rows: PersistenceRow[] = [];
  for (const times of TIMES) {
    for (const setup of SETUPS) {
      lab.say(`x${times}, ${setup.name}`);
      rows.push(
        await onceMore(
          () => measured(lab, setup, times, snapshot),
          // Two seconds have a hiccup of the machine now and then: what all others are compared with is free of it.
          (row) => setup.name === BARE_NAME && !isHeld(row),
          () => lab.say(`x${times}, ${setup.name} again: it was not held`),
        ),
      );
    }
  }
  return {
    title: 'Persistence and replicas of a store that is only a cache',
    published:
      'A classifieds site had snapshots and replicas: at multiples of its load evictions outran the replication backlog, replicas fell out, a full resync could not finish, the master stalled. Without both x3 was held with 7,000 requests a shard and 15 times fewer shards.',
    tables: persistenceTables(rows),
    charts: persistenceCharts(rows),
    lesson: persistenceLesson(rows),
    notes: [
      `x3 is the published ${SHARD_AT_X3_PER_SECOND.toLocaleString('en')} requests a second for one shard, x1 a third of it: 1 write to 4 reads, values of 100–6000 bytes, more keys than fit, so that writes evict. The rate is not scaled. Fifteen times fewer shards is about a whole site and cannot be measured here.`,
      'The memory is scaled: 128 MB, one 64th of a shard of 8 GB, and with it by the same factor what has to hold as long as the memory takes: the buffer for a replica (4 of 256 MB, as in deploy/redis) and the rule for snapshots (`save 1 156` for `save 60 10000`). What is written while all of the memory is saved or sent is then in the same proportion to the buffer as with 8 GB, as long as data is sent as fast; loopback is faster than a network, which favours replicas. The backlog is the default 1 MB, not scaled. Forks and copies are a 64th as well: at 8 GB each fork takes as many times longer.',
      'Every row begins with the same store, started anew from one snapshot: full, and asked by the mix for a while, so that it holds what is asked for most. What a row evicts is then of that row alone. A row without either that is not held is measured once more, and counts as it is then. The commands are the same in every row, only more of them at x3 and x5.',
      'In every row with replicas their links break once, for a fifth of the row and at most a second: they are stopped and their connections cut. They followed before their row, or do not count for the lesson. A full resync that has to begin again did not finish: more was written meanwhile than the buffer for a replica holds. One that is under way when the row ends says nothing.',
      'What an eviction adds to the stream is a deletion of the key by name, a hundredth of the page that is written for it: evictions alone would have to come in tens of thousands a second to outrun a backlog of 1 MB in a second. Its share of the stream is counted from the evictions, the stream itself by the master. With replicas a megabyte of pages is evicted once more in every row, to make room for the backlog, which is paid from maxmemory.',
      'Replicas and the children of masters (snapshots, full resyncs) run on the processors of the generator, replicas at the lowest priority, because there are no other machines: what they take there is missing from the generator for moments. The longest of its own is what the master noticed itself, and free of that.',
      'Snapshots are sent to replicas over the socket, without a file, as deploy/redis has it. Disk is what the master wrote: its log, and its snapshots; peak memory is its resident memory together with what its children made it copy.',
    ],
  };
}
