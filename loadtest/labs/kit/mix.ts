import { runProgram } from './programs.ts';

/**
 * The published mix of memtier_benchmark: one write to four reads, values of 100–6000 bytes, 100,000 keys asked for by a
 * normal distribution: its middle is the middle of the keys, six standard deviations are all of them (memtier's defaults).
 */
export interface Mix {
  readonly keys: number;
  readonly leastBytes: number;
  readonly mostBytes: number;
  /** Of all commands: 0.2. */
  readonly writes: number;
}

export const PUBLISHED_MIX: Mix = { keys: 100_000, leastBytes: 100, mostBytes: 6000, writes: 0.2 };

/** `memtier-0`: memtier's own names. */
export function mixKey(at: number | '%d'): string {
  return `memtier-${at}`;
}

/** A place in 0…keys-1 by a normal distribution (Box and Muller 1958); what falls outside is drawn again. */
export function gaussianKey(keys: number, random: () => number): number {
  for (;;) {
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    const at = Math.floor(keys / 2 + radius * Math.cos(2 * Math.PI * random()) * (keys / 6));
    if (at >= 0 && at < keys) return at;
  }
}

/** Bytes of a value, every size as likely as the next. */
export function valueBytes({ leastBytes, mostBytes }: Omit<Mix, 'writes'>, random: () => number): number {
  return leastBytes + Math.floor(random() * (mostBytes - leastBytes + 1));
}

/** One SET for every key, for `massImport`. @param name of a key by its number. */
export function* fillCommands(
  mix: Omit<Mix, 'writes'>,
  random: () => number,
  name: (at: number) => string = mixKey,
): Iterable<readonly (string | Buffer)[]> {
  const bytes = Buffer.from(Array.from({ length: mix.mostBytes }, () => 97 + Math.floor(random() * 26)));
  for (let at = 0; at < mix.keys; at += 1) yield ['SET', name(at), bytes.subarray(0, valueBytes(mix, random))];
}

/** The twelve digits that redis-benchmark writes for `__rand_int__`. */
export function randomDigits(at: number): string {
  return String(at).padStart(12, '0');
}

/** A row of a second is over before memtier has connected everybody; without a time it sends 10,000 commands for each. */
const TEST_SECONDS = 10;

/** The same by memtier, for whoever has it, in a store that `fillCommand` filled. Ports and hosts are the reader's own. */
export function memtierCommand(
  mix: Mix,
  options: { readonly clients: number; readonly pipeline?: number; readonly more?: string },
): string {
  const reads = Math.round((1 - mix.writes) / mix.writes);
  return [
    'memtier_benchmark -s 127.0.0.1 -p 6379 -t 1',
    `-c ${options.clients} --pipeline=${options.pipeline ?? 1} --ratio=1:${reads}`,
    // Keys begin at 0 unless something else is said, and memtier does not take a 0 that is said.
    `--data-size-range=${mix.leastBytes}-${mix.mostBytes} --key-maximum=${mix.keys - 1} --key-pattern=G:G`,
    // Else all clients ask for the same keys, those of every run before.
    `--distinct-client-seed --randomize --test-time=${TEST_SECONDS}`,
    ...(options.more === undefined ? [] : [options.more]),
  ].join(' ');
}

/**
 * What stores every key once, values of the mix's sizes, by what everybody has: a benchmark that writes keys at random
 * leaves some out, and one with keys in order is memtier only.
 * @param set begins the command, with `%d` for the number of a key: `SET memtier-%d`. @param port of a store of the reader's.
 */
export function fillCommand(
  set: string,
  { keys, leastBytes, mostBytes }: Omit<Mix, 'writes'>,
  { port = 6379, isTls = false }: { readonly port?: number; readonly isTls?: boolean } = {},
): string {
  const bytes =
    leastBytes === mostBytes ? 'v' : `substr(v, 1, ${leastBytes} + int(rand() * ${mostBytes - leastBytes + 1}))`;
  // Built up: one awk or another prints no more than 8 KiB by a single `%s`.
  const value = `while (length(v) < ${mostBytes}) v = substr(v v "x", 1, ${mostBytes})`;
  const words = `${value}; for (k = 0; k < ${keys}; k++) { printf "${set} ", k; print ${bytes} }`;
  return `awk 'BEGIN { ${words} }' | redis-cli -p ${port}${isTls ? ' --tls --cacert ca.crt' : ''} --pipe`;
}

/** As `memtierCommand` asks for them. */
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
