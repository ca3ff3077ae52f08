import type { FindingTable, Row } from '../../kit/finding.ts';
import { type DomainRow, gainOf } from './lesson.ts';

/** Far away the stores are idle: what they took is less than the steps in which it is counted. */
export function domainTable(title: string, own: readonly DomainRow[], isFar: boolean): FindingTable {
  return {
    title,
    columns: [
      { name: 'per operation', unit: 'us' },
      { name: 'against one store', unit: 'share' },
      { name: 'rate', unit: 'per-second' },
      { name: 'p99', unit: 'ms' },
      { name: 'cores of stores', unit: 'cores' },
      { name: 'cores of clients', unit: 'cores' },
      ...(isFar ? [] : [{ name: 'processor time of stores per operation', unit: 'us' } as const]),
    ],
    rows: own.map((row): Row => {
      const published = row.weight === 'light' && !isFar ? publishedText(row) : undefined;
      const gain = gainOf(own, row);
      return {
        name: `${row.weight}, ${placeName(row)}`,
        values: [
          row.usPerOp,
          // What others are compared with has nothing to say about itself.
          gain === undefined ? '' : -gain,
          row.perSecond,
          row.p99Ms,
          row.storeCores,
          row.generatorCores,
          ...(isFar ? [] : [row.storeUsPerOp]),
        ],
        ...(published !== undefined && { published }),
        limit: row.limit,
        command: row.command,
      };
    }),
  };
}

export function placeName({ shape, isAnywhere }: DomainRow): string {
  return isAnywhere ? `${shape}, stores and clients on any core` : shape;
}

/** Of the first run. Nobody published a cluster, however alike the mechanism is. */
export function publishedUs({ shape, isAnywhere }: DomainRow): number | undefined {
  if (isAnywhere) return undefined;
  return { 'one store for all three': 8.36, 'one store each': 5.54, 'a cluster of three shards': undefined }[shape];
}

/** Of both runs. */
function publishedText(row: DomainRow): string | undefined {
  if (publishedUs(row) === undefined) return undefined;
  return row.shape === 'one store each' ? '5.54 µs (−33 %), 6.68 µs (−28 %)' : '8.36 µs, 9.30 µs';
}
