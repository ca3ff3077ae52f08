import { bytesText, durationText, perSecondText } from '../../../../src/report/format.ts';
import type { FindingTable, Row } from '../../kit/finding.ts';
import { SMALL_FIELDS } from './hash.ts';
import { CROWD, FIELDS_PER_SECOND, type HashReads } from './hash-reads.ts';
import type { HashWrite } from './hash-writes.ts';
import { LINK_BYTES_PER_SECOND } from './link.ts';
import { PUBLISHED, rowName, SIZES, type Way } from './sizes.ts';
import type { Transfer } from './transfer.ts';
import type { UnsizedGet } from './unsized-get.ts';

export function nearTable(rows: readonly Transfer[]): FindingTable {
  return {
    title: 'On loopback',
    columns: [
      { name: 'rate', unit: 'per-second' },
      { name: 'values', unit: 'bytes-per-second' },
      { name: 'p99', unit: 'ms' },
      { name: 'cores of store', unit: 'cores' },
      { name: 'cores of generator', unit: 'cores' },
    ],
    rows: rows.map((row) => ({
      name: rowName(row.way, row.bytes, row.pipeline),
      values: [row.perSecond, row.bytesPerSecond, row.p99Ms, row.storeCores, row.generatorCores],
      ...published(row),
      limit: row.limit,
      command: row.command,
    })),
  };
}

/** @param link a text when there was none: the rows stand there, without figures. */
export function linkTable(link: readonly Transfer[] | string): FindingTable {
  const unmeasured = (['SET', 'GET'] satisfies Way[]).flatMap((way) =>
    SIZES.map((bytes): Row => ({ name: rowName(way, bytes, 1), values: LINK_COLUMNS.map(() => undefined) })),
  );
  return {
    title: 'Over a link of 1 Gbit/s',
    columns: LINK_COLUMNS,
    rows:
      typeof link === 'string'
        ? unmeasured
        : link.map((row) => ({
            name: rowName(row.way, row.bytes, row.pipeline),
            values: [
              row.perSecond,
              row.bytesPerSecond,
              row.bytesPerSecond / LINK_BYTES_PER_SECOND,
              row.p99Ms,
              row.storeCores,
              row.generatorCores,
            ],
            ...(isLargestWrite(row) && { published: LARGEST_WRITE }),
            limit: row.limit,
            command: row.command.replaceAll('-p 6379', '-h store -p 6379'),
          })),
  };
}

export function unsizedTable(rows: readonly UnsizedGet[]): FindingTable {
  return {
    title: 'What -d does to GET, with nothing stored',
    columns: [
      { name: 'rate', unit: 'per-second' },
      { name: 'if each reply were of that size', unit: 'bytes-per-second' },
      { name: 'a reply really is', unit: 'bytes' },
    ],
    rows: rows.map((row) => ({
      name: `redis-benchmark -t get -d ${row.bytes}`,
      values: [row.perSecond, row.perSecond * row.bytes, Math.round(row.replyBytes)],
      published: `${perSecondText(row.publishedPerSecond)}, which would be ${bytesText(row.publishedPerSecond * row.bytes)}/s`,
      command: row.command,
    })),
  };
}

export function hashReadTable({ rows, quietP99Ms }: HashReads): FindingTable {
  return {
    title: 'Reading a hash of 20,000 fields',
    columns: [
      { name: 'one reply, one client', unit: 'ms' },
      { name: 'the whole hash so', unit: 'ms' },
      { name: 'bytes of a reply', unit: 'bytes' },
      { name: 'the store does nothing else for', unit: 'us' },
      { name: `p99 of a reply, ${CROWD} clients`, unit: 'ms' },
      { name: 'cores of store then', unit: 'cores' },
      { name: `p99 of small reads beside ${FIELDS_PER_SECOND / 1000}k fields/s`, unit: 'ms' },
    ],
    rows: [
      {
        name: 'nobody reads the hash',
        values: [undefined, undefined, undefined, undefined, undefined, undefined, quietP99Ms],
      },
      ...rows.map((row) => ({
        name: row.name,
        values: [
          row.alone?.replyMs,
          row.alone?.wholeMs,
          row.alone?.replyBytes,
          row.alone?.executionUs,
          row.crowdP99Ms,
          row.crowdCores,
          row.besideP99Ms,
        ],
        ...(row.publishedMs !== undefined && { published: durationText(row.publishedMs) }),
        limit: row.limit,
        command: row.command,
      })),
    ],
  };
}

export function hashWriteTable(rows: readonly HashWrite[]): FindingTable {
  return {
    title: 'Writing one field of a hash',
    columns: [
      { name: 'rate', unit: 'per-second' },
      { name: 'p99', unit: 'ms' },
      { name: 'cores of store', unit: 'cores' },
      { name: 'store per command', unit: 'us' },
    ],
    rows: rows.map((row) => ({
      name: `HSET into a hash of ${row.fields === SMALL_FIELDS ? '30' : '20,000'} fields${row.pipeline === 1 ? '' : `, ${row.pipeline} at once`}`,
      values: [row.perSecond, row.latencyMs.p99, row.storeCores, row.storeUs],
      ...(row.fields !== SMALL_FIELDS && { published: 'not slower' }),
      limit: row.limit,
      command: row.command,
    })),
  };
}

const LARGEST_WRITE = 'low rate, full network, idle CPU';

const LINK_COLUMNS: FindingTable['columns'] = [
  { name: 'rate', unit: 'per-second' },
  { name: 'values', unit: 'bytes-per-second' },
  { name: 'share of the link', unit: 'share' },
  { name: 'p99', unit: 'ms' },
  { name: 'cores of store', unit: 'cores' },
  { name: 'cores of generator', unit: 'cores' },
];

function isLargestWrite({ way, bytes, pipeline }: Transfer): boolean {
  return way === 'SET' && pipeline === 1 && bytes === SIZES.at(-1);
}

function published(row: Transfer): { readonly published: string } | undefined {
  if (isLargestWrite(row)) return { published: LARGEST_WRITE };
  if (row.way === 'SET' && row.bytes === 4096 && row.pipeline === PUBLISHED.pipeline)
    return { published: perSecondText(PUBLISHED.pipelinedSetPerSecond) };
  return undefined;
}
