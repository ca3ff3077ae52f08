import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, createBoundedMap, pause } from '../runtime.ts';
import { remainingMs, storedForMs } from './entry.ts';
import type { CacheEvent } from './events.ts';
import type { EntryRules } from './invalidation.ts';
import type { MemoryTier } from './memory.ts';
import type { SeedItem, Store } from './store.ts';

export type Backfill = ReturnType<typeof createBackfill>;

export interface BackfillOptions extends Omit<BackfillRunOptions, 'node' | 'store'> {
  readonly domain: string;
  readonly store: Pick<Store, 'epochs' | 'seedMany' | 'locate'>;
  readonly memory: MemoryTier;
  readonly intervalMs?: number;
  readonly deadlineMs?: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: (event: CacheEvent) => void;
}

/**
 * Twice the number of parts of the largest Redis Clusters in use, because parts that were replaced are remembered too.
 */
const REMEMBERED_PARTS = 2048;
/**
 * A node that answers but refuses every write (out of memory, read-only) is tried again after 1, 2, 4 … 32 s: by then it is
 * healthy, or misses have written most of the entries themselves.
 */
const MAX_ATTEMPTS = 7;
/** A part that has not been seen for this time has left the store. */
const FORGET_AFTER_MS = 600_000;

/** The backfill of one part that lost its data. */
interface Loss {
  readonly node: string;
  readonly attempts: number;
  readonly run: BackfillRun;
  /** Absent while the run goes on. */
  ended?: Pick<BackfillResult, 'end'> & { readonly atMs: number };
}

/**
 * Writes the entries of L1 back to a part of the store that has lost its data. A changed epoch of a part shows the
 * loss; a part that is seen for the first time counts as no loss.
 */
export function createBackfill(options: BackfillOptions) {
  const { domain, store, clock, random, observe, intervalMs = 1000, deadlineMs = 200 } = options;
  const epochs = createBoundedMap<string>(REMEMBERED_PARTS);
  const losses = new Map<string, Loss>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  /**
   * Always begins with the hottest entry: the entries that an earlier run wrote were lost too, or are in the store and
   * stay.
   */
  const start = (part: string, node: string, attempts: number): void => {
    losses.get(part)?.run.stop();
    const startedMs = clock.monotonicMs();
    const loss: Loss = { node, attempts, run: createBackfillRun({ ...options, node }) };
    losses.set(part, loss);
    void loss.run.finished.then(({ stored, kept, dropped, end }) => {
      if (closed) return;
      const atMs = clock.monotonicMs();
      observe({ kind: 'backfill', domain, node, stored, kept, dropped, durationMs: atMs - startedMs });
      loss.ended = { end, atMs };
    });
  };

  /** At the next poll after the end of a run. */
  const followUp = (part: string, { node, attempts, ended }: Loss): void => {
    if (ended === undefined) return;
    if (ended.end !== 'faulted' || attempts >= MAX_ATTEMPTS) losses.delete(part);
    else if (clock.monotonicMs() - ended.atMs >= intervalMs * 2 ** (attempts - 1)) start(part, node, attempts + 1);
  };

  const poll = async (): Promise<void> => {
    const parts = await store.epochs(deadlineMs);
    if (closed) return;
    for (const { part, node, epoch } of parts) {
      const before = epochs.get(part);
      epochs.set(part, epoch);
      const loss = losses.get(part);
      if (before !== undefined && before !== epoch) start(part, node, 1);
      else if (loss === undefined) continue;
      // A failover. The run has skipped the entries that moved, so a run is complete only when a poll after its end still
      // finds the part on the same node.
      else if (loss.node !== node) start(part, node, loss.attempts);
      else followUp(part, loss);
    }
    const nowMs = clock.monotonicMs();
    for (const [part, { ended }] of losses) {
      if (ended !== undefined && nowMs - ended.atMs > FORGET_AFTER_MS) losses.delete(part);
    }
    // Spread by ±20 %, so that a fleet does not poll in step. The next poll is scheduled at the end of this one.
    timer = setTimeout(poll, intervalMs * (0.8 + 0.4 * random())).unref();
  };
  void poll();

  return {
    running: (): boolean => [...losses.values()].some(({ ended }) => ended === undefined),
    close: (): void => {
      closed = true;
      clearTimeout(timer);
      for (const { run } of losses.values()) run.stop();
      losses.clear();
    },
  };
}

export type BackfillRun = ReturnType<typeof createBackfillRun>;

interface BackfillResult {
  readonly stored: number;
  readonly kept: number;
  readonly dropped: number;
  /** `faulted`: the node refused every write. `stopped`: `stop` was called. */
  readonly end: 'done' | 'faulted' | 'stopped';
}

