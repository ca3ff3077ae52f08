import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { LabStore } from '../../kit/lab.ts';
import { mixKey, PUBLISHED_MIX, respCommand } from '../../kit/mix.ts';

/** Counters of a master: what a row is the difference of. */
export interface MasterFigures {
  readonly forks: number;
  readonly snapshots: number;
  /** Attempts of replicas to follow: all of the memory, the rest from the backlog, and asked for but too old. */
  readonly fullSyncs: number;
  readonly partialSyncs: number;
  readonly refusedSyncs: number;
  readonly evicted: number;
  /** Written for replicas, what did not reach them included; 0 without any. */
  readonly streamBytes: number;
  readonly diskBytes: number;
}

export async function masterFigures(master: LabStore): Promise<MasterFigures> {
  const info = await master.info('default');
  const figure = (name: string): number => Number(info[name] ?? 0);
  return {
    forks: figure('total_forks'),
    snapshots: figure('rdb_saves'),
    fullSyncs: figure('sync_full'),
    partialSyncs: figure('sync_partial_ok'),
    refusedSyncs: figure('sync_partial_err'),
    evicted: figure('evicted_keys'),
    streamBytes: figure('master_repl_offset'),
    diskBytes: diskBytesOf(figure, snapshotBytes(master.directory)),
  };
}

/** What was written to disk by now. @param figure of `INFO`; 0 for what it does not name. @param snapshotBytes of one */
export function diskBytesOf(figure: (name: string) => number, snapshotBytes: number): number {
  // What a rewrite leaves is smaller than what it replaces: the bytes of both were written.
  const log = figure('aof_current_size') + figure('aof_rewrites') * figure('aof_base_size');
  return figure('rdb_saves') * snapshotBytes + log;
}

export function grown(before: MasterFigures, after: MasterFigures): MasterFigures {
  return {
    forks: after.forks - before.forks,
    snapshots: after.snapshots - before.snapshots,
    fullSyncs: after.fullSyncs - before.fullSyncs,
    partialSyncs: after.partialSyncs - before.partialSyncs,
    refusedSyncs: after.refusedSyncs - before.refusedSyncs,
    evicted: after.evicted - before.evicted,
    streamBytes: after.streamBytes - before.streamBytes,
    diskBytes: Math.max(0, after.diskBytes - before.diskBytes),
  };
}

/** With `lazyfree-lazy-eviction yes`; of a key in the middle. */
const EVICTION_BYTES = respCommand(['UNLINK', mixKey(PUBLISHED_MIX.keys / 2)]).length;

/** What evictions alone write for replicas. */
export function evictionBytes({ evicted }: Pick<MasterFigures, 'evicted'>): number {
  return evicted * EVICTION_BYTES;
}

export interface OwnLatency {
  readonly forkMs: number;
  readonly longestMs: number;
}

/** The longest that the master itself noticed since `LATENCY RESET`, in whole milliseconds. @param latest of `LATENCY LATEST` */
export function ownLatencyOf(latest: unknown): OwnLatency {
  const events = Array.isArray(latest) ? latest.filter((event) => Array.isArray(event)) : [];
  const longest = (wanted: (name: string) => boolean): number =>
    Math.max(0, ...events.filter(([name]) => wanted(String(name))).map((event) => Number(event[3]) || 0));
  return { forkMs: longest((name) => name === 'fork'), longestMs: longest(() => true) };
}

/** One snapshot is as large as the next: the memory is full. */
function snapshotBytes(directory: string): number {
  try {
    return statSync(join(directory, 'dump.rdb')).size;
  } catch {
    return 0;
  }
}
