import { setPriority } from 'node:os';
import { seededRandom } from '../../src/catalogue/demo/random.ts';
import type { Finding } from '../finding/finding.ts';
import type { Experiment } from '../lab/experiment.ts';
import type { Lab } from '../lab/lab.ts';
import { massImport } from '../lab/mass-import.ts';
import { fillCommands, PUBLISHED_MIX } from '../lab/mix.ts';
import { persistenceLesson } from './persistence/lesson.ts';
import { measure, type PersistenceRow, type Shard } from './persistence/measure.ts';
import { MEMORY_BYTES, masterConfig, replicaConfig, SETUPS, type Setup } from './persistence/setups.ts';
import { persistenceCharts, persistenceTables } from './persistence/tables.ts';
import { settled } from './persistence/watch-master.ts';

/** Published for x3 after the change; x1 is a third of it. */
const SHARD_AT_X3_PER_SECOND = 7000;
const TIMES = [1, 3, 5];
const [ROW_SECONDS, REPLICATED_ROW_SECONDS] = [2.5, 5];
const FIRST_SYNC_MS = 10_000;
/** The lowest there is: see the notes. */
const LAST = 19;

export const persistence: Experiment = {
  varies: 'snapshots, append-only log and replicas at x1, x3 and x5, with a break of the replicas',
  parts: ['redis'],
  run,
};

async function run(lab: Lab): Promise<Omit<Finding, 'name'>> {
  const shards: Shard[] = [];
  for (const setup of SETUPS) {
    lab.say(`${setup.name}: starting and filling`);
    shards.push(await startShard(lab, setup));
  }
  const rows: PersistenceRow[] = [];
  for (const times of TIMES) {
    for (const shard of shards) {
      lab.say(`x${times}, ${shard.setup.name}`);
      const askedPerSecond = Math.round((SHARD_AT_X3_PER_SECOND / 3) * times);
      const seconds = lab.seconds(shard.setup.replicas > 0 ? REPLICATED_ROW_SECONDS : ROW_SECONDS);
      rows.push(await measure(lab, shard, { times, askedPerSecond, seconds }));
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
      'In every row with replicas their links break once, for a fifth of the row and at most a second: they are stopped and their connections cut. A replica that is still away at the end is waited for without load, for 5 s at most; one that did not follow before its row does not count for the lesson.',
      'Replicas and the children of masters (snapshots, full resyncs) run on the processors of the generator, replicas at the lowest priority, because there are no other machines: what they take there is missing from the generator for moments. The longest of its own is what the master noticed itself, and free of that.',
      'Snapshots are sent to replicas over the socket, without a file, as deploy/redis has it. Disk is what the master wrote: its log, and its snapshots; peak memory is its resident memory together with what its children made it copy.',
    ],
  };
}

async function startShard(lab: Lab, setup: Setup): Promise<Shard> {
  const elsewhere = lab.cores.generator;
  const master = await lab.startStore({ config: masterConfig(setup, elsewhere) });
  await massImport(mostAsked(fillCommands(PUBLISHED_MIX, seededRandom(1).next)), {
    host: master.host,
    port: master.port,
    cores: elsewhere,
    signal: lab.signal,
  });
  const replicas = [];
  for (let at = 0; at < setup.replicas; at += 1) {
    const replica = await lab.startStore({ cores: elsewhere, config: replicaConfig(master.port) });
    setPriority(replica.pid(), LAST);
    replicas.push(replica);
  }
  await settled(master, setup.replicas, FIRST_SYNC_MS, lab.signal);
  return { setup, master, replicas };
}

/** Keys in the middle, as many as fit: all of them would leave the last ones, which nobody asks for, and take twice as long. */
function* mostAsked<T>(commands: Iterable<T>): Iterable<T> {
  const meanBytes = (PUBLISHED_MIX.leastBytes + PUBLISHED_MIX.mostBytes) / 2;
  const half = MEMORY_BYTES / meanBytes / 2;
  let at = -PUBLISHED_MIX.keys / 2;
  for (const command of commands) {
    if (Math.abs(at) <= half) yield command;
    at += 1;
  }
}
