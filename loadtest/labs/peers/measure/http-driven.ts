import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HttpDriven, HttpPlan } from '../../../http-driver/plan.ts';
import type { Lab } from '../../kit/lab.ts';
import { runProgram } from '../../kit/programs.ts';

export interface LabHttpDriven extends HttpDriven {
  /** Busy cores of the driver, its start included. */
  readonly clientCores: number;
}

const MAIN = join(import.meta.dirname, '../../../http-driver/main.ts');
/** A fill of some thousand searches through a slow server is the longest there is. */
const LIMIT_MS = 90_000;

/** One load by the HTTP driver, in a process on the generator's cores. @throws when it takes longer than 90 s. */
export async function httpDriven(lab: Lab, plan: HttpPlan): Promise<LabHttpDriven> {
  const file = join(lab.folder, `http-${randomUUID()}.json`);
  writeFileSync(file, JSON.stringify(plan));
  const { output, seconds, processorSeconds } = await runProgram({
    command: process.execPath,
    args: [MAIN, file],
    cores: lab.cores.generator,
    limitMs: LIMIT_MS,
    signal: lab.signal,
  });
  const result: HttpDriven = JSON.parse(output);
  return { ...result, clientCores: processorSeconds / seconds };
}
