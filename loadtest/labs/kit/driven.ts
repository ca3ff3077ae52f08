import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Driven, DrivePlan } from './driver/plan.ts';
import type { Limit } from './finding.ts';
import type { Lab, LabStore } from './lab.ts';
import { busyOf, limitOf } from './meters.ts';
import { runProgram } from './programs.ts';

export interface LabDriven extends Driven {
  /** Busy cores of the busiest store. */
  readonly storeCores: number;
  readonly generatorCores: number;
  readonly limit: Limit;
}

const MAIN = join(import.meta.dirname, 'driver', 'main.ts');
/** Ten thousand connections take a while to open. */
const AROUND_SECONDS = 40;

/** One load by the driver, in a process on the generator's cores. The stores are its targets unless the plan says others. */
export function driven(
  lab: Lab,
  stores: readonly LabStore[],
  plan: Omit<DrivePlan, 'targets' | 'seed'> & Partial<Pick<DrivePlan, 'targets' | 'seed'>>,
): Promise<LabDriven> {
  const targets = stores.map(({ host, port }) => ({ host, port }));
  const whole = { targets, seed: 1, watched: stores.map((store) => store.pid()), ...plan };
  return drivenBy(lab, { main: MAIN, plan: whole, limitMs: (plan.seconds + AROUND_SECONDS) * 1000 });
}

/** The same by another program, which gets its plan as the path of a JSON file and prints a `Driven`. */
export async function drivenBy(
  lab: Lab,
  { main, plan, limitMs }: { readonly main: string; readonly plan: object; readonly limitMs: number },
): Promise<LabDriven> {
  const file = join(lab.folder, `plan-${randomUUID()}.json`);
  writeFileSync(file, JSON.stringify(plan));
  const { output } = await runProgram({
    command: process.execPath,
    args: [main, file],
    cores: lab.cores.generator,
    limitMs,
    signal: lab.signal,
  });
  const result: Driven = JSON.parse(output);
  const storeCores = Math.max(0, ...result.watchedCores);
  const busy = busyOf(storeCores, result);
  return { ...result, storeCores, generatorCores: busy.generatorCores, limit: limitOf(busy) };
}
