import { defineExperiment } from '../kit/lab.ts';
import { onceMore } from '../kit/rounds.ts';
import { chartOf, tableOf } from '../kit/table.ts';
import {
  BACKLOG_BYTES,
  breakSeconds,
  evictionBytes,
  measureRow,
  type PersistenceRow,
  SETUPS,
  type Setup,
  settledSnapshot,
} from './persistence/measure.ts';

/** Published for x3 after the change; x1 is a third of it. */
const SHARD_AT_X3_PER_SECOND = 7000;
const TIMES: readonly number[] = [1, 3, 5];
const [ROW_SECONDS, REPLICATED_ROW_SECONDS] = [2, 4.5];

/** The baseline of all comparisons, and the setup of the published site. */
const [BARE_NAME, SITE_NAME] = ['neither', 'save + 2 replicas'];

/** A smaller share means lost requests; a few always fall after the end. */
const HELD_SHARE = 0.97;
/** The deadline of a read in serpcache: a later answer is a miss. */
const HELD_P99_MS = 50;
/** A multiple of the worst row without either, at any load: those rows differ from each other by up to this factor. */
const STALL_TIMES = 2;
/** The master's own figure: forks of so little memory take 10 ms, which is no stall. */
const STALL_MS = 20;

export const persistence = defineExperiment<readonly PersistenceRow[]>({
  varies: 'snapshots, append-only log and replicas at x1, x3 and x5, with a break of the replicas',
  parts: ['redis'],
  title: 'Does a store that is only a cache need persistence and replicas?',
  published:
    'A classifieds site had snapshots and replicas: at multiples of its load evictions outran the replication backlog, replicas fell out, a full resync could not finish, the master stalled. Without both x3 was held with 7,000 requests a shard and 15 times fewer shards.',
  sentence:
    'Run a store that is only a cache without snapshots and without replicas. Where replicas have to be, size the backlog and the replica buffer by the bytes that are written during a break and during a full copy of the memory.',
  measure: async (lab) => {
    lab.say('filling a store until it is settled');
    const snapshot = await settledSnapshot(lab);
    const rows: PersistenceRow[] = [];
    for (const times of TIMES) {
      const askedPerSecond = Math.round((SHARD_AT_X3_PER_SECOND / 3) * times);
      for (const setup of SETUPS) {
        lab.say(`x${times}, ${setup.name}`);
        const seconds = lab.seconds(setup.replicas > 0 ? REPLICATED_ROW_SECONDS : ROW_SECONDS);
        rows.push(
          await onceMore(
            () => measureRow(lab, setup, snapshot, { times, askedPerSecond, seconds }),
            // A disturbance of the machine must not affect the rows that all others are compared with.
            (row) => setup.name === BARE_NAME && !isHeld(row),
            () => lab.say(`x${times}, ${setup.name} again: it was not held`),
          ),
        );
      }
    }
    return rows;
  },
  tables: (rows) => [
    tableOf({
      title: 'What the service sees, and what replicas do',
      rows,
      name: rowName,
      columns: [
        ['asked', 'per-second', (row) => row.askedPerSecond],
        ['answered', 'per-second', (row) => row.answeredPerSecond],
        ['p99', 'ms', (row) => row.p99Ms],
        ['longest', 'ms', (row) => row.maxMs],
        ['store', 'cores', (row) => row.storeCores],
        ['full resyncs', 'count', (row) => replicated(row)?.fullSyncs],
        ['evicted', 'per-second', (row) => row.evicted / row.seconds],
        ['longest of its own', 'ms', (row) => row.longestMs],
        ['attached at the end', 'text', (row) => replicated(row) && `${row.attached} of ${row.setup.replicas}`],
      ],
      published: ({ setup, times }) => {
        if (setup.name === SITE_NAME && times > 1) return 'replicas fall out, the master stalls';
        return setup.name === BARE_NAME && times === 3 ? 'held, 7,000/s a shard' : undefined;
      },
    }),
  ],
  charts: (rows) => [
    chartOf({
      title: 'p99 of a request',
      across: 'what keeps the data safe',
      points: SETUPS,
      pointName: ({ name }) => name,
      unit: 'ms',
      shape: 'bars',
      isLog: true,
      series: TIMES.map((times) => ({
        name: `x${times}`,
        of: ({ name }: Setup) => rows.find((row) => row.setup.name === name && row.times === times)?.p99Ms,
      })),
    }),
  ],
  claims: (rows) => {
    const bares = rows.filter(({ setup }) => setup.name === BARE_NAME);
    const bare = bares.find(({ times }) => times === 3);
    const site = rows.filter(({ setup }) => setup.name === SITE_NAME);
    // A replica that did not follow before the row says nothing about the row.
    const followed = rows.filter(
      ({ setup, attachedBefore }) => setup.replicas > 0 && attachedBefore === setup.replicas,
    );
    const worst = (of: (row: PersistenceRow) => number): number => Math.max(...bares.map(of));
    const [worstP99Ms, worstOwnMs] = [worst(({ p99Ms }) => p99Ms), worst(({ longestMs }) => longestMs)];
    const slow = site.filter(({ p99Ms }) => p99Ms >= STALL_TIMES * worstP99Ms);
    // Replicas may share processors with the generator: the master stalled only if its own figure shows it as well.
    const stalls = slow.filter(({ longestMs }) => longestMs >= Math.max(STALL_MS, STALL_TIMES * worstOwnMs));
    const outrun = followed.map(
      (row) => ((evictionBytes(row) / row.seconds) * breakSeconds(row.seconds)) / BACKLOG_BYTES,
    );
    const effects = [
      // More than one for each replica. One that is under way when the row ends may still finish.
      [followed.filter(({ setup, fullSyncs }) => fullSyncs > setup.replicas), 'a full resync had to begin again'],
      [stalls, `the master stalled, ${SITE_NAME}`],
      [outrun.filter((share) => share > 1), 'evictions alone outran the backlog during the break'],
    ] as const;
    const isComparable = bare !== undefined && isHeld(bare) && site.length > 0 && followed.length > 0;
    return [
      {
        text: 'published effects that were seen, of 3; not seen when x3 is not held without either, or no replica followed',
        figure: isComparable ? effects.filter(([where]) => where.length > 0).length : undefined,
        unit: 'count',
        atLeast: 1,
        isRequired: true,
      },
      ...effects.map(([where, text]) => ({
        text: `rows in which ${text}`,
        figure: where.length,
        unit: 'count' as const,
        atLeast: 1,
      })),
      {
        text: 'requests answered ÷ asked without either, x3',
        figure: bare && bare.answeredPerSecond / bare.askedPerSecond,
        unit: 'share',
        atLeast: HELD_SHARE,
      },
      { text: 'p99 without either, x3', figure: bare?.p99Ms, unit: 'ms', atMost: HELD_P99_MS },
      {
        text: `rows in which replicas needed a full resync, of ${followed.length}`,
        figure: followed.filter(({ fullSyncs }) => fullSyncs > 0).length,
        unit: 'count',
      },
      {
        text: `largest p99 of ${SITE_NAME} ÷ of neither`,
        figure: Math.max(...site.map(({ p99Ms }) => p99Ms)) / worstP99Ms,
        unit: 'times',
      },
      { text: 'evictions during the break ÷ backlog, the largest', figure: Math.max(...outrun), unit: 'times' },
    ];
  },
  notes: () => [
    `x3 is the published ${SHARD_AT_X3_PER_SECOND.toLocaleString('en')} requests a second for one shard, x1 a third of it: 1 write to 4 reads, values of 100–6000 bytes, more keys than fit, so that writes evict. The rate is not scaled. Fifteen times fewer shards is about a whole site and cannot be measured here.`,
    'The memory is scaled: 128 MB, one 64th of a shard of 8 GB. Two settings that have to last as long as the memory takes are scaled by the same factor: the buffer for a replica (4 of 256 MB, as in deploy/redis) and the rule for snapshots (`save 1 156` for `save 60 10000`). The backlog is the default 1 MB, not scaled. Loopback is faster than a network, which favours replicas. Forks and copies are a 64th as well: at 8 GB each fork takes as many times longer.',
    'Every row begins with the same store, started again from one snapshot: full, and loaded by the mix for a while, so that it holds the most requested keys. The evictions of a row are then its own. A row without either that is not held is measured once more, and counts as it is then.',
    'In every row with replicas their links break once, for a fifth of the row and at most a second: they are stopped and their connections cut. Replicas that did not follow before their row do not count for the claims. A full resync that has to begin again did not finish: more was written meanwhile than the buffer for a replica holds. One that is under way when the row ends says nothing.',
    'An eviction adds a deletion of the key by name to the stream, a hundredth of the page that is written for it. Its bytes are computed from the evictions. With replicas a megabyte of pages is evicted once more in every row, to make room for the backlog, which is paid from maxmemory.',
    'Replicas and the children of masters (snapshots, full resyncs) run on the processors of the generator, replicas at the lowest priority, because there are no other machines: the generator lacks that time for moments. The longest of its own is measured by the master itself, and free of that.',
    'Snapshots are sent to replicas over the socket, without a file, as deploy/redis has it.',
  ],
});

function isHeld({ answeredPerSecond, askedPerSecond, p99Ms }: PersistenceRow): boolean {
  return answeredPerSecond >= HELD_SHARE * askedPerSecond && p99Ms <= HELD_P99_MS;
}

function rowName({ setup, times }: Pick<PersistenceRow, 'setup' | 'times'>): string {
  return `x${times}: ${setup.name}`;
}

function replicated(row: PersistenceRow): PersistenceRow | undefined {
  return row.setup.replicas === 0 ? undefined : row;
}
