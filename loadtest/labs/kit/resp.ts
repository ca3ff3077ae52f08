/** One command as it goes over the wire, in RESP: what `redis-cli --pipe` takes, and what the driver sends. */
export function respCommand(words: readonly (string | Buffer)[]): Buffer {
  const parts = words.flatMap((word) => [
    Buffer.from(`$${Buffer.byteLength(word)}\r\n`),
    typeof word === 'string' ? Buffer.from(word) : word,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([Buffer.from(`*${words.length}\r\n`), ...parts]);
}
