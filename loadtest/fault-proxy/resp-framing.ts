/** Cuts what a Redis connection carries into whole values, RESP2 and RESP3, without looking into them. */
export interface RespFramer {
  /** @returns the values completed by these bytes. @throws when they are not RESP, or one value is too large. */
  readonly push: (bytes: Buffer) => Buffer[];
  /** Of the value that is not complete yet. */
  readonly keptBytes: () => number;
}

const MOST_VALUE_BYTES = 64 * 2 ** 20;
/** A line is a header, a simple string or an error. */
const MOST_LINE_BYTES = 64 * 1024;
const LF = 10;

/** One pass over the bytes, however they were split: a value of 1 MiB arrives in many pieces. */
export function createRespFramer(): RespFramer {
  let parts: Buffer[] = [];
  let partsBytes = 0;
  let line = '';
  /** Bytes of a bulk, its line end included, that are still to come. */
  let bulk = 0;
  /** Values still to come until the outermost one is whole. */
  let missing = 1;

  const header = (): void => {
    const count = Number(line.slice(1, -2));
    missing -= 1;
    switch (line[0]) {
      case '+':
      case '-':
      case ':':
      case '_':
      case ',':
      case '#':
      case '(':
        return;
      case '$':
      case '!':
      case '=':
        if (!Number.isInteger(count) || count < -1 || count > MOST_VALUE_BYTES) throw new Error(`not a bulk: ${line}`);
        bulk = count === -1 ? 0 : count + 2;
        return;
      case '*':
      case '~':
      case '>':
      case '%':
      case '|':
        if (!Number.isInteger(count) || count < -1 || count > MOST_VALUE_BYTES) throw new Error(`not a list: ${line}`);
        // An attribute stands before the value it describes.
        missing += Math.max(0, count) * (line[0] === '%' || line[0] === '|' ? 2 : 1) + (line[0] === '|' ? 1 : 0);
        return;
      default:
        throw new Error(`not RESP: ${JSON.stringify(line.slice(0, 40))}`);
    }
  };

  const push = (bytes: Buffer): Buffer[] => {
    const whole: Buffer[] = [];
    let start = 0;
    let at = 0;
    while (at < bytes.length) {
      if (bulk > 0) {
        const taken = Math.min(bulk, bytes.length - at);
        bulk -= taken;
        at += taken;
      } else {
        const end = bytes.indexOf(LF, at);
        line += bytes.toString('latin1', at, end === -1 ? bytes.length : end + 1);
        at = end === -1 ? bytes.length : end + 1;
        if (line.length > MOST_LINE_BYTES) throw new Error('a line without an end');
        if (end === -1) break;
        header();
        line = '';
      }
      if (bulk === 0 && missing === 0) {
        whole.push(Buffer.concat([...parts, bytes.subarray(start, at)]));
        parts = [];
        partsBytes = 0;
        start = at;
        missing = 1;
      }
    }
    if (start < bytes.length) {
      parts.push(bytes.subarray(start));
      partsBytes += bytes.length - start;
      if (partsBytes > MOST_VALUE_BYTES) throw new Error(`a value of more than ${MOST_VALUE_BYTES} bytes`);
    }
    return whole;
  };
  return { push, keptBytes: () => partsBytes };
}

/** @throws when a framed value is not a list of bulk strings, as every command is. */
export function commandOf(value: Buffer): readonly Buffer[] {
  const words: Buffer[] = [];
  let at = value.indexOf(LF) + 1;
  if (value[0] !== 0x2a) throw new Error('a command is a list of bulk strings');
  while (at < value.length) {
    const end = value.indexOf(LF, at);
    if (value[at] !== 0x24 || end === -1) throw new Error('a command is a list of bulk strings');
    const length = Number(value.toString('latin1', at + 1, end - 1));
    words.push(value.subarray(end + 1, end + 1 + length));
    at = end + 1 + length + 2;
  }
  return words;
}

/** A push of RESP3 comes between replies and answers no command. */
export function isPush(value: Buffer): boolean {
  return value[0] === 0x3e;
}
