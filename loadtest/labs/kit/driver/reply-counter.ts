/** Counts whole RESP2 replies in what a connection carries, without keeping or copying them. */
export interface ReplyCounter {
  /** @returns how many replies these bytes complete, and how many of those are errors. @throws when they are not RESP2. */
  readonly push: (bytes: Buffer) => { readonly replies: number; readonly errors: number };
}

const [LF, CR, DOLLAR, STAR, MINUS, PLUS, COLON, ZERO] = [10, 13, 36, 42, 45, 43, 58, 48];

/** Not resp-framing.ts: that one hands out the values, and copying megabytes would make the driver the limit. */
export function createReplyCounter(): ReplyCounter {
  /** Bytes of a bulk that are still to come, its line end included. */
  let bulk = 0;
  /** Values to come until the outermost is whole; 0 between replies. */
  let missing = 0;
  /** Of the header line under way; 0 between lines. */
  let kind = 0;
  let length = 0;
  let isNegative = false;
  /** The header under way begins a reply, not a value inside one. */
  let isOutermost = false;

  const push = (bytes: Buffer): { replies: number; errors: number } => {
    let [replies, errors, at] = [0, 0, 0];
    while (at < bytes.length) {
      if (bulk > 0) {
        const taken = Math.min(bulk, bytes.length - at);
        bulk -= taken;
        at += taken;
        if (bulk === 0 && missing === 0) replies += 1;
        continue;
      }
      const byte = bytes[at] ?? 0;
      at += 1;
      if (kind === 0) {
        kind = byte;
        isOutermost = missing === 0;
        if (isOutermost) missing = 1;
        [length, isNegative] = [0, false];
        if (kind !== DOLLAR && kind !== STAR && kind !== MINUS && kind !== PLUS && kind !== COLON)
          throw new Error(`not RESP2: byte ${kind}`);
      } else if (byte === LF) {
        missing -= 1;
        if (kind === DOLLAR && !isNegative) bulk = length + 2;
        else if (kind === STAR && !isNegative) missing += length;
        else if (kind === MINUS && isOutermost) errors += 1;
        kind = 0;
        if (bulk === 0 && missing === 0) replies += 1;
      } else if (kind === DOLLAR || kind === STAR) {
        if (byte === MINUS) isNegative = true;
        else if (byte !== CR) length = length * 10 + byte - ZERO;
      } else {
        // The rest of a line whose length nobody says: on to its end.
        const end = bytes.indexOf(LF, at);
        at = end === -1 ? bytes.length : end;
      }
    }
    return { replies, errors };
  };
  return { push };
}
