/**
 * The published mix of memtier_benchmark: one write to four reads, values of 100–6000 bytes, and 100,000 keys with a normal
 * distribution. Its mean is the middle key, and the keys span six standard deviations (memtier's defaults).
 */
export interface Mix {
  readonly keys: number;
  readonly leastBytes: number;
  readonly mostBytes: number;
  readonly writes: number;
}

export const PUBLISHED_MIX: Mix = { keys: 100_000, leastBytes: 100, mostBytes: 6000, writes: 0.2 };
export const MIX_COMMANDS = { kind: 'mix', ...PUBLISHED_MIX } as const;

export function mixKey(at: number): string {
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

/** A command in RESP, for `redis-cli --pipe` and for the driver. */
export function respCommand(words: readonly (string | Buffer)[]): Buffer {
  const parts = words.flatMap((word) => [
    Buffer.from(`$${Buffer.byteLength(word)}\r\n`),
    typeof word === 'string' ? Buffer.from(word) : word,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([Buffer.from(`*${words.length}\r\n`), ...parts]);
}
