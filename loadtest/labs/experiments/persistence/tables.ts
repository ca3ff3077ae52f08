import type { Chart, FindingTable, Row } from '../../kit/finding.ts';
import { fillFirst } from '../../kit/table.ts';
import { commandOf, FILL } from './command.ts';
import { evictionBytes } from './figures.ts';
import type { PersistenceRow } from './measure.ts';
import { BACKLOG_BYTES, BARE_NAME, MEMORY_BYTES, SETUPS, SITE_NAME } from './setups.ts';

export function persistenceTables(rows: readonly PersistenceRow[]): readonly FindingTable[] {
  return fillFirst(FILL, [
    {
      title: 'What the service sees, and what replicas do',
      columns: [
        { name: 'asked', unit: 'per-second' },
        { name: 'answered', unit: 'per-second' },
        { name: 'p99', unit: 'ms' },
        { name: 'longest', unit: 'ms' },
        { name: 'store', unit: 'cores' },
        { name: 'full resyncs', unit: 'count' },
        { name: 'partial', unit: 'count' },
        { name: 'partial refused', unit: 'count' },
        { name: 'replicas away', unit: 'seconds' },
        { name: 'attached at the end', unit: 'text' },
      ],
      rows: rows.map((row) => {
        const { setup } = row;
        const ofReplicas = (value: number): number | undefined => (setup.replicas === 0 ? undefined : value);
        return {
          name: nameOf(row),
          values: [
            row.askedPerSecond,
            row.answeredPerSecond,
            row.p99Ms,
            row.maxMs,
            row.storeCores,
            ofReplicas(row.fullSyncs),
            ofReplicas(row.partialSyncs),
            ofReplicas(row.refusedSyncs),
            ofReplicas(row.awaySeconds),
            setup.replicas === 0 ? undefined : `${row.attached} of ${setup.replicas}`,
          ],
          ...publishedOf(row),
          limit: row.limit,
          command: commandOf(setup, row),
        };
      }),
    },
    {
      title: 'What the master does for it',
      columns: [
        { name: 'evicted', unit: 'per-second' },
        { name: 'stream to replicas', unit: 'bytes-per-second' },
        { name: 'of it evictions', unit: 'share' },
        { name: 'the backlog holds', unit: 'seconds' },
        { name: 'forks', unit: 'count' },
        { name: 'longest fork', unit: 'ms' },
        { name: 'longest of its own', unit: 'ms' },
        { name: 'snapshots', unit: 'count' },
        { name: 'written to disk', unit: 'bytes' },
        { name: 'peak memory', unit: 'bytes' },
        { name: 'of maxmemory', unit: 'times' },
      ],
      rows: rows.map((row) => ({
        name: nameOf(row),
        values: [
          row.evicted / row.seconds,
          ...streamOf(row),
          row.forks,
          row.forkMs,
          row.longestMs,
          row.snapshots,
          row.diskBytes,
          row.peakBytes,
          row.peakBytes / MEMORY_BYTES,
        ],
      })),
    },
  ]);
}

function streamOf(row: PersistenceRow): readonly (number | undefined)[] {
  const { setup, streamBytes, seconds } = row;
  if (setup.replicas === 0 || streamBytes === 0) return [undefined, undefined, undefined];
  const perSecond = streamBytes / seconds;
  return [perSecond, evictionBytes(row) / streamBytes, BACKLOG_BYTES / perSecond];
}

export function persistenceCharts(rows: readonly PersistenceRow[]): readonly Chart[] {
  const places = SETUPS.map(({ name }) => name);
  const series = (value: (row: PersistenceRow) => number): Chart['series'] =>
    [...new Set(rows.map(({ times }) => times))].map((times) => ({
      name: `x${times}`,
      values: places.map((place) => {
        const row = rows.find((one) => one.setup.name === place && one.times === times);
        return row && value(row);
      }),
    }));
  const across = 'what keeps the data safe';
  return [
    {
      id: '',
      title: 'p99 of a request',
      across,
      places,
      unit: 'ms',
      shape: 'bars',
      isLog: true,
      series: series(({ p99Ms }) => p99Ms),
    },
    {
      id: 'memory',
      title: 'Peak memory of the master and its children, of maxmemory',
      across,
      places,
      unit: 'times',
      shape: 'bars',
      series: series(({ peakBytes }) => peakBytes / MEMORY_BYTES),
    },
  ];
}

function nameOf({ setup, times }: PersistenceRow): string {
  return `x${times}: ${setup.name}`;
}

function publishedOf({ setup, times }: PersistenceRow): Pick<Row, 'published'> {
  if (setup.name === SITE_NAME && times > 1) return { published: 'replicas fall out, the master stalls' };
  return setup.name === BARE_NAME && times === 3 ? { published: 'held, 7,000/s a shard' } : {};
}
