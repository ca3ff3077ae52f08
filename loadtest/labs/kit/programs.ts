import { execFile, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { processorMs } from '../../stack/processors.ts';

export interface ProgramOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Processors it may use, as taskset takes them; absent: all. */
  readonly cores?: string;
  readonly limitMs: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input, written piece by piece as fast as the program reads. */
  readonly input?: Iterable<Buffer>;
  readonly signal?: AbortSignal;
}

export interface Ran {
  readonly output: string;
  readonly seconds: number;
  /** CPU time of the process without its children; up to 20 ms at the end may be missing. */
  readonly processorSeconds: number;
}

const LOOK_EVERY_MS = 20;
const MOST_OUTPUT = 16 * 2 ** 20;

/** Runs a program to its end. @throws with its last output when it is missing, fails, prints too much or takes too long. */
export async function runProgram(options: ProgramOptions): Promise<Ran> {
  const { command, args, cores, limitMs, input, signal } = options;
  const [program, ...rest] = cores === undefined ? [command, ...args] : ['taskset', '-c', cores, command, ...args];
  const startedMs = performance.now();
  const child = spawn(program ?? command, rest, {
    env: { ...process.env, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    signal: AbortSignal.any([AbortSignal.timeout(limitMs), ...(signal === undefined ? [] : [signal])]),
    killSignal: 'SIGKILL',
  });
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text;
    if (said.out.length > MOST_OUTPUT) child.kill('SIGKILL');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err = (said.err + text).slice(-4000);
  });
  // A program that ends early does not read the rest; its exit status says why.
  child.stdin.on('error', () => undefined);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) =>
      resolve(
        error.name === 'AbortError'
          ? signal?.aborted
            ? 'stopped'
            : `not done after ${limitMs} ms`
          : startFault(error),
      ),
    );
    child.once('close', (code, killed) => resolve(code === 0 ? '' : `ended with ${killed ?? code}`));
  });
  const writing = write(child.stdin, input ?? []);
  let usedMs = 0;
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  while (!isOver) {
    usedMs = usedSoFar(child.pid, usedMs);
    await Promise.race([ended, sleep(LOOK_EVERY_MS)]);
  }
  const problem = await ended;
  await writing;
  if (problem !== '') throw new Error(`${command}: ${problem}: ${said.err.trim() || said.out.trim().slice(-400)}`);
  return { output: said.out, seconds: (performance.now() - startedMs) / 1000, processorSeconds: usedMs / 1000 };
}

async function write(
  stdin: NodeJS.WritableStream & { readonly destroyed?: boolean },
  input: Iterable<Buffer>,
): Promise<void> {
  for (const piece of input) {
    if (stdin.destroyed) return;
    if (!stdin.write(piece)) {
      await new Promise<void>((resolve) => {
        const go = (): void => {
          stdin.removeListener('drain', go);
          stdin.removeListener('close', go);
          resolve();
        };
        stdin.on('drain', go);
        stdin.on('close', go);
      });
    }
  }
  stdin.end();
}

function startFault(error: NodeJS.ErrnoException): string {
  if (error.code !== 'ENOENT') return error.message;
  return `there is no ${error.path ?? 'such program'} in PATH; install it`;
}

function usedSoFar(pid: number | undefined, before: number): number {
  try {
    return pid === undefined ? before : Math.max(before, processorMs(pid));
  } catch {
    return before;
  }
}

const run = promisify(execFile);
const LIMIT_MS = 10_000;

/** Debian keeps ip and tc where only root's PATH leads. */
export function systemPath(): { readonly PATH: string } {
  return { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };
}

/** @returns its output. @throws with its error output, or as ENOENT. */
export async function systemProgram(command: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(command, args, { env: { ...process.env, ...systemPath() }, timeout: LIMIT_MS });
  return stdout;
}

/** One line: what a program that failed said itself. */
export function complaint(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  return (said || String(error instanceof Error ? error.message : error)).split('\n')[0] ?? '';
}

/** Why there is no verdict: one clear sentence, or a few lines when k6 has something to say. */
export class CannotRun extends Error {
  override readonly name = 'CannotRun';
}
