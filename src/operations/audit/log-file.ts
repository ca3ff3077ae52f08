import { hash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { AuditPage, AuditPageWish, RecordedEntry } from './audit.ts';

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

const CHUNK_BYTES = 64 * 1024;
/** Read for one page at most, however few entries that brings. */
const MAX_BYTES = 4 * 2 ** 20;

/** `<file>-<offset>`: see `identityOf`; the lines that end before the offset follow. */
const CURSOR = /^([0-9a-f]{12})-([0-9]{1,15})$/;
/** How much of a file's first line identifies the file. The line begins with a time and an action. */
const HEAD_BYTES = 128;

/**
 * A page of entries, newest first, from the file that is written and then from the rotated ones, without reading what
 * stands before them. Undefined: there is no file by that cursor. @throws when a file cannot be read.
 */
export async function readBack(file: string, { limit, before }: AuditPageWish): Promise<AuditPage | undefined> {
  const from = before === undefined ? undefined : CURSOR.exec(before);
  if (from === null) return undefined;
  const wanted = from === undefined ? undefined : { id: from[1] ?? '', offset: Number(from[2]) };
  const entries: RecordedEntry[] = [];
  const seen = new Set<string>();
  let isFound = wanted === undefined;
  let bytesLeft = MAX_BYTES;

  // The file being written comes first, and is open before the others are listed: when it is rotated meanwhile it is
  // found twice, never not at all.
  let paths: readonly string[] | undefined;
  for (let at = -1; at < (paths?.length ?? 0); at += 1) {
    const handle = await openIfThere(at < 0 ? file : (paths?.[at] ?? file));
    try {
      paths ??= await rotatedFiles(file).catch(() => []);
      if (handle === undefined) continue;
      const { ino, size } = await handle.stat({ bigint: true });
      const id = await identityOf(handle, ino);
      if (seen.has(id)) continue;
      seen.add(id);
      const isWanted = id === wanted?.id;
      if (!isFound && !isWanted) continue;
      isFound = true;
      const end = isWanted ? Math.min(Number(size), wanted.offset) : Number(size);
      const read = await readEntries(handle, end, { limit: limit - entries.length, maxBytes: bytesLeft });
      entries.push(...read.entries);
      bytesLeft -= read.bytes;
      const isLast = at + 1 >= paths.length;
      if (read.from > 0 || ((entries.length >= limit || bytesLeft <= 0) && !isLast)) {
        return { entries, next: `${id}-${read.from}` };
      }
    } finally {
      await handle?.close();
    }
  }
  return isFound ? { entries } : undefined;
}

interface Read {
  readonly entries: readonly RecordedEntry[];
  /** Everything that is older ends here. */
  readonly from: number;
  readonly bytes: number;
}

async function readEntries(
  handle: FileHandle,
  end: number,
  { limit, maxBytes }: { readonly limit: number; readonly maxBytes: number },
): Promise<Read> {
  const entries: RecordedEntry[] = [];
  // Newest first, each the rest of a line whose beginning stands further up.
  let tail: Buffer[] = [];
  let whole = end;
  let at = end;
  const take = (line: Buffer, start: number): boolean => {
    entries.push(...entryOf(Buffer.concat([line, ...tail.toReversed()]).toString('utf8')));
    tail = [];
    whole = start;
    return entries.length >= limit;
  };
  while (at > 0 && end - at < maxBytes) {
    const from = Math.max(0, at - CHUNK_BYTES);
    const chunk = Buffer.alloc(at - from);
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, from);
    // It was made shorter meanwhile.
    if (bytesRead < chunk.length) return { entries, from: 0, bytes: end - from };
    let to = chunk.length;
    for (let feed = chunk.lastIndexOf(LINE_FEED); feed >= 0; ) {
      if (take(chunk.subarray(feed + 1, to), from + feed + 1)) return { entries, from: whole, bytes: end - from };
      to = feed;
      feed = feed === 0 ? -1 : chunk.lastIndexOf(LINE_FEED, feed - 1);
    }
    tail.push(chunk.subarray(0, to));
    at = from;
    if (at === 0) take(Buffer.alloc(0), 0);
  }
  // A line longer than `maxBytes` was not written by an audit: the next page begins inside that line.
  return { entries, from: whole < end ? whole : at, bytes: end - at };
}

/**
 * Stays when a file is renamed and when lines are appended. The inode alone would not do: its number is given to a new
 * file soon after the old one was removed.
 */
async function identityOf(handle: FileHandle, inode: bigint): Promise<string> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  const head = buffer.subarray(0, bytesRead);
  const feed = head.indexOf(LINE_FEED);
  const line = (feed < 0 ? head : head.subarray(0, feed)).toString('latin1');
  return hash('sha256', `${inode}:${line}`, 'hex').slice(0, 12);
}

async function openIfThere(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Torn lines and those of another hand are passed over. */
function entryOf(line: string): readonly RecordedEntry[] {
  if (line === '') return [];
  try {
    const entry: unknown = JSON.parse(line);
    return isEntry(entry) ? [entry] : [];
  } catch {
    return [];
  }
}

function isEntry(value: unknown): value is RecordedEntry {
  if (typeof value !== 'object' || value === null) return false;
  const { atMs, action, by, result } = value as Readonly<Record<string, unknown>>;
  return [action, by, result].every((text) => typeof text === 'string') && typeof atMs === 'number';
}
