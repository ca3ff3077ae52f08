import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { CannotRun } from '../labs/kit/programs.ts';
import { surroundings } from './k6-environment.ts';
import type { K6Program } from './k6-program.ts';

const run = promisify(execFile);

/** The script and its queries are read twice. */
const LIMIT_MS = 120_000;
/** k6's own, for a script that does not say. */
const DEFAULT_SETUP_MS = 60_000;
const LAST_LINES = 12;

export interface K6Script {
  readonly program: K6Program;
  /** Of the script. */
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * How long k6 takes at most, by its own account: scenarios, their grace, set-up and tear-down. Runs the script's first
 * lines, so that a script that cannot run says so before anything is sent.
 * @throws CannotRun with k6's own last lines.
 */
export async function plannedMs({ program, file, env }: K6Script): Promise<number> {
  const args = ['inspect', '--execution-requirements', '--include-system-env-vars', '--log-format=raw', file];
  try {
    const options = { env: { ...surroundings(process.env), ...env }, timeout: LIMIT_MS, maxBuffer: 16 * 2 ** 20 };
    const { stdout } = await run(program.path, args, options);
    const { totalDuration, setupTimeout, teardownTimeout } = JSON.parse(stdout) as Record<string, unknown>;
    const total = durationMs(totalDuration);
    if (total === undefined) throw new CannotRun(`k6 does not say how long ${file} takes`);
    return total + (durationMs(setupTimeout) ?? DEFAULT_SETUP_MS) + (durationMs(teardownTimeout) ?? DEFAULT_SETUP_MS);
  } catch (error) {
    if (error instanceof CannotRun) throw error;
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new CannotRun(said === '' ? `k6 cannot read ${file}: ${error}` : lastLines(said));
  }
}

/** `1h2m3.5s` as k6 writes it; undefined of anything else. */
export function durationMs(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  const [whole, hours = '0', minutes = '0', seconds = '0', rest = '0'] =
    /^(?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+)s)?(?:(\d+)ms)?$/.exec(text) ?? [];
  if (whole === undefined || whole === '') return undefined;
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(rest);
}

export function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-LAST_LINES).join('\n');
}
