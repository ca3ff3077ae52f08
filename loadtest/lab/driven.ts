import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Limit } from '../finding/finding.ts';
import { busyOf } from './busy.ts';
import type { Driven, DrivePlan } from './driver/plan.ts';
import type { Lab, LabStore } from './lab.ts';
import { limitOf } from './limit.ts';
import { runProgram } from './run-program.ts';

export interface LabDriven extends Driven {
  /** Of the busiest store. */
  readonly storeCores: number;
  readonly generatorCores: number;
  readonly limit: Limit;
}

const MAIN = join(import.meta.dirname, 'driver', 'main.ts');
/** Ten thousand connections take a while to open. */
const AROUND_SECONDS = 40;

/** One load by the driver, in a process on the generator's cores. The stores are its targets unless the plan says others. */
export async function driven(
  lab: Lab,
  stores: readonly LabStore[],
  plan: Omit<DrivePlan, 'targets' | 'seed'> & Partial<Pick<DrivePlan, 'targets' | 'seed'>>,
): Promise<LabDriven> {
  const file = join(lab.folder, `plan-${randomUUID()}.json`);
  const targets = stores.map(({ host, port }) => ({ host, port }));
  writeFileSync(file, JSON.stringify({ targets, seed: 1, watched: stores.map((store) => store.pid()), ...plan }));
  const { output } = await runProgram({
    command: process.execPath,
    args: [MAIN, file],
    cores: lab.cores.generator,
    limitMs: (plan.seconds + AROUND_SECONDS) * 1000,
    signal: lab.signal,
  });
  const result: Driven = JSON.parse(output);
  const storeCores = Math.max(0, ...result.watchedCores);
  const busy = busyOf(storeCores, result);
  return { ...result, storeCores, generatorCores: busy.generatorCores, limit: limitOf(busy) };
}
