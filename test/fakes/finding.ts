import type { Chart, Finding, FindingRecord } from '../../loadtest/labs/kit/finding.ts';

/** The properties of a fake finding. */
export interface FakeFindingOptions {
  /** Replaces whole fields of the finding. */
  readonly finding?: Partial<Finding>;
  /** Replaces whole fields of the record. */
  readonly record?: Partial<Omit<FindingRecord, 'finding'>>;
}

const PIPELINES = [1, 10, 50, 100, 200, 500] as const;
const PUBLISHED = ['5k/s, 35 ms', '8k/s, 22 ms', '12k/s, 18 ms', '18.5k/s, 15 ms', '20k/s, 14 ms', '19.8k/s, 16 ms'];
const RATES = [61_204, 402_118, 771_390, 842_006, 861_774, 833_015] as const;

/** A plausible record of an experiment's result, the same every time. */
export function findingOf({ finding, record }: FakeFindingOptions = {}): FindingRecord {
  return {
    version: 2,
    machine: '2 shared cores, 23 GiB, Linux 6.1, Redis 7.0.15, Valkey 8.0.1',
    startedAt: '2026-11-21T14:03:12.480Z',
    tookSeconds: 107.3,
    commit: '0123abc',
    command: 'npm run experiments -- batch',
    ...record,
    finding: {
      name: 'batch',
      title: 'Commands in a batch',
      published:
        'A classifieds site measured batches of GET from one process: the best was 200, and 500 was worse again.',
      tables: [
        {
          title: 'GET, by commands in a pipeline',
          columns: [
            { name: 'rate', unit: 'per-second' },
            { name: 'p99', unit: 'ms' },
            { name: 'memory', unit: 'bytes' },
            { name: 'network', unit: 'share' },
          ],
          rows: PIPELINES.map((pipeline, at) => ({
            name: `pipeline of ${pipeline}`,
            values: [RATES[at], 0.4 + at * 1.7, 2 ** (20 + at), 0.61 - at * 0.09],
            published: PUBLISHED[at],
            limit: pipeline < 50 ? ('generator' as const) : ('store' as const),
          })),
        },
        {
          title: 'How many keys are asked for at once',
          columns: [
            { name: 'keys/s', unit: 'per-second' },
            { name: 'store', unit: 'text' },
          ],
          rows: [
            { name: 'MGET of 10', values: [1_201_882, 'Redis'] },
            { name: 'Lua of 10', values: [undefined, 'Valkey'] },
          ],
        },
      ],
      charts: [rateChart(), asksChart()],
      claims: [
        { text: 'rate of a batch of 200 ÷ of single commands', figure: 14, unit: 'times', atLeast: 1.5 },
        { text: 'gain of 500 over 200', figure: -0.03, unit: 'share', atLeast: 0, atMost: 0.5 },
        { text: 'rate below 50, limited by the generator', unit: 'per-second' },
      ],
      verdict: 'partly',
      sentence: 'Send 100 to 200 commands at once.',
      notes: ['Lua was not measured: this store has no scripts.', 'Loopback has no round trip worth saving.'],
      ...finding,
    },
  };
}

/** Lines over a numeric scale, with published values beside them and one missing value. */
export function rateChart(): Chart {
  return {
    id: '',
    title: 'Commands a second, by commands in a pipeline',
    across: 'commands in a pipeline',
    places: PIPELINES.map(String),
    unit: 'per-second',
    shape: 'lines',
    isLog: true,
    series: [
      { name: 'Redis', values: RATES },
      { name: 'Valkey', values: RATES.map((rate, at) => (at === 2 ? undefined : rate * 1.2)) },
      { name: 'another site', isPublished: true, values: [5000, 8000, 12_000, 18_500, 20_000, 19_800] },
    ],
  };
}

/** Bars for places without a numeric scale. */
export function asksChart(): Chart {
  return {
    id: 'asks',
    title: 'Keys a second, by how they are asked for',
    across: 'how ten keys are asked for',
    places: ['MGET', 'pipelined GET', 'Lua'],
    unit: 'per-second',
    shape: 'bars',
    series: [
      { name: 'Redis', values: [1_201_882, 402_118, undefined] },
      { name: 'Valkey', values: [1_344_010, 433_902, 301_220] },
    ],
  };
}
