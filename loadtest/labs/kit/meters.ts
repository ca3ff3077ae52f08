import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { processFile, processorsOf, statFields, TICKS_PER_SECOND } from '../../stack/processors.ts';
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

/**
 * Runs `work`, and reads at an interval how much memory the store holds for its clients, by its own count.
 * @returns the largest value seen as `peak`; a reading that fails is left out.
 */
export async function peakClientBytes<T>(store: Pick<LabStore, 'info'>, intervalMs: number, work: () => Promise<T>) {
  const stop = new AbortController();
  let peak: number | undefined;
  const looking = (async (): Promise<void> => {
    while (!stop.signal.aborted) {
      // A full store may not answer in time: it is asked again later.
      const memory = await store.info('memory').catch(() => undefined);
      if (memory !== undefined && !stop.signal.aborted)
        peak = Math.max(peak ?? 0, Number(memory['mem_clients_normal']));
      await sleep(intervalMs, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();
  try {
    return { result: await work(), peak };
  } finally {
    stop.abort();
    await looking;
  }
}

/** A busy share from here on counts as full: start and end are measured too, and other processes use a little. */
const FULL = 0.85;

/** Mean busy cores of the busiest store, and of all generators; or the cores that they could use. */
export interface Busy {
  readonly storeCores: number;
  readonly generatorCores: number;
}

const ONE_EACH: Busy = { storeCores: 1, generatorCores: 1 };

/** The side that was at its capacity, by its busy cores and the cores it could use. */
export function limitOf(busy: Busy, room = ONE_EACH): Limit {
  const store = busy.storeCores >= FULL * room.storeCores;
  const generator = busy.generatorCores >= FULL * room.generatorCores;
  if (store) return generator ? 'both' : 'store';
  return generator ? 'generator' : 'neither';
}

interface LoadRun {
  readonly perSecond: number;
  readonly seconds: number;
  readonly processorSeconds: number;
}

export function loadFigures({ perSecond, seconds, processorSeconds }: LoadRun, storeCores: number, room = ONE_EACH) {
  const generatorCores = processorSeconds / seconds;
  return {
    storeCores,
    generatorCores,
    /** Processor time for one command. That of the store does not depend on the speed of the generator. */
    storeUs: usOf(storeCores, perSecond),
    generatorUs: usOf(generatorCores, perSecond),
    limit: limitOf({ storeCores, generatorCores }, room),
  };
}

export function usOf(cores: number, perSecond: number): number {
  return (cores / perSecond) * 1e6;
}

const TICK_MS = 1000 / TICKS_PER_SECOND;

/**
 * CPU time since boot, and the part used by this process and its children. Children count as ours only after they have
 * ended, so this is read before anything is started and after everything has ended. @param allowed a list for taskset: `0-1`.
 */
export function processorTimes(allowed: string) {
  const names = new Set(processorsOf(allowed).map((cpu) => `cpu${cpu}`));
  // Time of all processes, without interrupts, which also serve our own loopback traffic; and time of other machines.
  let [processes, stolen] = [0, 0];
  for (const line of readFileSync('/proc/stat', 'utf8').split('\n')) {
    const [name = '', user, nice, system, , , , , steal] = line.split(/ +/);
    if (!names.has(name)) continue;
    processes += Number(user) + Number(nice) + Number(system);
    stolen += Number(steal ?? 0);
  }
  // utime, stime, cutime and cstime.
  const own = [14, 15, 16, 17]
    .map(statFields(processFile('self', 'stat')))
    .reduce((sum, ticks) => sum + Number(ticks), 0);
  const [processesMs, stolenMs, ownMs] = [processes * TICK_MS, stolen * TICK_MS, own * TICK_MS];
  return { atMs: performance.now(), processesMs, stolenMs, ownMs };
}

type ProcessorTimes = ReturnType<typeof processorTimes>;

/** Mean number of cores that were busy with other work between the two readings. */
export function othersCores(before: ProcessorTimes, after: ProcessorTimes): number {
  const grown = (of: keyof ProcessorTimes): number => after[of] - before[of];
  return (Math.max(0, grown('processesMs') - grown('ownMs')) + grown('stolenMs')) / grown('atMs');
}
