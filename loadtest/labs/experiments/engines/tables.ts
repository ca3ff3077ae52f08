import type { Chart, Column, FindingTable, Row } from '../../kit/finding.ts';
import type { Engine, EngineSetting } from './engine.ts';
import { type CounterRow, type MixRow, type ReadRow, threeStoresGain } from './lesson.ts';
import type { Load } from './load.ts';

const LOAD_COLUMNS: readonly Column[] = [
  { name: 'cores of the store for 100,000 commands/s', unit: 'cores' },
  { name: 'commands', unit: 'per-second' },
  { name: 'p50', unit: 'ms' },
  { name: 'p99', unit: 'ms' },
  { name: 'cores of the store', unit: 'cores' },
  { name: 'cores of the generator', unit: 'cores' },
];

/** Whatever does not serve has its row here: without figures, as a note says why. */
export function mixTable(engines: readonly Engine[], rows: readonly MixRow[]): FindingTable {
  return {
    title: 'The published mix, by the driver',
    columns: LOAD_COLUMNS,
    rows: engines.flatMap(({ name, problem }) =>
      problem !== undefined
        ? [{ name, values: LOAD_COLUMNS.map(() => undefined) }]
        : [false, true].flatMap((isTls) =>
            loadRow(
              `${name}${isTls ? ', TLS' : ''}`,
              rows.find((row) => row.engine === name && row.isTls === isTls),
            ),
          ),
    ),
  };
}

export function readTable(
  engines: readonly Engine[],
  rows: readonly ReadRow[],
  settings: readonly EngineSetting[],
  storeCores: number,
): FindingTable {
  return {
    title: 'Reads of stored values, by redis-benchmark',
    columns: LOAD_COLUMNS,
    rows: engines.flatMap(({ name }) =>
      settings.flatMap(({ isTls, ioThreads }) => {
        const few = ioThreads > storeCores ? ` on ${storeCores} ${storeCores === 1 ? 'core' : 'cores'}` : '';
        return loadRow(
          `${name}${isTls ? ', TLS' : ''}, ${ioThreads === 1 ? 'no io-threads' : `io-threads ${ioThreads}${few}`}`,
          rows.find((row) => row.engine === name && row.isTls === isTls && row.ioThreads === ioThreads),
        );
      }),
    ),
  };
}

export function counterTable(engines: readonly Engine[], rows: readonly CounterRow[]): FindingTable {
  return {
    title: 'INCR by three clients: one store, and one each',
    columns: [
      { name: 'per operation', unit: 'us' },
      { name: 'against one store', unit: 'share' },
      { name: 'rate', unit: 'per-second' },
      { name: 'processor time of stores per operation', unit: 'us' },
      { name: 'cores of stores', unit: 'cores' },
      { name: 'cores of clients', unit: 'cores' },
    ],
    rows: engines.flatMap(({ name }) =>
      rows
        .filter(({ engine }) => engine === name)
        .map((row): Row => {
          const gain = row.stores === 1 ? undefined : threeStoresGain(rows, name);
          const published = publishedUs(name, row.stores);
          return {
            name: `${name}, ${row.stores === 1 ? 'one store' : 'three stores'}`,
            values: [
              row.usPerOp,
              // What the other row is compared with has nothing to say about itself.
              gain === undefined ? '' : -gain,
              row.perSecond,
              row.storeUsPerOp,
              row.storeCores,
              row.generatorCores,
            ],
            ...(published !== undefined && { published: `${published} µs` }),
            limit: row.limit,
            command: row.command,
          };
        }),
    ),
  };
}

export function costChart(engines: readonly Engine[], mix: readonly MixRow[], reads: readonly ReadRow[]): Chart {
  const cost = (rows: readonly MixRow[], isTls: boolean): readonly (number | undefined)[] =>
    engines.map(({ name }) => rows.find((row) => row.engine === name && row.isTls === isTls)?.coresPer100k);
  const single = reads.filter(({ ioThreads }) => ioThreads === 1);
  return {
    id: '',
    title: 'Cores of the store for 100,000 commands a second',
    across: 'engine',
    places: engines.map(({ name }) => name),
    unit: 'cores',
    shape: 'bars',
    series: [
      { name: 'mix', values: cost(mix, false) },
      { name: 'mix, TLS', values: cost(mix, true) },
      { name: 'reads', values: cost(single, false) },
      { name: 'reads, TLS', values: cost(single, true) },
    ],
  };
}

export function counterChart(engines: readonly Engine[], rows: readonly CounterRow[]): Chart {
  const counts = [1, 3] as const;
  const text = (stores: 1 | 3): string => (stores === 1 ? 'one store' : 'three stores');
  return {
    id: 'one-and-three',
    title: 'Time per INCR, three clients',
    across: 'engine',
    places: engines.map(({ name }) => name),
    unit: 'us',
    shape: 'bars',
    series: [
      ...counts.map((stores) => ({
        name: text(stores),
        values: engines.map(({ name }) => rows.find((row) => row.engine === name && row.stores === stores)?.usPerOp),
      })),
      ...counts.map((stores) => ({
        name: `${text(stores)}, published`,
        isPublished: true as const,
        values: engines.map(({ name }) => publishedUs(name, stores)),
      })),
    ],
  };
}

const PUBLISHED_US: Readonly<Record<string, Readonly<Record<1 | 3, number>>>> = {
  redis: { 1: 9.3, 3: 6.68 },
  keydb: { 1: 10.8, 3: 8.05 },
  dragonfly: { 1: 12.3, 3: 14.6 },
};

function publishedUs(engine: string, stores: 1 | 3): number | undefined {
  const [, figures] = Object.entries(PUBLISHED_US).find(([name]) => engine.toLowerCase().startsWith(name)) ?? [];
  return figures?.[stores];
}

/** None for what a server given by its path cannot be told; a note says so. */
function loadRow(name: string, row: Load | undefined): readonly Row[] {
  if (row === undefined) return [];
  const shown: Row = {
    name,
    values: [row.coresPer100k, row.perSecond, row.p50Ms, row.p99Ms, row.storeCores, row.generatorCores],
    limit: row.limit,
    command: row.command,
  };
  return [shown];
}
