import { countText } from '../../../../src/report/format.ts';
import type { FindingTable } from '../../kit/finding.ts';
import { memtierCommand, memtierFill, PUBLISHED_MIX } from '../../kit/mix.ts';
import type { ClosedRow } from './closed-loop-rows.ts';
import type { Manner } from './manner.ts';
import type { OtherRow } from './other-generator.ts';
import { PRICE_CLIENTS, type PriceRow } from './price.ts';

export function closedTable(rows: readonly ClosedRow[]): FindingTable {
  return {
    title: 'Each client asks again as soon as it was answered',
    columns: [
      { name: 'answered', unit: 'per-second' },
      { name: 'mean', unit: 'ms' },
      { name: 'p99', unit: 'ms' },
      { name: 'connects', unit: 'per-second' },
      { name: 'errors', unit: 'count' },
      { name: 'store cores', unit: 'cores' },
      { name: 'generator cores', unit: 'cores' },
      { name: 'store time per command', unit: 'us' },
    ],
    rows: rows.map((row) => {
      const published = row.manner.published[row.clients];
      return {
        name: `${countText(row.clients)} clients, ${row.manner.name}`,
        values: [
          ...[row.perSecond, row.meanMs, row.p99Ms, row.connectsPerSecond, row.errors],
          ...[row.storeCores, row.generatorCores, row.storeUs],
        ],
        ...(published !== undefined && { published }),
        limit: row.limit,
        command: commandOf(row.manner, row.clients),
      };
    }),
  };
}

export function priceTable(rows: readonly PriceRow[]): FindingTable {
  return {
    title: 'What a connect costs the store: new connections, and kept ones at the rate which those gave',
    columns: [
      { name: 'answered', unit: 'per-second' },
      { name: 'connects', unit: 'per-second' },
      { name: 'store time per command', unit: 'us' },
      { name: 'generator time per command', unit: 'us' },
      { name: 'store cores', unit: 'cores' },
      { name: 'generator cores', unit: 'cores' },
      { name: 'errors', unit: 'count' },
    ],
    rows: rows.map((row) => ({
      name: `${row.isTls ? 'TLS' : 'plain'}, ${row.manner.name}`,
      values: [
        ...[row.perSecond, row.connectsPerSecond, row.storeUs, row.generatorUs],
        ...[row.storeCores, row.generatorCores, row.errors],
      ],
      limit: row.limit,
      // Its own store: the one without TLS is filled already.
      command: `${row.isTls && row.manner.every !== undefined ? `${memtierFill(PUBLISHED_MIX, { isTls: true })} && ` : ''}${commandOf(
        row.manner,
        PRICE_CLIENTS,
        [
          ...(row.isTls ? ['--tls --cacert=ca.crt'] : []),
          ...(row.manner.every === undefined
            ? [`--rate-limiting=${Math.max(1, Math.round(row.perSecond / PRICE_CLIENTS))}`]
            : []),
        ],
      )}`,
    })),
  };
}

export function otherTable(rows: readonly OtherRow[]): FindingTable {
  return {
    title: 'The same by redis-benchmark (GET only)',
    columns: [
      { name: 'answered', unit: 'per-second' },
      { name: 'round of a client', unit: 'ms' },
      { name: 'p99 without connecting', unit: 'ms' },
      { name: 'store cores', unit: 'cores' },
      { name: 'generator cores', unit: 'cores' },
      { name: 'store time per command', unit: 'us' },
    ],
    rows: rows.map((row) => ({
      name: `${countText(row.clients)} clients, ${row.isKept ? 'kept' : 'new each time'}`,
      values: [row.perSecond, row.roundMs, row.p99Ms, row.storeCores, row.generatorCores, row.storeUs],
      limit: row.limit,
      command: row.command,
    })),
  };
}

function commandOf({ every }: Manner, clients: number, more: readonly string[] = []): string {
  const all = [...(every === undefined ? [] : [`--reconnect-interval=${every}`]), ...more].join(' ');
  return memtierCommand(PUBLISHED_MIX, { clients, ...(all !== '' && { more: all }) });
}
