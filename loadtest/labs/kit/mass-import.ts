import { respCommand } from './resp.ts';
import { runProgram } from './run-program.ts';

export interface ImportOptions {
  readonly host: string;
  readonly port: number;
  /** CA file of a store that speaks TLS. */
  readonly caFile?: string;
  readonly cores?: string;
  readonly limitMs?: number;
  readonly signal?: AbortSignal;
}

const PIECE_BYTES = 256 * 1024;

/**
 * Fills a store by RESP mass import: commands are streamed to `redis-cli --pipe`, which sends them without waiting for
 * replies and counts those afterwards (https://redis.io/docs/latest/develop/clients/patterns/bulk-loading/).
 * @returns how many commands the store took. @throws when it refused one, with what it said.
 */
export async function massImport(
  commands: Iterable<readonly (string | Buffer)[]>,
  options: ImportOptions,
): Promise<number> {
  const { host, port, caFile, cores, limitMs = 60_000, signal } = options;
  const tls = caFile === undefined ? [] : ['--tls', '--cacert', caFile];
  const { output } = await runProgram({
    command: 'redis-cli',
    args: ['-h', host, '-p', String(port), ...tls, '--pipe'],
    limitMs,
    input: pieces(commands),
    ...(cores !== undefined && { cores }),
    ...(signal !== undefined && { signal }),
  });
  return importedOf(output);
}

/** @param output of `redis-cli --pipe`, by what it counted. @throws when a command was refused or nothing was counted. */
export function importedOf(output: string): number {
  const [, errors, replies] = /errors: (\d+), replies: (\d+)/.exec(output) ?? [];
  if (errors !== '0' || replies === undefined)
    throw new Error(`mass import: ${output.trim().split('\n').slice(-3).join(' ')}`);
  return Number(replies);
}

/** Many small commands at once: a pipe that is written command by command is what takes the time. */
function* pieces(commands: Iterable<readonly (string | Buffer)[]>): Iterable<Buffer> {
  let [piece, bytes]: [Buffer[], number] = [[], 0];
  for (const words of commands) {
    const one = respCommand(words);
    piece.push(one);
    bytes += one.length;
    if (bytes < PIECE_BYTES) continue;
    yield Buffer.concat(piece);
    [piece, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(piece);
}
