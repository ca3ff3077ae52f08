import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { IndexError } from './index-error.ts';

/** A build that died leaves its file behind; one this much older than the newest is nobody's any more. */
const LEFTOVER_AGE_MS = 3_600_000;

/**
 * Has `write` make a temporary file beside `file`, brings it to disk and renames it: readers see the old file or the
 * whole new one, also after a crash or a power cut. On any failure the temporary file goes and `file` stays as it was.
 * @throws IndexError `failed` for what the file system refused.
 */
export async function replaceFile(file: string, write: (temporary: string) => Promise<void>): Promise<void> {
  const directory = dirname(file);
  const temporary = `${file}.building-${randomUUID()}`;
  try {
    await mkdir(directory, { recursive: true });
    await (await open(temporary, 'wx')).close();
    await removeLeftovers(file, temporary);
    await write(temporary);
    await sync(temporary, 'r+');
    await rename(temporary, file);
    // Windows opens no directories, and needs no such sync.
    if (process.platform !== 'win32') await sync(directory, 'r');
  } catch (cause) {
    // Where even that fails, as in a directory that is none, the first failure is the one to tell.
    await rm(temporary, { force: true }).catch(() => undefined);
    if (cause instanceof IndexError) throw cause;
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new IndexError('failed', file, `${file} was not built: ${detail}`, { cause });
  }
}

async function sync(path: string, flags: string): Promise<void> {
  const handle = await open(path, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function removeLeftovers(file: string, newest: string): Promise<void> {
  const directory = dirname(file);
  const now = (await stat(newest)).mtimeMs;
  for (const name of await readdir(directory)) {
    if (!name.startsWith(`${basename(file)}.building-`)) continue;
    const leftover = join(directory, name);
    const age = now - ((await stat(leftover).catch(() => undefined))?.mtimeMs ?? now);
    if (age > LEFTOVER_AGE_MS) await rm(leftover, { force: true });
  }
}
