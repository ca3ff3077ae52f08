import { randomUUID } from 'node:crypto';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export interface Rotation {
  /** A file grows to this, and by what other processes write to it while this one writes one batch (1 MiB at most). */
  readonly maxBytes: number;
  /** Full files kept beside the one that is written; the oldest go. At least 1. */
  readonly keep: number;
}

/**
 * `audit.ndjson` becomes `audit.ndjson.000001-3f2c9a1e`; the next full one is 000002. A number and no time, since a
 * stepped clock must not change which is the oldest. The tail keeps two processes that rotate at once from taking one
 * name, which would replace a file.
 */
const TAIL = /^\.(\d{6,12})-[0-9a-f]{8}$/;

/** Full files, newest first. */
export async function rotatedFiles(file: string): Promise<readonly string[]> {
  const folder = dirname(file);
  return (await numbered(file)).map(({ name }) => join(folder, name));
}

/**
 * Moves the file away under the next number, by one rename: whoever has it open goes on writing into it, so no line is
 * lost. Does nothing when another process has moved it already. Between that look and the rename there may be one more
 * rotation; a small file gets a number of its own then.
 * @param id of the file that is full.
 */
export async function rotate(file: string, id: bigint, { keep }: Rotation): Promise<void> {
  if ((await stat(file, { bigint: true })).ino !== id) return;
  const older = await numbered(file);
  const next = String((older[0]?.number ?? 0) + 1).padStart(6, '0');
  await rename(file, `${file}.${next}-${randomUUID().slice(0, 8)}`);
  for (const { name } of older.slice(Math.max(1, keep) - 1)) await rm(join(dirname(file), name), { force: true });
}

async function numbered(file: string): Promise<readonly { readonly name: string; readonly number: number }[]> {
  const base = basename(file);
  const found = (await readdir(dirname(file))).flatMap((name) => {
    const number = name.startsWith(base) ? TAIL.exec(name.slice(base.length))?.[1] : undefined;
    return number === undefined ? [] : [{ name, number: Number(number) }];
  });
  return found.toSorted((a, b) => b.number - a.number || (a.name < b.name ? 1 : -1));
}
