import type { Chart, FindingTable } from '../../kit/finding.ts';
import { growthsOf, type ShardRow } from './lesson.ts';

export function loadTable(rows: readonly ShardRow[]): FindingTable {
  return {
    title: 'The same memory in 1, 3 and 6 shards',
    columns: [
      { name: 'commands', unit: 'per-second' },
      { name: 'p99', unit: 'ms' },
      { name: 'hits', unit: 'share' },
      { name: 'evictions', unit: 'per-second' },
      { name: 'cores of the busiest shard', unit: 'cores' },
      { name: 'cores of all shards', unit: 'cores' },
      { name: 'cores of the driver', unit: 'cores' },
    ],
    rows: rows.map((row) => ({
      name: `${loadName(row)}, ${shardsName(row.shards)}`,
      values: [
        row.perSecond,
        row.p99Ms,
        row.hitRatio,
        row.evictionsPerSecond,
        row.busiestCores,
        row.storeCores,
        row.generatorCores,
      ],
      limit: row.limit,
      command: row.command,
    })),
  };
}

/** What a shard takes for itself before anything is in it, of memory that is the same in all. */
export function memoryTable(
  sides: readonly { readonly shards: number; readonly emptyBytes: number }[],
  totalBytes: number,
): FindingTable {
  return {
    title: 'What the shards take for themselves',
    columns: [
      { name: 'memory of each', unit: 'bytes' },
      { name: 'used when empty, each', unit: 'bytes' },
      { name: 'of all memory', unit: 'share' },
    ],
    rows: sides.map(({ shards, emptyBytes }) => ({
      name: shardsName(shards),
      values: [totalBytes / shards, emptyBytes, (emptyBytes * shards) / totalBytes],
    })),
  };
}

export function hitChart(rows: readonly ShardRow[]): Chart {
  return {
    ...overGrowth(rows, ({ evictionsPerSecond }) => evictionsPerSecond),
    id: 'evictions',
    title: 'Evictions of all shards together, as the load grows',
    unit: 'per-second',
  };
}

export function processorChart(rows: readonly ShardRow[]): Chart {
  return {
    ...overGrowth(rows, ({ busiestCores }) => busiestCores),
    id: '',
    title: 'Cores of the busiest shard, as the load grows',
    unit: 'cores',
  };
}

function overGrowth(
  rows: readonly ShardRow[],
  figure: (row: ShardRow) => number,
): Omit<Chart, 'id' | 'title' | 'unit'> {
  const growths = growthsOf(rows);
  const counts = [...new Set(rows.map(({ shards }) => shards))];
  return {
    across: 'load, of the first rate',
    places: growths.map((growth) => `x${growth}`),
    shape: 'lines',
    series: counts.map((count) => ({
      name: shardsName(count),
      values: growths.map((growth) => {
        const row = rows.find((one) => one.shards === count && one.growth === growth);
        return row && figure(row);
      }),
    })),
  };
}

function loadName({ growth }: ShardRow): string {
  return growth === undefined ? 'as fast as possible' : `x${growth}`;
}

function shardsName(count: number): string {
  return count === 1 ? '1 shard' : `${count} shards`;
}
