import { readFileSync } from 'node:fs';
import { processorsOf } from '../../stack/processors.ts';
import type { Limit } from './finding.ts';
import type { LabStore } from './lab.ts';

interface Meter {
  readonly processorMs: () => number;
}

/** Runs `work` and says how many cores the busiest of the stores used meanwhile. */
export async function storeCoresDuring<T>(
  stores: readonly Meter[],
  work: () => Promise<T>,
): Promise<{
  readonly result: T;
  readonly storeCores: number;
  readonly eachCores: readonly number[];
  readonly seconds: number;
}> {
  const before = stores.map((store) => store.processorMs());
  const startedMs = performance.now();
  const result = await work();
  const tookMs = performance.now() - startedMs;
  const eachCores = stores.map((store, at) => (store.processorMs() - (before[at] ?? 0)) / tookMs);
  return { result, eachCores, storeCores: Math.max(0, ...eachCores), seconds: tookMs / 1000 };
}

/** As `limitOf` wants it. */
export function busyOf(storeCores: number, ran: { readonly processorSeconds: number; readonly seconds: number }): Busy {
  return { storeCores, generatorCores: ran.processorSeconds / ran.seconds };
}

/** Time that a store reports for one kind of command since its statistics were reset: execution, without the socket. */
export interface CommandStats {
  readonly calls: number;
  readonly us: number;
}

/** Read from `INFO commandstats`; zeros before the first call. @param name in lower case: `hgetall`. */
export async function commandStats(store: Pick<LabStore, 'info'>, name: string): Promise<CommandStats> {
  const text = (await store.info('commandstats'))[`cmdstat_${name}`] ?? '';
  return { calls: figure(text, 'calls'), us: figure(text, 'usec') };
}

function figure(text: string, name: string): number {
  return Number(new RegExp(`(?:^|,)${name}=(\\d+)`).exec(text)?.[1] ?? 0);
}

/** Busy share that counts as full: start and end are included, and other programs always take a little. */
const FULL = 0.85;

export interface Busy {
  /** Busy cores of the store that was busiest, over the measured time. */
  readonly storeCores: number;
  /** Busy cores of everything that generated load. */
  readonly generatorCores: number;
}

export interface Room {
  /** Cores one store can use: 1 without io-threads, never more than there are. */
  readonly storeCores: number;
  readonly generatorCores: number;
}

/** The side that was full, by the processor time that each used of what it could have used. */
export function limitOf(busy: Busy, room: Room = { storeCores: 1, generatorCores: 1 }): Limit {
  const store = busy.storeCores >= FULL * room.storeCores;
  const generator = busy.generatorCores >= FULL * room.generatorCores;
  if (store) return generator ? 'both' : 'store';
  return generator ? 'generator' : 'neither';
}

/** CPU time since boot, and the share used by this process and its reaped children. */
export interface ProcessorTimes {
  readonly atMs: number;
  /** Used by any process. Interrupts are left out; loopback's own work is among them. */
  readonly processesMs: number;
  /** Taken by the host for other machines. */
  readonly stolenMs: number;
  readonly ownMs: number;
}

const TICK_MS = 10;

/**
 * Ours is what this process used and every child that has ended and was waited for: to be read before anything is started
 * and when all of it is gone. Undefined where there is no /proc. @param allowed as taskset lists processors: `0-1`.
 */
export function processorTimes(allowed: string): ProcessorTimes | undefined {
  try {
    const [stat, own] = [readFileSync('/proc/stat', 'utf8'), readFileSync('/proc/self/stat', 'utf8')];
    return timesOf({ stat, own, allowed, atMs: performance.now() });
  } catch {
    return undefined;
  }
}

/** @param texts as the kernel shows them: `stat` of all processors, `own` of this process. */
export function timesOf(texts: {
  readonly stat: string;
  readonly own: string;
  readonly allowed: string;
  readonly atMs: number;
}): ProcessorTimes {
  const names = new Set(processorsOf(texts.allowed).map((cpu) => `cpu${cpu}`));
  let [processes, stolen] = [0, 0];
  for (const line of texts.stat.split('\n')) {
    const [name = '', user, nice, system, , , , , steal] = line.split(/ +/);
    if (!names.has(name)) continue;
    processes += Number(user) + Number(nice) + Number(system);
    stolen += Number(steal ?? 0);
  }
  // Its name may hold spaces but ends in the last bracket. utime, stime, and those of its children.
  const fields = texts.own.slice(texts.own.lastIndexOf(') ') + 2).split(' ');
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
  return {
    atMs: texts.atMs,
    processesMs: processes * TICK_MS,
    stolenMs: stolen * TICK_MS,
    ownMs: own * TICK_MS,
  };
}

/** Cores that were busy with something that is not ours, in the mean between both readings. */
export function othersCores(before: ProcessorTimes | undefined, after: ProcessorTimes | undefined): number | undefined {
  if (before === undefined || after === undefined || after.atMs <= before.atMs) return undefined;
  const grown = (of: 'processesMs' | 'stolenMs' | 'ownMs'): number => after[of] - before[of];
  return (Math.max(0, grown('processesMs') - grown('ownMs')) + grown('stolenMs')) / (after.atMs - before.atMs);
}