interface BackfillRunOptions {
  readonly store: Pick<Store, 'seedMany' | 'locate'>;
  readonly memory: Pick<MemoryTier, 'peek' | 'keys'>;
  /** The number of live processes, which all run this backfill, and the rank of this process. */
  readonly fleet: { readonly live: () => number; readonly rank: () => number };
  readonly rules: Pick<EntryRules<never>, 'judge' | 'generation'>;
  readonly nameOf: (key: string) => { readonly storeName: string; readonly bucket: number };
  /** Popular keys, hottest first; L1 holds some of them. Bounded. */
  readonly hottest: () => readonly string[];
  /** Entries written per second to one node; more than 0. */
  readonly perSecond: number;
  readonly node: string;
  readonly clock: Clock;
}

/** An entry with less fresh lifetime left is skipped: it would hardly be read before its next refresh. */
const MIN_REMAINING_MS = 1000;
/** Maximum number of entries in one pipeline: the reads of clients would wait behind a larger one. */
const MAX_BATCH = 128;
/**
 * A batch holds the entries of this interval at the given rate: a low rate makes small batches, not a burst every
 * minute.
 */
const BATCH_MS = 50;
/** Keys checked in one turn of the event loop: about half a millisecond. */
const SLICE_KEYS = 256;
/** One batch may fail by chance; a node that refused several whole batches will refuse the rest. */
const MAX_FAILED_BATCHES = 3;

/** One pass over L1 for one node that lost its data. */
export function createBackfillRun(options: BackfillRunOptions) {
  const { store, memory, rules, nameOf, node, clock } = options;
  const batchSize = Math.min(MAX_BATCH, Math.max(1, Math.floor((options.perSecond * BATCH_MS) / 1000)));
  const totals = { stored: 0, kept: 0, dropped: 0 };
  const stopping = new AbortController();

  const seedOf = (key: string, inShare: (bucket: number) => boolean): SeedItem | undefined => {
    const entry = memory.peek(key);
    if (entry === undefined || entry.degraded) return undefined;
    // No genuine entry has a generation above the current one: a store that was wiped to remove such entries must stay
    // clean.
    if (entry.generation > rules.generation()) return undefined;
    const name = nameOf(key);
    if (!inShare(name.bucket) || rules.judge(entry, name) !== 'whole') return undefined;
    const { storeName } = name;
    const nowMs = clock.monotonicMs();
    if (remainingMs(entry, nowMs) < MIN_REMAINING_MS || store.locate(storeName).node !== node) return undefined;
    return { name: storeName, value: entry.encoded, ttlMs: storedForMs(entry, nowMs) };
  };

  let failedBatches = 0;
  const write = async (batch: readonly SeedItem[]): Promise<void> => {
    const beganMs = clock.monotonicMs();
    const results = await store.seedMany(batch);
    for (const { kind } of results) totals[kind] += 1;
    failedBatches = results.every(({ kind }) => kind === 'dropped') ? failedBatches + 1 : 0;
    // Paced from the start of each batch: no burst follows a slow batch.
    const restMs = (batch.length * 1000) / options.perSecond - (clock.monotonicMs() - beganMs);
    await pause(restMs, stopping.signal);
  };

  const over = (): boolean => stopping.signal.aborted || failedBatches >= MAX_FAILED_BATCHES;

  const walk = async (keys: Iterable<string>, inShare: (bucket: number) => boolean): Promise<void> => {
    let batch: SeedItem[] = [];
    let checked = 0;
    for (const key of keys) {
      checked += 1;
      if (checked % SLICE_KEYS === 0) await nextTurn();
      if (over()) return;
      const item = seedOf(key, inShare);
      if (item === undefined) continue;
      batch.push(item);
      if (batch.length < batchSize) continue;
      await write(batch);
      batch = [];
    }
    if (batch.length > 0 && !over()) await write(batch);
  };

  const run = async (): Promise<BackfillResult> => {
    // The shares are fixed at the start, so that no key moves to another process during a run.
    const [live, rank] = [options.fleet.live(), options.fleet.rank()];
    const mine = (bucket: number): boolean => bucket % live === rank;
    const hottest = options.hottest();
    const popular = new Set(hottest);
    await walk(hottest, mine);
    await walk(unpopular(memory.keys(), popular), mine);
    if (live > 1) {
      // Then the shares of the other processes: some of their entries may be only in this L1, and a process may have
      // ended. Entries in the store are not overwritten. With three processes, each with 100,000 requests of a Zipf 1.0
      // stream, the shares alone restore the pages of 79 % of requests, and all held entries restore 87 % (a calculated
      // model).
      const theirs = (bucket: number): boolean => !mine(bucket);
      await walk(hottest, theirs);
      await walk(unpopular(memory.keys(), popular), theirs);
    }
    const end = stopping.signal.aborted ? 'stopped' : over() ? 'faulted' : 'done';
    return { ...totals, end };
  };

  return {
    /** Never rejects. */
    finished: run(),
    stop: (): void => stopping.abort(),
  };
}

function* unpopular(keys: Iterable<string>, popular: ReadonlySet<string>): Generator<string> {
  for (const key of keys) if (!popular.has(key)) yield key;
}
