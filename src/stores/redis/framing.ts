import type { Redis } from 'ioredis';

/** More than any entry (`maxEntryBytes`) or any other reply of a server of ours. */
const MAX_BULK_BYTES = 64 * 1024 * 1024;
const MAX_ELEMENTS = 1_000_000;
const MAX_DIGITS = 20;

const CR = 13;
const LF = 10;
const MINUS = 45;
const [STRING, ERROR, INTEGER, BULK, ARRAY] = [43, 45, 58, 36, 42];

/**
 * Follows the frames of RESP2 from chunk to chunk. `feed` tells where in the chunk the first byte stands that cannot
 * be, or −1. It looks at headers alone and skips what they announce.
 */
export function createFraming(): { readonly feed: (chunk: Buffer) => number } {
  let expects: 'type' | 'sign' | 'digits' | 'text' | 'end' | 'body' | 'body-cr' | 'body-end' = 'type';
  let type = 0;
  let value = 0;
  let digits = 0;
  let left = 0;

  const headerEnds = (): boolean => {
    expects = 'type';
    if (type === ARRAY) return value <= MAX_ELEMENTS;
    if (type !== BULK || value < 0) return true;
    left = value;
    expects = left > 0 ? 'body' : 'body-cr';
    return value <= MAX_BULK_BYTES;
  };
  /** One byte of a header, or of what closes a body. */
  const accepts = (byte: number): boolean => {
    switch (expects) {
      case 'type':
        type = byte;
        value = 0;
        digits = 0;
        expects = byte === STRING || byte === ERROR ? 'text' : 'sign';
        return expects === 'text' || byte === INTEGER || byte === BULK || byte === ARRAY;
      case 'sign':
        expects = 'digits';
        if (byte !== MINUS) return accepts(byte);
        value = -1;
        return true;
      case 'digits':
        if (byte === CR) {
          expects = 'end';
          return digits > 0;
        }
        digits += 1;
        // The only negative length is −1: nil.
        if (value < 0) return byte >= 48 && byte <= 57 && (type === INTEGER || (byte === 49 && digits === 1));
        value = value * 10 + byte - 48;
        return byte >= 48 && byte <= 57 && digits <= MAX_DIGITS;
      case 'text':
        if (byte === CR) expects = 'end';
        return true;
      case 'end':
        return byte === LF && headerEnds();
      case 'body-cr':
        expects = 'body-end';
        return byte === CR;
      case 'body-end':
        expects = 'type';
        return byte === LF;
      case 'body':
        return true;
    }
  };

  return {
    feed(chunk) {
      for (let at = 0; at < chunk.length; ) {
        if (expects === 'body') {
          const step = Math.min(left, chunk.length - at);
          left -= step;
          at += step;
          if (left === 0) expects = 'body-cr';
        } else {
          if (!accepts(chunk[at] ?? 0)) return at;
          at += 1;
        }
      }
      return -1;
    },
  };
}

/**
 * Ends a connection before ioredis decodes a frame that cannot be. Its decoder (6.0.0) takes any byte for a digit: one
 * flipped bit in a length sends it backwards in the chunk, and the process hangs in one turn or runs out of memory.
 */
export function guardFraming(redis: Redis, onGarbage: () => void): void {
  redis.on('connect', () => {
    const { stream } = redis;
    const framing = createFraming();
    stream.prependListener('data', (chunk: Buffer) => {
      const at = framing.feed(chunk);
      if (at < 0) return;
      // The decoder is called next: a zero begins no frame, and ends no header.
      chunk.fill(0, at);
      stream.destroy(new Error(`a reply that is no RESP at byte ${at} of ${chunk.length}`));
      onGarbage();
    });
  });
}
