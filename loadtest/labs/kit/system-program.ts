import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const LIMIT_MS = 10_000;

/** Debian keeps ip and tc where only root's PATH leads. */
export function systemPath(): { readonly PATH: string } {
  return { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };
}

/** @returns what it printed. @throws with what it complained of, or as ENOENT. */
export async function systemProgram(command: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(command, args, { env: { ...process.env, ...systemPath() }, timeout: LIMIT_MS });
  return stdout;
}

/** One line: what a program that failed said itself. */
export function complaint(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  return (said || String(error instanceof Error ? error.message : error)).split('\n')[0] ?? '';
}
