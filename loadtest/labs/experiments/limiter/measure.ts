import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Limit } from '../../kit/finding.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { busyOf, commandStats, limitOf } from '../../kit/meters.ts';
import type { LabNamespace } from '../../kit/namespace.ts';
import { runProgram } from '../../kit/programs.ts';
import { type LimiterState, limiterStateOf } from './limiter-state.ts';
import type { BurstPlan, BurstReads } from './read-in-bursts.ts';
import type { Symptoms } from './tell.ts';
import type { Variant } from './variants.ts';

export interface Measured extends Symptoms {
  readonly variant: Variant;
  /** Of all reads. */
  readonly refusedShare: number;
  readonly pagesPerSecond: number;
  readonly bytesPerSecond: number;
  readonly latencyMs: BurstReads['latencyMs'];
  readonly limit: Limit;
  readonly limiter?: LimiterState;
}

const READER = join(import.meta.dirname, 'reader.ts');
const AROUND_SECONDS = 20;
/** As deploy/redis has it: what is slow for longer is slow enough. */
const SLOWLOG_LENGTH = 512;

/** One load through one limiter, newly set up: its bucket is full and its figures are 0. */
export async function measure(
  lab: Lab,
  namespace: LabNamespace,
  store: LabStore,
  variant: Variant,
  plan: BurstPlan,
): Promise<Measured> {
  await namespace.shape('replies', variant.discipline, variant.classes);
  await store.command('SLOWLOG', 'RESET');
  const before = await storeFigures(store);
  const busyMs = store.processorMs();
  const { output } = await runProgram({
    command: process.execPath,
    args: [READER, JSON.stringify(plan)],
    cores: lab.cores.generator,
    limitMs: (plan.seconds + AROUND_SECONDS) * 1000,
    signal: lab.signal,
  });
  // Asking the store costs bytes as well: the limiter is looked at first.
  const limiter = limiterStateOf(await namespace.tcStatistics('replies'));
  const after = await storeFigures(store);
  const reads: BurstReads = JSON.parse(output);
  // Of the time in which it was asked: the program that asks takes a while to start and to end.
  const storeCores = (store.processorMs() - busyMs) / 1000 / reads.seconds;
  const share = (count: number): number => count / Math.max(1, reads.asked);
  const calls = after.calls - before.calls;
  return {
    variant,
    seconds: reads.seconds,
    deadlineMs: plan.deadlineMs,
    p99Ms: reads.latencyMs.p99,
    lateShare: share(reads.late + reads.refused),
    refusedShare: share(reads.refused),
    largestBytes: Math.round(plan.burst * (reads.pageBytes / Math.max(1, reads.pages))),
    store: {
      cores: storeCores,
      slowMs: slowMsOf(await store.command('SLOWLOG', 'GET', SLOWLOG_LENGTH)),
      readMs: (after.us - before.us) / Math.max(1, calls) / 1000,
    },
    retransmits: after.retransmits - before.retransmits,
    pagesPerSecond: reads.inTime / reads.seconds,
    bytesPerSecond: reads.pageBytes / reads.seconds,
    latencyMs: reads.latencyMs,
    limit: limitOf(busyOf(storeCores, reads)),
    ...(limiter !== undefined && { limiter }),
  };
}

async function storeFigures(store: LabStore) {
  return {
    ...(await commandStats(store, 'get')),
    retransmits: retransmitsOf(readFileSync(`/proc/${store.pid()}/net/snmp`, 'utf8')),
  };
}

/** @param entries of `SLOWLOG GET`: number, time, microseconds, command. */
export function slowMsOf(entries: unknown): number {
  if (!Array.isArray(entries)) return 0;
  return entries.reduce<number>((sum, entry) => sum + (Array.isArray(entry) ? Number(entry[2]) / 1000 : 0), 0);
}

/** Of the namespace that the process lives in. @param snmp /proc/<pid>/net/snmp: a line of names, a line of figures. */
export function retransmitsOf(snmp: string): number {
  const [names = [], figures = []] = snmp
    .split('\n')
    .filter((line) => line.startsWith('Tcp: '))
    .map((line) => line.split(' '));
  return Number(figures[names.indexOf('RetransSegs')] ?? 0);
}
