import { runProgram } from './programs.ts';

/**
 * The published mix of memtier_benchmark: one write to four reads, values of 100–6000 bytes, 100,000 keys asked for by a
 * normal distribution: its middle is the middle of the keys, six standard deviations are all of them (memtier's defaults).
 */
export interface Mix {
  readonly keys: number;
  readonly leastBytes: number;
  readonly mostBytes: number;
  /** Share of all commands: 0.2. */
  readonly writes: number;
}

export const PUBLISHED_MIX: Mix = { keys: 100_000, leastBytes: 100, mostBytes: 6000, writes: 0.2 };

/** `memtier-0`: memtier's own names. */
export function mixKey(at: number | '%d'): string {
  return `memtier-${at}`;
}

/** An index in 0…keys-1 from a normal distribution (Box and Muller 1958); a value outside is drawn again. */
export function gaussianKey(keys: number, random: () => number): number {
  for (;;) {
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    const at = Math.floor(keys / 2 + radius * Math.cos(2 * Math.PI * random()) * (keys / 6));
    if (at >= 0 && at < keys) return at;
  }
}

/** Bytes of a value, uniformly distributed. */
export function valueBytes({ leastBytes, mostBytes }: Mix, random: () => number): number {
  return leastBytes + Math.floor(random() * (mostBytes - leastBytes + 1));
}

/** One SET for every key, for `massImport`. */
export function* fillCommands(mix: Mix, random: () => number): Iterable<readonly (string | Buffer)[]> {
  const bytes = Buffer.from(Array.from({ length: mix.mostBytes }, () => 97 + Math.floor(random() * 26)));
  for (let at = 0; at < mix.keys; at += 1) yield ['SET', mixKey(at), bytes.subarray(0, valueBytes(mix, random))];
}

/** A row of one second ends before memtier has connected all clients; without a time it sends 10,000 commands for each. */
const TEST_SECONDS = 10;

/** The same load by memtier, in a store that `fillCommand` filled. The reader inserts port and host. */
export function memtierCommand(
  mix: Mix,
  options: { readonly clients: number; readonly pipeline?: number; readonly more?: string },
): string {
  const reads = Math.round((1 - mix.writes) / mix.writes);
  return [
    'memtier_benchmark -s 127.0.0.1 -p 6379 -t 1',
    `-c ${options.clients} --pipeline=${options.pipeline ?? 1} --ratio=1:${reads}`,
    // Keys begin at 0 by default, and memtier refuses an explicit 0.
    `--data-size-range=${mix.leastBytes}-${mix.mostBytes} --key-maximum=${mix.keys - 1} --key-pattern=G:G`,
    // Otherwise all clients ask for the same keys in every run.
    `--distinct-client-seed --randomize --test-time=${TEST_SECONDS}`,
    ...(options.more === undefined ? [] : [options.more]),
  ].join(' ');
}

/**
 * The command that stores every key once, with values of the mix's sizes, by awk and redis-cli: redis-benchmark writes keys
 * at random and misses some, and only memtier writes them in order.
 * @param set begins the command, with `%d` for the number of a key: `SET memtier-%d`. @param port of a store of the reader's.
 */
export function fillCommand(
  set: string,
  { keys, leastBytes, mostBytes }: Pick<Mix, 'keys' | 'leastBytes' | 'mostBytes'>,
  { port = 6379, isTls = false }: { readonly port?: number; readonly isTls?: boolean } = {},
): string {
  const bytes =
    leastBytes === mostBytes ? 'v' : `substr(v, 1, ${leastBytes} + int(rand() * ${mostBytes - leastBytes + 1}))`;
  // In pieces, because some awks print at most 8 KiB by one `%s`.
  const value = `while (length(v) < ${mostBytes}) v = substr(v v "x", 1, ${mostBytes})`;
  const words = `${value}; for (k = 0; k < ${keys}; k++) { printf "${set} ", k; print ${bytes} }`;
  return `awk 'BEGIN { ${words} }' | redis-cli -p ${port}${isTls ? ' --tls --cacert ca.crt' : ''} --pipe`;
}

/** As `memtierCommand` requests them. */
export function memtierFill(mix: Mix, options: { readonly isTls?: boolean } = {}): string {
  return fillCommand(`SET ${mixKey('%d')}`, mix, options);
}

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

/** One command as it goes over the wire, in RESP: what `redis-cli --pipe` takes, and what the driver sends. */
export function respCommand(words: readonly (string | Buffer)[]): Buffer {
  const parts = words.flatMap((word) => [
    Buffer.from(`$${Buffer.byteLength(word)}\r\n`),
    typeof word === 'string' ? Buffer.from(word) : word,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([Buffer.from(`*${words.length}\r\n`), ...parts]);
}
