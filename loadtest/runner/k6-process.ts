import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { createSampler, type SamplerOptions } from '../sample/sampler.ts';
import { K6_FILES } from './k6-output.ts';
import { type K6Script, surroundings } from './k6-program.ts';

export interface K6Run extends K6Script {
  readonly folder: string;
  /** Processors it is kept on, as taskset takes them. */
  readonly cpus?: string;
  /** The address of a Prometheus that receives its figures. */
  readonly prometheus?: string;
  /** It is interrupted after this time. */
  readonly limitMs: number;
  /** From SIGINT to SIGKILL. */
  readonly graceMs?: number;
  /** Interrupts it: k6 still writes its summary. */
  readonly signal: AbortSignal;
  readonly started?: (pid: number) => void;
}

export interface K6End {
  /** Undefined when a signal ended it. */
  readonly code: number | undefined;
  readonly cut?: 'by hand' | 'too long';
}

/** For Go's collector: with Go's own value k6 spends a tenth of its time on garbage, and it has memory to spare. */
const GOGC = process.env['GOGC'] ?? '400';
/** An interrupted k6 also runs the script's teardown in this time. */
const GRACE_MS = 30_000;

/** @throws when it cannot be started. */
export async function runK6(wanted: K6Run): Promise<K6End> {
  const { program, folder, env, cpus, prometheus, limitMs, graceMs = GRACE_MS, signal } = wanted;
  const [command = '', ...args] = [
    ...(cpus === undefined ? [] : ['taskset', '--cpu-list', cpus]),
    program.path,
    ...argumentsOf(wanted.file, prometheus !== undefined),
  ];
  // Holds what k6 says before it has read its arguments, and when it crashes.
  const log = openSync(join(folder, K6_FILES.log), 'a');
  const child = spawn(command, args, {
    cwd: folder,
    env: {
      ...surroundings(process.env),
      ...env,
      K6_PROMETHEUS_RW_SERVER_URL: prometheus && new URL('/api/v1/write', prometheus).href,
      GOGC,
      SUMMARY: join(folder, K6_FILES.summary),
    },
    stdio: ['ignore', 'inherit', log],
    // In a group of its own: Ctrl-C reaches it once, through us. A second one ends k6 before it has written its summary.
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
      child.once('exit', (code) => resolve({ code: code ?? undefined, cut }));
    });
  } finally {
    clearTimeout(limit);
    clearTimeout(late);
    signal.removeEventListener('abort', byHand);
    process.removeListener('exit', kill);
  }
}

export type SampledK6 = Awaited<ReturnType<typeof runSampledK6>>;

/** Runs k6 and samples the parts meanwhile; k6 is one of the sampled processes. */
export async function runSampledK6(k6: K6Run, parts: SamplerOptions) {
  let pid: number | undefined;
  const sampler = createSampler({
    ...parts,
    processes: () => [...parts.processes(), ...(pid === undefined ? [] : [{ name: 'k6', pid }])],
  });
  sampler.start();
  const started = (id: number): void => {
    pid = id;
  };
  const end = await runK6({ ...k6, started }).finally(() => sampler.stop());
  return { end, samples: await sampler.stop() };
}

/**
 * Nothing listens but k6's dashboard, which writes what it shows into a file: on loopback, any free port (told to use none, it
 * listens on all addresses: grafana/xk6-dashboard v0.8.1). It costs about a sixth of the generator's time.
 */
function argumentsOf(file: string, writesToPrometheus: boolean): readonly string[] {
  const dashboard = `host=127.0.0.1&port=0&period=1s&record=${K6_FILES.seconds}`;
  return [
    'run',
    '--quiet',
    '--no-usage-report',
    '--address=',
    '--log-format=raw',
    `--log-output=file=${K6_FILES.log}`,
    `--out=web-dashboard=${dashboard}`,
    ...(writesToPrometheus ? ['--out=experimental-prometheus-rw'] : []),
    file,
  ];
}
