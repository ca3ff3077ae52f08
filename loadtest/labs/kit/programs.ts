import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { cpuSecondsIn, processFile } from '../../stack/processors.ts';

interface ProgramOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Processors that it may use, as a list for taskset. Absent: all. */
  readonly cores?: string;
  readonly limitMs: number;
  /** Pieces for its standard input, written as fast as it reads. */
  readonly input?: Iterable<Buffer>;
  readonly signal?: AbortSignal;
  /** Gets each line of its output as soon as it was printed. True: the program is done, and is ended. */
  readonly onLine?: (line: string) => boolean;
}

const POLL_INTERVAL_MS = 20;
const MAX_OUTPUT = 16 * 2 ** 20;

/** Runs a program to its end. @throws with its last output when it is missing, fails, prints too much or takes too long. */
export async function runProgram(options: ProgramOptions) {
  const { command, args, cores, limitMs, input = [], signal, onLine } = options;
  const [program, ...rest] = cores === undefined ? [command, ...args] : ['taskset', '-c', cores, command, ...args];
  const startedMs = performance.now();
  const child = spawn(program ?? command, rest, {
    stdio: ['pipe', 'pipe', 'pipe'],
    // Node refuses a fraction of a millisecond.
    signal: AbortSignal.any([AbortSignal.timeout(Math.ceil(limitMs)), ...(signal === undefined ? [] : [signal])]),
    killSignal: 'SIGKILL',
  });
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text;
    if (said.out.length > MAX_OUTPUT) child.kill('SIGKILL');
  });
  let isDone = false;
  if (onLine !== undefined)
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (!onLine(line)) return;
      isDone = true;
      child.kill('SIGKILL');
    });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err = (said.err + text).slice(-4000);
  });
  // A program that ends early does not read the rest. Its exit status tells why.
  const writing = pipeline(Readable.from(input), child.stdin).catch(() => undefined);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => {
      const cut = signal?.aborted ? 'stopped' : `not done after ${limitMs} ms`;
      resolve(error.name === 'AbortError' ? cut : startFault(error));
    });
    child.once('close', (code, killed) => resolve(code === 0 || isDone ? '' : `ended with ${killed ?? code}`));
  });
  /** Without its children. Up to 20 ms at the end may be missing. */
  let processorSeconds = 0;
  do processorSeconds = cpuSecondsIn(processFile(child.pid ?? 0, 'stat')) ?? processorSeconds;
  while ((await Promise.race([ended, sleep(POLL_INTERVAL_MS)])) === undefined);
  const problem = await ended;
  await writing;
  if (problem !== '') throw new Error(`${command}: ${problem}: ${said.err.trim() || said.out.trim().slice(-400)}`);
  return { output: said.out, seconds: (performance.now() - startedMs) / 1000, processorSeconds };
}

function startFault(error: NodeJS.ErrnoException): string {
  if (error.code !== 'ENOENT') return error.message;
  return `there is no ${error.path ?? 'such program'} in PATH; install it`;
}

const run = promisify(execFile);
const LIMIT_MS = 10_000;

/** Debian installs ip and tc in folders that are only in root's PATH. */
export function systemPath(): { readonly PATH: string } {
  return { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };
}

/** @returns its output. @throws with its error output, or ENOENT. */
export async function systemProgram(command: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(command, args, { env: { ...process.env, ...systemPath() }, timeout: LIMIT_MS });
  return stdout;
}

/** The first line of the error output of a failed program. */
export function complaint(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  return (said || String(error instanceof Error ? error.message : error)).split('\n')[0] ?? '';
}
