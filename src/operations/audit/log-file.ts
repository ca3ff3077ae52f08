import { hash, randomUUID } from 'node:crypto';
import { constants, type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export interface Rotation {
  /** Maximum size of a file, plus the writes of other processes while this one writes a batch (1 MiB at most). */
  readonly maxBytes: number;
  /** Full files kept beside the current one; the oldest are removed. At least 1. */
  readonly keep: number;
}

/** Which part of the log to read. */
export interface PageRequest {
  /** Maximum number of entries. */
  readonly limit: number;
  /** The `next` of the page before; absent: the newest entries. */
  readonly before?: string;
}

export interface LogPage<Entry> {
  /** Newest first. */
  readonly entries: readonly Entry[];
  /** The cursor of older entries. Absent: there are none. A page without entries may have one too. */
  readonly next?: string;
}

/** `<file>-<offset>`: the lines that end before the offset follow; for the file see `identityOf`. */
export const CURSOR = /^[0-9a-f]{12}-[0-9]{1,15}$/;

const LINE_FEED = 0x0a;
const CHUNK_BYTES = 64 * 1024;
/** Maximum number of bytes read for one page, even if the page then has fewer entries than requested. */
const MAX_PAGE_BYTES = 4 * 2 ** 20;
/** The start of a file's first line, which identifies the file. The line begins with a time and an action. */
const HEAD_BYTES = 128;

/**
 * Appends each line by its own write, so that processes that share a file never mix their lines. The file is opened again for
 * each batch, so that a log rotator or another process may move it away. A file that the next line would make larger than
 * `maxBytes` is rotated first.
 * @returns `written`: number of lines, from the first; `fault`: why the others were not; `rotationFault`: why the full file was not
 * rotated, to which the lines are written nevertheless
 */
export async function appendLines(file: string, rotation: Rotation, lines: readonly string[]) {
  let written = 0;
  let rotationFault: Error | undefined;
  let opened: Opened | undefined;
  const ended = (fault?: Error) => ({ written, fault, rotationFault });
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

type Opened = Awaited<ReturnType<typeof openToAppend>>;

/** A FIFO without a reader refuses the write. Otherwise the write would hold a thread, and with it the end of the process. */
const { O_NONBLOCK } = constants;
const TO_APPEND = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | O_NONBLOCK;

/**
 * `id`: the inode, which tells the file from a later one of the same name. `isTorn`: the file ends with half a line, as after a full
 * disk or a crash, and the next line must not become part of it.
 */
async function openToAppend(file: string) {
  const handle = await open(file, TO_APPEND, 0o600);
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

/**
 * `audit.ndjson` becomes `audit.ndjson.000001-3f2c9a1e`; the next full file is 000002. It is a number and not a time, so that
 * a stepped clock does not change the order. The random suffix keeps two processes that rotate at the same time from choosing
 * the same name, which would replace a file.
 */
const ROTATED_SUFFIX = /^\.(\d{6,12})-[0-9a-f]{8}$/;

/** Full files, newest first. */
async function rotatedFiles(file: string): Promise<readonly string[]> {
  const folder = dirname(file);
  return (await numbered(file)).map(({ name }) => join(folder, name));
}

/**
 * Moves the file away under the next number, by one rename: a process that has it open goes on writing to it, so no line is
 * lost. Does nothing when another process has moved the file already. Another rotation between this check and the rename
 * gives a small file a number of its own.
 * @param id the inode of the full file
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
    const number = name.startsWith(base) ? ROTATED_SUFFIX.exec(name.slice(base.length))?.[1] : undefined;
    return number === undefined ? [] : [{ name, number: Number(number) }];
  });
  return found.toSorted((a, b) => b.number - a.number || (a.name < b.name ? 1 : -1));
}

/**
 * A page of entries, newest first, from the current file and then from the rotated ones. Reads backwards from the end, so the
 * size of the files does not matter. Undefined: the cursor is invalid, or its file is gone.
 * @param isEntry lines that are not JSON, or not an entry, are left out
 * @throws when a file cannot be read
 */
export async function readBack<Entry>(
  file: string,
  { limit, before }: PageRequest,
  isEntry: (value: unknown) => value is Entry,
): Promise<LogPage<Entry> | undefined> {
  if (before !== undefined && !CURSOR.test(before)) return undefined;
  const [id = '', offset] = before?.split('-') ?? [];
  const wanted = before === undefined ? undefined : { id, offset: Number(offset) };
  const entries: Entry[] = [];
  const seen = new Set<string>();
  let isFound = wanted === undefined;
  let bytesLeft = MAX_PAGE_BYTES;

  // The current file is opened before the others are listed: if it is rotated meanwhile, it is found twice and not missed.
  let paths: readonly string[] | undefined;
  for (let at = -1; at < (paths?.length ?? 0); at += 1) {
    const handle = await openIfThere(at < 0 ? file : (paths?.[at] ?? file));
    try {
      paths ??= await rotatedFiles(file).catch(() => []);
      if (handle === undefined) continue;
      const { ino, size } = await handle.stat({ bigint: true });
      const identity = await identityOf(handle, ino);
      if (seen.has(identity)) continue;
      seen.add(identity);
      const isWanted = identity === wanted?.id;
      if (!isFound && !isWanted) continue;
      isFound = true;
      const end = isWanted ? Math.min(Number(size), wanted.offset) : Number(size);
      const read = await readEntries(handle, end, { limit: limit - entries.length, maxBytes: bytesLeft, isEntry });
      entries.push(...read.entries);
      bytesLeft -= read.bytes;
      const isLast = at + 1 >= paths.length;
      if (read.from > 0 || ((entries.length >= limit || bytesLeft <= 0) && !isLast)) {
        return { entries, next: `${identity}-${read.from}` };
      }
    } finally {
      await handle?.close();
    }
  }
  return isFound ? { entries } : undefined;
}

interface ReadOptions<Entry> {
  readonly limit: number;
  readonly maxBytes: number;
  readonly isEntry: (value: unknown) => value is Entry;
}

/** Reads backwards from `end`. `from` of the result: the offset at which the older lines end. */
async function readEntries<Entry>(handle: FileHandle, end: number, { limit, maxBytes, isEntry }: ReadOptions<Entry>) {
  const entries: Entry[] = [];
  // The parts of a line whose start was not read yet, the last part first.
  let tail: Buffer[] = [];
  let whole = end;
  let at = end;
  const take = (line: Buffer, start: number): boolean => {
    const value = parsed(Buffer.concat([line, ...tail.toReversed()]).toString('utf8'));
    if (isEntry(value)) entries.push(value);
    tail = [];
    whole = start;
    return entries.length >= limit;
  };
  while (at > 0 && end - at < maxBytes) {
    const from = Math.max(0, at - CHUNK_BYTES);
    const chunk = Buffer.alloc(at - from);
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, from);
    // The file was truncated meanwhile.
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
  // No audit line is longer than `maxBytes`. If another program wrote a longer one, the next page begins inside that
  // line.
  return { entries, from: whole < end ? whole : at, bytes: end - at };
}

/**
 * Identifies a file after renames and appended lines. The inode alone is not enough: its number is soon given to a new file
 * after the old one was removed.
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
    return await open(file, constants.O_RDONLY | O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Undefined for half a line and for other text that is not JSON. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
