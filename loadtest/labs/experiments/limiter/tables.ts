import type { Chart, FindingTable } from '../../kit/finding.ts';
import { commandOf } from './command.ts';
import type { Measured } from './measure.ts';
import { tellLimiter } from './tell.ts';

export function limiterTables(rows: readonly Measured[], keys: number): readonly FindingTable[] {
  return [
    {
      title: 'What the service sees',
      columns: [
        { name: 'pages in time', unit: 'per-second' },
        { name: 'throughput', unit: 'bytes-per-second' },
        { name: 'of the rate', unit: 'share' },
        { name: 'p50', unit: 'ms' },
        { name: 'p99', unit: 'ms' },
        { name: 'longest', unit: 'ms' },
        { name: 'late', unit: 'share' },
        { name: 'not asked', unit: 'share' },
      ],
      rows: rows.map((row, at) => ({
        name: row.variant.name,
        values: [
          row.pagesPerSecond,
          row.bytesPerSecond,
          usedShare(row),
          row.latencyMs.p50,
          row.latencyMs.p99,
          row.latencyMs.max,
          row.lateShare - row.refusedShare,
          row.refusedShare,
        ],
        limit: row.limit,
        command: commandOf(row.variant, keys, at === 0 ? 'first' : at === rows.length - 1 ? 'last' : 'between'),
      })),
    },
    {
      title: 'How a doctor could tell',
      columns: [
        { name: 'dropped', unit: 'count' },
        { name: 'held back', unit: 'count' },
        { name: 'burst set', unit: 'bytes' },
        { name: 'sent again', unit: 'count' },
        { name: 'slowlog', unit: 'ms' },
        { name: 'in the store', unit: 'us' },
        { name: 'store', unit: 'cores' },
        { name: 'told', unit: 'text' },
      ],
      rows: rows.map((row) => ({
        name: row.variant.name,
        values: [
          row.limiter?.drops,
          row.limiter?.overlimits,
          row.limiter?.burstBytes,
          row.retransmits,
          row.store.slowMs,
          row.store.readMs * 1000,
          row.store.cores,
          tellLimiter(row).sentence,
        ],
      })),
    },
  ];
}

/** How often the figures alone told a wrong limiter from a right one, or from none. */
export function toldNote(rows: readonly Measured[]): string {
  // One that is said to be elsewhere is a limiter that somebody will look for.
  const blamed = (some: readonly Measured[]): string =>
    `${some.filter((row) => ['burst', 'queue', 'unseen'].includes(tellLimiter(row).cause)).length} of ${some.length}`;
  const [right, wrong] = [
    rows.filter(({ variant }) => variant.isRight),
    rows.filter(({ variant }) => !variant.isRight),
  ];
  return `From these figures alone a limiter that is too small was told in ${blamed(wrong)} rows where it is, and in ${blamed(right)} where there is none or a right one. Held back by itself says nothing: right limiters hold back as well, and of the burst of htb it counts nothing.`;
}

export function limiterCharts(rows: readonly Measured[]): readonly Chart[] {
  const places = rows.map(({ variant }) => variant.name);
  const across = 'limiter, all at one rate';
  return [
    {
      id: '',
      title: 'Time of a page, service to store and back',
      across,
      places,
      unit: 'ms',
      shape: 'bars',
      isLog: true,
      series: [
        { name: 'p50', values: rows.map(({ latencyMs }) => latencyMs.p50) },
        { name: 'p99', values: rows.map(({ latencyMs }) => latencyMs.p99) },
      ],
    },
    {
      id: 'late',
      title: 'Reads without a page within 50 ms',
      across,
      places,
      unit: 'share',
      shape: 'bars',
      series: [{ name: 'late or not asked', values: rows.map(({ lateShare }) => lateShare) }],
    },
  ];
}

function usedShare({ limiter, seconds }: Measured): number | undefined {
  return limiter && limiter.sentBytes / seconds / limiter.rateBytesPerSecond;
}
