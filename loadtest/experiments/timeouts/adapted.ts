import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { busyOf } from '../../lab/busy.ts';
import type { LabDriven } from '../../lab/driven.ts';
import type { Driven } from '../../lab/driver/plan.ts';
import type { Lab, LabStore } from '../../lab/lab.ts';
import { limitOf } from '../../lab/limit.ts';
import { runProgram } from '../../lab/run-program.ts';
import type { AdapterPlan } from './adapter-plan.ts';

const MAIN = join(import.meta.dirname, 'adapter-load.ts');
/** Hundreds of adapters shake hands on a store that is busy already. */
const AROUND_SECONDS = 20;

/** As `driven`, by serpcache's own adapter: a process of its own on the generator's cores. */
export async function adapted(
  lab: Lab,
  store: LabStore,
  plan: Omit<AdapterPlan, 'target' | 'watched' | 'seed'>,
): Promise<LabDriven> {
  const file = join(lab.folder, `adapter-${randomUUID()}.json`);
  const whole: AdapterPlan = {
    ...plan,
    target: { host: store.host, port: store.port },
    seed: 1,
    watched: [store.pid()],
  };
  writeFileSync(file, JSON.stringify(whole));
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
