/**
 * The published mix of memtier_benchmark: one write to four reads, values of 100–6000 bytes, and 100,000 keys with a normal
 * distribution. Its mean is the middle key, and the keys span six standard deviations (memtier's defaults).
 */
export interface Mix {
  readonly keys: number;
  readonly leastBytes: number;
  readonly mostBytes: number;
  /** Share of writes: 0.2. */
  readonly writes: number;
}

export const PUBLISHED_MIX: Mix = { keys: 100_000, leastBytes: 100, mostBytes: 6000, writes: 0.2 };

/** The names of memtier: `memtier-0`. */
export function mixKey(at: number | '%d'): string {
  return `memtier-${at}`;
}

/** A number in 0…keys-1 with a normal distribution (Box and Muller 1958); a number outside is drawn again. */
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

/** Within a second memtier has not opened all connections. Without a duration it sends 10,000 commands per connection. */
const TEST_SECONDS = 10;

/** The memtier command that repeats a load on a store that `fillCommand` filled, with the reader's host and port. */
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
    // Without these options all clients of every run use the same sequence of keys.
    `--distinct-client-seed --randomize --test-time=${TEST_SECONDS}`,
    ...(options.more === undefined ? [] : [options.more]),
  ].join(' ');
}

/**
 * The command that stores every key once with values of the mix's sizes, by standard tools: redis-benchmark writes keys at
 * random and leaves some out, and only memtier writes them in order.
 * @param set the beginning of a command, with `%d` for the number of a key: `SET memtier-%d`. @param port of the reader's store.
 */
export function fillCommand(
  set: string,
  { keys, leastBytes, mostBytes }: Omit<Mix, 'writes'>,
  { port = 6379, isTls = false }: { readonly port?: number; readonly isTls?: boolean } = {},
): string {
  const bytes =
    leastBytes === mostBytes ? 'v' : `substr(v, 1, ${leastBytes} + int(rand() * ${mostBytes - leastBytes + 1}))`;
  // The value is built step by step, because some versions of awk print at most 8 KiB for one `%s`.
  const value = `while (length(v) < ${mostBytes}) v = substr(v v "x", 1, ${mostBytes})`;
  const words = `${value}; for (k = 0; k < ${keys}; k++) { printf "${set} ", k; print ${bytes} }`;
  return `awk 'BEGIN { ${words} }' | redis-cli -p ${port}${isTls ? ' --tls --cacert ca.crt' : ''} --pipe`;
}

/** Fills a store with the keys of `memtierCommand`. */
export function memtierFill(mix: Mix, options: { readonly isTls?: boolean } = {}): string {
  return fillCommand(`SET ${mixKey('%d')}`, mix, options);
}

/** A command in RESP, for `redis-cli --pipe` and for the driver. */
export function respCommand(words: readonly (string | Buffer)[]): Buffer {
  const parts = words.flatMap((word) => [
    Buffer.from(`$${Buffer.byteLength(word)}\r\n`),
    typeof word === 'string' ? Buffer.from(word) : word,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([Buffer.from(`*${words.length}\r\n`), ...parts]);
}
