import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Driven, DrivePlan } from './driver/drive.ts';
import type { Lab, LabStore } from './lab.ts';
import { loadFigures } from './meters.ts';
import { runProgram } from './programs.ts';

export type LabDriven = Awaited<ReturnType<typeof drivenBy>>;

const MAIN = join(import.meta.dirname, 'driver', 'drive.ts');
/** Time to open ten thousand connections. */
const OVERHEAD_SECONDS = 40;

/** Runs one load by the driver in a process on the generator's cores. The default targets are the stores. */
export function driven(
  lab: Lab,
  stores: readonly LabStore[],
  plan: Omit<DrivePlan, 'targets' | 'seed'> & Partial<Pick<DrivePlan, 'targets' | 'seed'>>,
) {
  const targets = stores.map(({ host, port }) => ({ host, port }));
  const whole = { targets, seed: 1, ca: stores[0]?.ca, watched: stores.map((store) => store.pid()), ...plan };
  return drivenBy(lab, { main: MAIN, plan: whole, limitMs: (plan.seconds + OVERHEAD_SECONDS) * 1000 });
}

interface DriverOptions {
  /** The program: it gets the path of its plan, a JSON file, and prints its result as JSON. */
  readonly main: string;
  readonly plan: object;
  readonly limitMs: number;
}

/** The folder and processors of a driver program, a part of a lab. */
export type DriverPlace = Pick<Lab, 'folder' | 'signal'> & { readonly cores: Pick<Lab['cores'], 'generator'> };

/** Runs a driver program in a process on the generator's cores. */
export async function runDriver<Result>(lab: DriverPlace, { main, plan, limitMs }: DriverOptions): Promise<Result> {
  const file = join(lab.folder, `plan-${randomUUID()}.json`);
  writeFileSync(file, JSON.stringify(plan));
  const where = { cores: lab.cores.generator, limitMs, signal: lab.signal };
  const { output } = await runProgram({ ...where, command: process.execPath, args: [main, file] });
  return JSON.parse(output);
}

/** Runs another driver program that prints a `Driven`. The figures of the store are those of the busiest one. */
export async function drivenBy(lab: Lab, options: DriverOptions) {
  const result = await runDriver<Driven>(lab, options);
  return { ...result, ...loadFigures(result, Math.max(0, ...result.watchedCores)) };
}

/** Undefined: the time was too short for even one whole reply. */
export function p99Of({ answered, p99Ms }: Pick<Driven, 'answered' | 'p99Ms'>): number | undefined {
  return answered === 0 ? undefined : p99Ms;
}
