import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HttpDriven, HttpPlan } from '../../http-driver/plan.ts';
import { wrkReport } from '../../http-driver/wrk.ts';
import { type DriverPlace, runDriver } from '../kit/driven.ts';
import type { Lab } from '../kit/lab.ts';
import { runProgram } from '../kit/programs.ts';

const MAIN = join(import.meta.dirname, '../../http-driver/plan.ts');
/** The longest run is a fill of some thousand searches through a slow server. */
const LIMIT_MS = 90_000;

/** One load by the HTTP driver, in a process on the generator's cores. @throws when it takes longer than 90 s. */
export function httpDriven(lab: DriverPlace, plan: HttpPlan): Promise<HttpDriven> {
  return runDriver(lab, { main: MAIN, plan, limitMs: LIMIT_MS });
}

export type FullSpeed = Awaited<ReturnType<typeof fullSpeed>>;

const CONNECTIONS = 64;

/** One run of wrk: a closed loop, one request in flight on each connection. @throws when it reports nothing. */
export async function fullSpeed(
  lab: Lab,
  { url, paths, seconds }: { readonly url: string; readonly paths: readonly string[]; readonly seconds: number },
) {
  // wrk takes whole seconds only.
  const whole = Math.max(1, Math.round(seconds));
  const ran = await runProgram({
    command: 'wrk',
    args: ['-t1', `-c${CONNECTIONS}`, `-d${whole}s`, ...scriptOf(lab, paths), url + (paths[0] ?? '')],
    cores: lab.cores.generator,
    limitMs: (whole + 20) * 1000,
    signal: lab.signal,
  });
  return { ...wrkReport(ran.output), clientCores: ran.processorSeconds / ran.seconds };
}

/** A script costs wrk about half of its speed, so a single path goes without one. */
function scriptOf(lab: Lab, paths: readonly string[]): readonly string[] {
  if (paths.length < 2) return [];
  const file = join(lab.folder, `paths-${randomUUID()}.lua`);
  const list = paths.map((path) => JSON.stringify(path)).join(',\n');
  // Requests are formatted once, when wrk starts.
  writeFileSync(
    file,
    `local paths = {\n${list}\n}\nlocal requests, at = {}, 0\nfunction init()\n` +
      '  for n, path in ipairs(paths) do requests[n] = wrk.format("GET", path) end\nend\n' +
      'function request()\n  at = at % #requests + 1\n  return requests[at]\nend\n',
  );
  return ['-s', file];
}
