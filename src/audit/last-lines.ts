import { open } from 'node:fs/promises';

const CHUNK_BYTES = 64 * 1024;
/** Read back at most, however few lines that is. */
const MAX_BYTES = 4 * 2 ** 20;

/** The last lines of a file, newest first, without reading what stands before them. @throws when it cannot be read. */
export async function lastLines(file: string, n: number): Promise<readonly string[]> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const lines: string[] = [];
    // Newest first, each the rest of a line whose beginning stands further up.
    let tail: Buffer[] = [];
    for (let end = size; end > 0 && size - end < MAX_BYTES && lines.length < n; ) {
      const from = Math.max(0, end - CHUNK_BYTES);
      const chunk = Buffer.alloc(end - from);
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, from);
      // Somebody made it shorter meanwhile.
      if (bytesRead < chunk.length) break;
      let to = chunk.length;
      for (let at = chunk.lastIndexOf(LINE_FEED); at >= 0; at = at === 0 ? -1 : chunk.lastIndexOf(LINE_FEED, at - 1)) {
        lines.push(joined(chunk.subarray(at + 1, to), tail));
        tail = [];
        to = at;
      }
      tail.push(chunk.subarray(0, to));
      end = from;
      if (end === 0) lines.push(joined(Buffer.alloc(0), tail));
    }
    return lines.filter((line) => line !== '').slice(0, n);
  } finally {
    await handle.close();
  }
}

function joined(first: Buffer, newestFirst: readonly Buffer[]): string {
  return Buffer.concat([first, ...newestFirst.toReversed()]).toString('utf8');
}

const LINE_FEED = 0x0a;
