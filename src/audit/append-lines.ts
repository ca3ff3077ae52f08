import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Rotation, rotate } from './rotation.ts';

export interface Appended {
  /** Lines written, in order from the first. */
  readonly written: number;
  /** Why the remaining lines were not written. */
  readonly fault?: Error;
  /** Why the full file was not rotated. The lines are written to it all the same. */
  readonly rotationFault?: Error;
}

/**
 * Appends each line by a write of its own, so that processes that share a file never mix theirs, and opens the file anew
 * each time, so that it may be moved away: by whoever rotates logs, or by another process that shares it. A file that the
 * next line would make larger than it may be is rotated first.
 */
export async function appendLines(file: string, rotation: Rotation, lines: readonly string[]): Promise<Appended> {
  let written = 0;
  let rotationFault: Error | undefined;
  let opened: Opened | undefined;
  const ended = (fault?: Error): Appended => ({
    written,
    ...(fault === undefined ? {} : { fault }),
    ...(rotationFault === undefined ? {} : { rotationFault }),
  });
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    opened = await openToAppend(file);
    for (const line of lines) {
      const lineBytes = Buffer.byteLength(line) + 1;
      if (opened.isFile && opened.bytes > 0 && opened.bytes + lineBytes > rotation.maxBytes) {
        try {
          await rotate(file, opened.id, rotation);
        } catch (error) {
          rotationFault ??= asError(error);
        }
        await opened.handle.close();
        opened = await openToAppend(file);
      }
      const bytes = Buffer.from(`${opened.isTorn ? '\n' : ''}${line}\n`);
      const { bytesWritten } = await opened.handle.write(bytes);
      if (bytesWritten < bytes.length) return ended(new Error('the disk took half a line'));
      opened.isTorn = false;
      opened.bytes += bytes.length;
      written += 1;
    }
    return ended();
  } catch (error) {
    return ended(asError(error));
  } finally {
    await opened?.handle.close().catch(() => {});
  }
}

interface Opened {
  readonly handle: FileHandle;
  readonly isFile: boolean;
  /** Tells it from the file that takes its name later. */
  readonly id: bigint;
  bytes: number;
  /** Half a line is left where the disk was full, or where a process died: ours must not become a part of it. */
  isTorn: boolean;
}

async function openToAppend(file: string): Promise<Opened> {
  const handle = await open(file, 'a+', 0o600);
  try {
    const stat = await handle.stat({ bigint: true });
    const isFile = stat.isFile();
    const isTorn = isFile && stat.size > 0n && !(await endsWithLine(handle, stat.size));
    return { handle, isFile, id: stat.ino, bytes: Number(stat.size), isTorn };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function endsWithLine(handle: FileHandle, size: bigint): Promise<boolean> {
  const last = Buffer.alloc(1);
  await handle.read(last, 0, 1, size - 1n);
  return last[0] === LINE_FEED;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

const LINE_FEED = 0x0a;
