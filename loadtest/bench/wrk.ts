import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Load {
  readonly baseUrl: string;
  /** Request targets, asked for in turn from a random start. */
  readonly targets: readonly string[];
  readonly seconds: number;
  readonly connections: number;
  /** The processor the client runs on; the server has another. */
  readonly cpu: number;
  /** For the script wrk reads. */
  readonly directory: string;
}

export interface LoadResult {
  readonly requests: number;
  /** Answers that were not 2xx or 3xx, and broken connections. A benchmark with any is void. */
  readonly errors: number;
}

/** One bounded run of wrk, pinned. @throws when wrk is missing or reports nothing. */
export async function load({ baseUrl, targets, seconds, connections, cpu, directory }: Load): Promise<LoadResult> {
  const script = join(directory, 'targets.lua');
  const list = targets.map((target) => JSON.stringify(target)).join(',\n');
  writeFileSync(
    script,
    `local targets = {\n${list}\n}\nlocal next = math.random(#targets)\n` +
      'function request()\n  next = next % #targets + 1\n  return wrk.format("GET", targets[next])\nend\n',
  );
  const args = ['-c', `${cpu}`, 'wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, baseUrl];
  const { stdout } = await promisify(execFile)('taskset', args, { timeout: (seconds + 20) * 1000 });
  const requests = /(\d+) requests in /.exec(stdout)?.[1];
  if (requests === undefined) throw new Error(`wrk reported no requests:\n${stdout}`);
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0);
  const broken = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(stdout);
  const errors = refused + (broken?.slice(1).reduce((sum, each) => sum + Number(each), 0) ?? 0);
  return { requests: Number(requests), errors };
}
