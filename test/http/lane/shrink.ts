import type { Stream } from './streams.ts';

/**
 * A shorter stream that still differs: without some of its chunks, in one chunk, or without some of its lines.
 * @param differs asked at most `maxTrials` times.
 */
export async function shrunk(
  stream: Stream,
  differs: (shorter: Stream) => Promise<boolean>,
  maxTrials: number,
): Promise<Stream> {
  let shortest = stream;
  let trials = 0;
  for (let changed = true; changed; ) {
    changed = false;
    for (const chunks of shorter(shortest)) {
      if (trials === maxTrials) return shortest;
      trials += 1;
      const candidate = { ...shortest, chunks, pauses: chunks.map(() => Math.max(...stream.pauses)) };
      if (!(await differs(candidate))) continue;
      shortest = candidate;
      changed = true;
      break;
    }
  }
  return shortest;
}

/** Every list of chunks that is one step shorter, the largest steps first. */
function* shorter({ kind, chunks }: Stream): Generator<readonly string[]> {
  if (chunks.length > 1) {
    yield [chunks.join('')];
    for (let at = 0; at < chunks.length; at += 1) yield chunks.toSpliced(at, 1);
  }
  for (const [at, chunk] of chunks.entries()) {
    const lines = chunk.split(/(?<=\n)/);
    if (lines.length === 1) continue;
    // A head and its blank line first, then single lines.
    const heads = chunk.split(/(?<=\r\n\r\n)/);
    if (heads.length > 1) for (let head = 0; head < heads.length; head += 1) yield without(chunks, at, heads, head);
    // A slow search and a fault after it have no certain order.
    if (kind === 'slow') continue;
    for (let line = 0; line < lines.length; line += 1) yield without(chunks, at, lines, line);
  }
}

function without(chunks: readonly string[], at: number, parts: readonly string[], part: number): readonly string[] {
  return chunks.toSpliced(at, 1, parts.toSpliced(part, 1).join(''));
}
