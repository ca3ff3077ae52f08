import { hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { AuditPage, AuditPageWish, RecordedEntry } from './audit.ts';
import { rotatedFiles } from './rotation.ts';

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

const LINE_FEED = 0x0a;
