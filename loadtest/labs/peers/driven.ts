import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HttpDriven, HttpPlan } from '../../http-driver/plan.ts';
import type { Lab } from '../kit/lab.ts';
import { runProgram } from '../kit/programs.ts';

export interface LabHttpDriven extends HttpDriven {
  /** Busy cores of the driver, its start included. */
  readonly clientCores: number;
}

const MAIN = join(import.meta.dirname, '../../http-driver/main.ts');
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

export interface FullSpeed {
  readonly requests: number;
  readonly perSecond: number;
  /** Answers that were not 2xx or 3xx, and broken connections. */
  readonly errors: number;
  readonly clientCores: number;
}

const CONNECTIONS = 64;

/** One run of wrk over one connection per request under way, as fast as it is answered. @throws when it reports nothing. */
export async function fullSpeed(
  lab: Lab,
  { url, paths, seconds }: { readonly url: string; readonly paths: readonly string[]; readonly seconds: number },
): Promise<FullSpeed> {
  // Whole seconds are all wrk knows.
  const whole = Math.max(1, Math.round(seconds));
  const ran = await runProgram({
    command: 'wrk',
    args: [...COMMON, `-d${whole}s`, ...(await scriptOf(lab, paths)), url + (paths[0] ?? '')],
    cores: lab.cores.generator,
    limitMs: (whole + 20) * 1000,
    signal: lab.signal,
  });
  return { ...reportOf(ran.output), clientCores: ran.processorSeconds / ran.seconds };
}

const COMMON = ['-t1', `-c${CONNECTIONS}`];

/** Several paths need a script, which costs wrk about half of its speed; a single one must not pay for that. */
async function scriptOf(lab: Lab, paths: readonly string[]): Promise<string[]> {
  if (paths.length < 2) return [];
  const file = join(lab.folder, `paths-${randomUUID()}.lua`);
  const list = paths.map((path) => JSON.stringify(path)).join(',\n');
  // Requests are written once, when it starts.
  writeFileSync(
    file,
    `local paths = {\n${list}\n}\nlocal requests, at = {}, 0\nfunction init()\n` +
      '  for n, path in ipairs(paths) do requests[n] = wrk.format("GET", path) end\nend\n' +
      'function request()\n  at = at % #requests + 1\n  return requests[at]\nend\n',
  );
  return ['-s', file];
}

/** @param text what wrk prints. */
export function reportOf(text: string): Omit<FullSpeed, 'clientCores'> {
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(text)?.[1];
  const requests = /(\d+) requests in/.exec(text)?.[1];
  if (rate === undefined || requests === undefined) throw new Error(`wrk reported no rate: ${text.trim()}`);
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1] ?? 0);
  const broken = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(text)?.slice(1) ?? [];
  return {
    requests: Number(requests),
    perSecond: Number(rate),
    errors: broken.reduce((sum, each) => sum + Number(each), refused),
  };
}
