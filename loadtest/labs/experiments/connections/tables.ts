import { countText } from '../../../../src/report/format.ts';
import type { Column, FindingTable } from '../../kit/finding.ts';
import { memtierCommand, PUBLISHED_MIX } from '../../kit/mix.ts';
import type { Counted } from '../many-clients/counted-benchmark.ts';
import type { DrivenRow } from '../many-clients/driven-row.ts';
import { type AtOneRateRow, ONE_RATE } from './at-one-rate.ts';
import { POOLS, type PoolRow } from './pool.ts';
import { THREAD_CLIENTS, THREAD_PIPELINE, type ThreadsRow } from './threads.ts';

const DRIVEN: readonly Column[] = [
  { name: 'answered', unit: 'per-second' },
  { name: 'p50', unit: 'ms' },
  { name: 'p99', unit: 'ms' },
  { name: 'errors', unit: 'count' },
  { name: 'store cores', unit: 'cores' },
  { name: 'generator cores', unit: 'cores' },
  { name: 'store time per command', unit: 'us' },
];

/** Of a store that is started without a word; and whoever asks beside the load. */
const [PLAIN_MAX_CLIENTS, OTHER_CLIENTS] = [10_000, 32];

function valuesOf(row: DrivenRow): number[] {
  return [row.perSecond, row.p50Ms, row.p99Ms, row.errors, row.storeCores, row.generatorCores, row.storeUs];
}

export function rateTable(rows: readonly AtOneRateRow[]): FindingTable {
  return {
    title: `Connections to one store, at ${countText(ONE_RATE)} commands a second in all`,
    columns: [...DRIVEN, { name: 'store memory per connection', unit: 'bytes' }],
    rows: rows.map((row) => ({
      name: `${countText(row.connections)} connections`,
      values: [...valuesOf(row), row.bytesEach],
      ...(row.connections === 2000 && { published: 'the shard fell; 60,000–70,000 were required' }),
      limit: row.limit,
      command: letIn(
        row.connections,
        memtierCommand(PUBLISHED_MIX, {
          clients: row.connections,
          more: `--rate-limiting=${Math.max(1, Math.round(ONE_RATE / row.connections))}`,
        }),
      ),
    })),
  };
}

/** The command, on a store that lets so many in meanwhile; fewer a plain one does by itself. */
function letIn(connections: number, command: string): string {
  if (connections < PLAIN_MAX_CLIENTS) return command;
  const set = (most: number): string => `redis-cli -p 6379 CONFIG SET maxclients ${most}`;
  return `${set(connections + OTHER_CLIENTS)} && ${command}; ${set(PLAIN_MAX_CLIENTS)}`;
}

export function fullSpeedTable(rows: readonly Counted[]): FindingTable {
  return {
    title: 'Connections to one store, at full speed',
    columns: DRIVEN.filter(({ name }) => name !== 'errors'),
    rows: rows.map((row) => ({
      name: `${countText(row.clients)} connections`,
      values: [row.perSecond, row.p50Ms, row.p99Ms, row.storeCores, row.generatorCores, row.storeUs],
      limit: row.limit,
      command: letIn(row.clients, row.command),
    })),
  };
}

export function poolTable(rows: readonly PoolRow[], how: string): FindingTable {
  return {
    title: `The pool of one process, ${how}`,
    columns: [...DRIVEN, { name: 'generator time per command', unit: 'us' }],
    rows: rows.map((row) => ({
      name: row.pipeline === undefined ? `pool of ${row.connections}` : `pool of ${row.connections} × ${row.pipeline}`,
      values: [...valuesOf(row), row.generatorUs],
      ...(row.connections === POOLS.at(-1) && { published: 'pool of 100, socket timeout 5 s, connect timeout 2 s' }),
      limit: row.limit,
      command: memtierCommand(PUBLISHED_MIX, {
        clients: row.connections,
        ...(row.pipeline === undefined
          ? { more: `--rate-limiting=${Math.round(ONE_RATE / row.connections)}` }
          : { pipeline: row.pipeline }),
      }),
    })),
  };
}

export function threadsTable(rows: readonly ThreadsRow[]): FindingTable {
  return {
    title: `Threads of one client with ${THREAD_CLIENTS} connections and ${THREAD_PIPELINE} commands at once on each`,
    columns: DRIVEN.filter(({ name }) => name !== 'errors' && name !== 'store time per command'),
    rows: rows.map((row) => ({
      name: row.threads === 1 ? '1 thread' : `${row.threads} threads`,
      values: [row.perSecond, row.latencyMs.p50, row.latencyMs.p99, row.storeCores, row.generatorCores],
      ...(row.threads === 8 && { published: '7–10 threads: 2 million/s' }),
      ...(row.threads === 50 && { published: 'fewer than 2 million/s, 1 s' }),
      limit: row.limit,
      command: row.command,
    })),
  };
}
