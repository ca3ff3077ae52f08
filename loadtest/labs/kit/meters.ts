import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { processorsOf, statFields, TICKS_PER_SECOND } from '../../stack/processors.ts';
import type { Limit } from './finding.ts';
import type { LabStore } from './lab.ts';

/** Runs `work` and measures the busy cores of the stores during it; `storeCores` is the busiest one. */
export async function storeCoresDuring<T>(stores: readonly Pick<LabStore, 'processorMs'>[], work: () => Promise<T>) {
  const before = stores.map((store) => store.processorMs());
  const startedMs = performance.now();
  const result = await work();
  const tookMs = performance.now() - startedMs;
  const eachCores = stores.map((store, at) => (store.processorMs() - (before[at] ?? 0)) / tookMs);
  return { result, eachCores, storeCores: Math.max(0, ...eachCores), seconds: tookMs / 1000 };
}

export function busyOf(storeCores: number, ran: { readonly processorSeconds: number; readonly seconds: number }): Busy {
  return { storeCores, generatorCores: ran.processorSeconds / ran.seconds };
}

/**
 * Calls of a command and their execution time without the socket, since the statistics were reset: `INFO commandstats`.
 * @param name in lower case: `hgetall`.
 */
export async function commandStats(store: Pick<LabStore, 'info'>, name: string) {
  const text = (await store.info('commandstats'))[`cmdstat_${name}`] ?? '';
  return { calls: figure(text, 'calls'), us: figure(text, 'usec') };
}

function figure(text: string, name: string): number {
  return Number(new RegExp(`(?:^|,)${name}=(\\d+)`).exec(text)?.[1] ?? 0);
}

export type CommandStats = Awaited<ReturnType<typeof commandStats>>;

/** Calls `look` at an interval while `work` runs. @returns the largest value seen; a look that fails is left out. */
export async function peakDuring<T>(
  work: () => Promise<T>,
  look: () => Promise<number>,
  intervalMs: number,
): Promise<{ readonly result: T; readonly peak: number | undefined }> {
  const stop = new AbortController();
  let peak: number | undefined;
  const looking = (async (): Promise<void> => {
    while (!stop.signal.aborted) {
      // A full store may not answer in time: it is asked again later.
      const seen = await look().catch(() => undefined);
      if (seen !== undefined && !stop.signal.aborted) peak = Math.max(peak ?? 0, seen);
      await sleep(intervalMs, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();
  try {
    const result = await work();
    return { result, peak };
  } finally {
    stop.abort();
    await looking;
  }
}

/** Runs `work`, and reads at an interval how much memory the store holds for its clients, by its own count. */
export function peakClientBytes<T>(store: Pick<LabStore, 'info'>, intervalMs: number, work: () => Promise<T>) {
  return peakDuring(work, async () => Number((await store.info('memory'))['mem_clients_normal']), intervalMs);
}

/** A busy share from here on counts as full: start and end are measured too, and other processes use a little. */
const FULL = 0.85;

export interface Busy {
  /** Mean busy cores of the busiest store. */
  readonly storeCores: number;
  /** Mean busy cores of all generators. */
  readonly generatorCores: number;
}

export interface Room {
  /** Cores that one store can use: 1 without io-threads. */
  readonly storeCores: number;
  readonly generatorCores: number;
}

/** The side that was at its capacity, by its busy cores and the cores it could use. */
export function limitOf(busy: Busy, room: Room = { storeCores: 1, generatorCores: 1 }): Limit {
  const store = busy.storeCores >= FULL * room.storeCores;
  const generator = busy.generatorCores >= FULL * room.generatorCores;
  if (store) return generator ? 'both' : 'store';
  return generator ? 'generator' : 'neither';
}

/** CPU time since boot, and the part used by this process and its reaped children. */
type ProcessorTimes = ReturnType<typeof timesOf>;

const TICK_MS = 1000 / TICKS_PER_SECOND;

/**
 * Children count as ours only after they have ended, so this is read before anything is started and after everything has
 * ended. Undefined where there is no /proc. @param allowed a list for taskset: `0-1`.
 */
export function processorTimes(allowed: string): ProcessorTimes | undefined {
  try {
    const [stat, own] = [readFileSync('/proc/stat', 'utf8'), readFileSync('/proc/self/stat', 'utf8')];
    return timesOf({ stat, own, allowed, atMs: performance.now() });
  } catch {
    return undefined;
  }
}

/** @param texts the contents of /proc/stat and, as `own`, of /proc/self/stat. */
export function timesOf(texts: {
  readonly stat: string;
  readonly own: string;
  readonly allowed: string;
  readonly atMs: number;
}) {
  const names = new Set(processorsOf(texts.allowed).map((cpu) => `cpu${cpu}`));
  // Time of all processes, without interrupts, which also serve our own loopback traffic; and time of other machines.
  let [processes, stolen] = [0, 0];
  for (const line of texts.stat.split('\n')) {
    const [name = '', user, nice, system, , , , , steal] = line.split(/ +/);
    if (!names.has(name)) continue;
    processes += Number(user) + Number(nice) + Number(system);
    stolen += Number(steal ?? 0);
  }
  // utime, stime, cutime and cstime.
  const own = [14, 15, 16, 17].map(statFields(texts.own)).reduce((sum, ticks) => sum + Number(ticks), 0);
  const [processesMs, stolenMs, ownMs] = [processes * TICK_MS, stolen * TICK_MS, own * TICK_MS];
  return { atMs: texts.atMs, processesMs, stolenMs, ownMs };
}

/** Mean number of cores that were busy with other work between the two readings. */
export function othersCores(before: ProcessorTimes | undefined, after: ProcessorTimes | undefined): number | undefined {
  if (before === undefined || after === undefined || after.atMs <= before.atMs) return undefined;
  const grown = (of: 'processesMs' | 'stolenMs' | 'ownMs'): number => after[of] - before[of];
  return (Math.max(0, grown('processesMs') - grown('ownMs')) + grown('stolenMs')) / (after.atMs - before.atMs);
}
