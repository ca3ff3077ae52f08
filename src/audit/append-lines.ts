import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Appends each line by a write of its own, so that processes that share a file never mix theirs, and opens the file anew
 * each time, so that it may be moved away by whoever rotates logs. Resolves to how many were written, and what kept the
 * rest from being.
 */
export async function appendLines(file: string, lines: readonly string[]): Promise<Appended> {
  let written = 0;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const handle = await open(file, 'a+', 0o600);
    try {
      // Half a line is left where the disk was full, or where somebody died: ours must not become a part of it.
      let isTorn = !(await endsWithLine(handle));
      for (const line of lines) {
        const bytes = Buffer.from(`${isTorn ? '\n' : ''}${line}\n`);
        const { bytesWritten } = await handle.write(bytes);
        if (bytesWritten < bytes.length) return { written, fault: new Error('the disk took half a line') };
        isTorn = false;
        written += 1;
      }
      return { written };
    } finally {
      await handle.close();
    }
  } catch (error) {
    return { written, fault: error instanceof Error ? error : new Error(String(error)) };
  }
}

export interface Appended {
  readonly written: number;
  readonly fault?: Error;
}

async function endsWithLine(handle: Awaited<ReturnType<typeof open>>): Promise<boolean> {
  const stat = await handle.stat();
  if (!stat.isFile() || stat.size === 0) return true;
  const last = Buffer.alloc(1);
  await handle.read(last, 0, 1, stat.size - 1);
  return last[0] === LINE_FEED;
}

const LINE_FEED = 0x0a;
