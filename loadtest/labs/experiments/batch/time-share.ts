import type { LabStore } from '../../kit/lab.ts';
import { type CommandStats, commandStats } from '../../kit/meters.ts';
import { type ProcessorTime, processorTime } from './processor-time.ts';

/** Where a store's processor time went, for one command. */
export interface TimeShare {
  /** Its sockets: the kernel's part. */
  readonly networkUs: number;
  /** Of all its processor time. */
  readonly wholeUs: number;
  /**
   * The command itself, as the store counts it; its reply is copied meanwhile. The store counts by a clock: where it was
   * kept waiting for its processor, this is more than it used, and cannot be told from the rest. Undefined then.
   */
  readonly executionUs: number | undefined;
  /** Reading requests, keeping clients, sending replies: its own code around the command. */
  readonly parsingUs: number | undefined;
}

export interface Meters extends ProcessorTime {
  readonly stats: CommandStats;
}

export async function readMeters(store: LabStore): Promise<Meters> {
  return { ...processorTime(store.pid()), stats: await commandStats(store, 'get') };
}

/** Several times together: few steps of 10 ms would tell little. */
export function addedMeters(meters: readonly { readonly before: Meters; readonly after: Meters }[]): Meters {
  const sum = (value: (meters: Meters) => number): number =>
    meters.reduce((total, { before, after }) => total + value(after) - value(before), 0);
  return {
    userMs: sum(({ userMs }) => userMs),
    systemMs: sum(({ systemMs }) => systemMs),
    stats: { calls: sum(({ stats }) => stats.calls), us: sum(({ stats }) => stats.us) },
  };
}

/** Undefined when nothing was called. @param used between two readings. */
export function timeShareOf({ userMs, systemMs, stats }: Meters): TimeShare | undefined {
  if (stats.calls === 0 || userMs + systemMs === 0) return undefined;
  const us = (ms: number): number => (ms * 1000) / stats.calls;
  const executionUs = stats.us / stats.calls;
  const parsingUs = us(userMs) - executionUs;
  const isKnown = parsingUs >= 0;
  return {
    networkUs: us(systemMs),
    wholeUs: us(userMs + systemMs),
    executionUs: isKnown ? executionUs : undefined,
    parsingUs: isKnown ? parsingUs : undefined,
  };
}
