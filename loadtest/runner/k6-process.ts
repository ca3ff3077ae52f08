import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { surroundings } from './k6-environment.ts';
import type { K6Script } from './k6-plan.ts';

/** What k6 leaves in the folder of a run. */
export const K6_FILES = { summary: 'k6-summary.json', seconds: 'k6-seconds.ndjson', log: 'k6.log' } as const;

export interface K6Run extends K6Script {
  readonly folder: string;
  /** Processors it is kept on, as taskset takes them. */
  readonly cpus?: string;
  /** Longer than this and it is ended. */
  readonly limitMs: number;
  /** Between being asked to end and being made to. */
  readonly graceMs?: number;
  /** Asks it to end: it still writes its summary. */
  readonly signal: AbortSignal;
  readonly started?: (pid: number) => void;
}

export interface K6End {
  /** Undefined when a signal ended it. */
  readonly code: number | undefined;
  readonly cut?: 'by hand' | 'too long';
}

/** Of Go's memory: k6 spends a tenth of its time looking for garbage otherwise, and has memory to spare. */
const GOGC = process.env['GOGC'] ?? '400';
/** What it does when it is interrupted (teardown of the script included) has to fit. */
const GRACE_MS = 30_000;

/** @throws when it cannot be started. */
export async function runK6(wanted: K6Run): Promise<K6End> {
  const { program, folder, env, cpus, limitMs, graceMs = GRACE_MS, signal } = wanted;
  const [command = '', ...args] = [
    ...(cpus === undefined ? [] : ['taskset', '--cpu-list', cpus]),
    program.path,
    ...argumentsOf(wanted.file),
  ];
  // What it says before it has read its arguments, and its last words when it crashes.
  const log = openSync(join(folder, K6_FILES.log), 'a');
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...surroundings(process.env), ...env, GOGC, SUMMARY: join(folder, K6_FILES.summary) },
    stdio: ['ignore', 'inherit', log],
    // In a group of its own: Ctrl-C reaches it once, through us. The second ends k6 before it has summed anything up.
    detached: true,
  });
  closeSync(log);
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  process.once('exit', kill);

  let cut: K6End['cut'];
  let late: NodeJS.Timeout | undefined;
  const end = (why: 'by hand' | 'too long'): void => {
    if (cut !== undefined) return;
    cut = why;
    child.kill('SIGINT');
    late = setTimeout(kill, graceMs);
  };
  const byHand = (): void => end('by hand');
  const limit = setTimeout(() => end('too long'), limitMs);
  signal.addEventListener('abort', byHand, { once: true });
  try {
    return await new Promise<K6End>((resolve, reject) => {
      child.once('error', reject);
      child.once('spawn', () => {
        if (child.pid !== undefined) wanted.started?.(child.pid);
        if (signal.aborted) byHand();
      });
      child.once('exit', (code) => resolve({ code: code ?? undefined, ...(cut === undefined ? {} : { cut }) }));
    });
  } finally {
    clearTimeout(limit);
    clearTimeout(late);
    signal.removeEventListener('abort', byHand);
    process.removeListener('exit', kill);
  }
}

/**
 * Nothing listens but k6's dashboard, which writes what it shows into a file: on loopback, any free port (told to have
 * none it listens on all addresses: grafana/xk6-dashboard v0.8.1). Its costs are about a sixth of the generator's time.
 */
function argumentsOf(file: string): readonly string[] {
  const dashboard = `host=127.0.0.1&port=0&period=1s&record=${K6_FILES.seconds}`;
  return [
    'run',
    '--quiet',
    '--no-usage-report',
    '--address=',
    '--log-format=raw',
    `--log-output=file=${K6_FILES.log}`,
    `--out=web-dashboard=${dashboard}`,
    file,
  ];
}
