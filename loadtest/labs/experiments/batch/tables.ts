import { durationText, perSecondText } from '../../../../src/report/format.ts';
import type { FindingTable } from '../../kit/finding.ts';
import { type ClientView, VIEW_CONNECTIONS } from './client-view.ts';
import { PAGE, PAGES } from './pages.ts';
import { publishedOf } from './published.ts';
import { type BatchRow, LOADS, loadName } from './sweep.ts';
import type { WayRow } from './ways.ts';

export function sweepTables(rows: readonly BatchRow[]): readonly FindingTable[] {
  return LOADS.map((clients) => ({
    title: `GET of pages in batches, ${loadName(clients)}`,
    columns: [
      { name: 'rate', unit: 'per-second' },
      { name: 'p99 to the first reply of a batch', unit: 'ms' },
      { name: 'a whole batch, mean', unit: 'ms' },
      { name: 'cores of store', unit: 'cores' },
      { name: 'cores of generator', unit: 'cores' },
      { name: 'most held for clients by the store', unit: 'bytes' },
    ],
    rows: rows
      .filter((row) => row.clients === clients)
      .map((row) => ({
        name: batchName(row.pipeline),
        values: [row.perSecond, row.latencyMs.p99, row.wholeMs, row.storeCores, row.generatorCores, row.clientBytes],
        ...publishedText(row.pipeline),
        limit: row.limit,
        command: row.command,
      })),
  }));
}

export function clientTable(rows: readonly ClientView[]): FindingTable {
  return {
    title: `The same as a client in Node sees it, ${loadName(VIEW_CONNECTIONS)}`,
    columns: [
      { name: 'rate', unit: 'per-second' },
      { name: 'p99 to the whole reply', unit: 'ms' },
      { name: 'p50', unit: 'ms' },
      { name: 'cores of store', unit: 'cores' },
      { name: 'cores of client', unit: 'cores' },
    ],
    rows: rows.map((row) => ({
      name: batchName(row.pipeline),
      values: [
        row.perSecond,
        ...(row.answered === 0 ? [undefined, undefined] : [row.latencyMs.p99, row.latencyMs.p50]),
        row.storeCores,
        row.generatorCores,
      ],
      ...publishedText(row.pipeline),
      limit: row.limit,
      command: `redis-benchmark -p 6379 -c ${VIEW_CONNECTIONS} -n ${Math.max(VIEW_CONNECTIONS * row.pipeline, row.answered)} -P ${row.pipeline} -r ${PAGES} GET ${PAGE}`,
    })),
  };
}

export function waysTable(rows: readonly WayRow[]): FindingTable {
  const rate = (keys: number): number | undefined =>
    rows.find((row) => row.way === 'pipelined GET' && row.keys === keys)?.keysPerSecond;
  return {
    title: 'Several keys at once',
    columns: [
      { name: 'keys', unit: 'per-second' },
      { name: 'against a pipeline of GET', unit: 'times' },
      { name: 'store per key', unit: 'us' },
      { name: 'p99 to the first bytes', unit: 'ms' },
      { name: 'cores of store', unit: 'cores' },
      { name: 'cores of generator', unit: 'cores' },
    ],
    rows: rows.map((row) => {
      const pipelined = rate(row.keys);
      return {
        name: `${row.keys} keys by ${row.way}`,
        values: [
          row.keysPerSecond,
          pipelined && row.keysPerSecond / pipelined,
          row.storeUsPerKey,
          row.latencyMs.p99,
          row.storeCores,
          row.generatorCores,
        ],
        limit: row.limit,
        command: row.command,
      };
    }),
  };
}

export function shareTable(rows: readonly BatchRow[], clients: number): FindingTable {
  return {
    title: `Where the time of one GET goes, ${loadName(clients)}`,
    columns: [
      { name: 'store: network', unit: 'us' },
      { name: 'store: parsing and replying', unit: 'us' },
      { name: 'store: execution', unit: 'us' },
      { name: 'network', unit: 'share' },
      { name: 'parsing and replying', unit: 'share' },
      { name: 'execution', unit: 'share' },
      { name: 'generator', unit: 'us' },
    ],
    rows: rows
      .filter((row) => row.clients === clients)
      .map(({ pipeline, share, generatorCores, perSecond, limit, command }) => {
        const parts = [share?.networkUs, share?.parsingUs, share?.executionUs];
        return {
          name: batchName(pipeline),
          values: [
            ...parts,
            ...parts.map((us) => us && us / (share?.wholeUs ?? us)),
            (generatorCores * 1e6) / perSecond,
          ],
          limit,
          command,
        };
      }),
  };
}

function batchName(pipeline: number): string {
  return pipeline === 1 ? 'single commands' : `${pipeline} at once`;
}

function publishedText(pipeline: number): { readonly published: string } | undefined {
  const published = publishedOf(pipeline);
  return published && { published: `${perSecondText(published.perSecond)}, p99 ${durationText(published.p99Ms)}` };
}
