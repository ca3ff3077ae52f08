import type { LabDriven } from '../../kit/driven.ts';
import type { Errors } from '../../kit/driver/plan.ts';

/** What experiments with many clients want to know of one load by the driver. */
export interface DrivenRow {
  readonly perSecond: number;
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of all kinds; what was under way when the time was over is none. */
  readonly errors: number;
  readonly errorShare: number;
  readonly connects: number;
  readonly seconds: number;
  readonly answered: number;
  readonly storeCores: number;
  readonly generatorCores: number;
  /** Processor time of the store for one command: it does not depend on how much the generator can do. */
  readonly storeUs: number;
  readonly generatorUs: number;
  readonly limit: LabDriven['limit'];
}

export function drivenRow(run: LabDriven): DrivenRow {
  const { perSecond, latencyMs, answered, seconds, connects, storeCores, generatorCores, limit } = run;
  const errors = errorsOf(run.errors);
  return {
    perSecond,
    meanMs: latencyMs.mean,
    p50Ms: latencyMs.p50,
    p99Ms: latencyMs.p99,
    errors,
    errorShare: errors / Math.max(1, errors + answered),
    connects,
    seconds,
    answered,
    storeCores,
    generatorCores,
    storeUs: usOf(storeCores, perSecond),
    generatorUs: usOf(generatorCores, perSecond),
    limit,
  };
}

/** Processor time for one command. */
export function usOf(cores: number, perSecond: number): number {
  return (cores / perSecond) * 1e6;
}

function errorsOf({ late, broken, refused, unsent, unconnected }: Errors): number {
  return late + broken + refused + unsent + unconnected;
}
