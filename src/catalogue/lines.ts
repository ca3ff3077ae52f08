/** One line of a file, without its end mark. `bytes` is absent for a line longer than the bound, which was not kept. */
export interface Line {
  /** From 1. */
  readonly number: number;
  readonly bytes?: Buffer;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** Lines of a byte stream, LF or CRLF. Holds one chunk and at most `maxBytes` of an unfinished line. */
export async function* linesOf(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Line, void, undefined> {
  let number = 1;
  let kept: Buffer[] = [];
  let keptBytes = 0;
  const keep = (part: Buffer): void => {
    keptBytes += part.length;
    // Past the bound only the length goes on growing; the line is reported when its end comes.
    if (keptBytes <= maxBytes) kept.push(part);
    else kept = [];
  };
  const take = (): Line => {
    const line: Line = keptBytes > maxBytes ? { number } : { number, bytes: withoutReturn(join(kept)) };
    kept = [];
    keptBytes = 0;
    number += 1;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end));
      start = end + 1;
      yield take();
    }
    if (start < chunk.length) keep(chunk.subarray(start));
  }
  if (keptBytes > 0) yield take();
}

function join(parts: readonly Buffer[]): Buffer {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}

function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === RETURN ? line.subarray(0, -1) : line;
}
