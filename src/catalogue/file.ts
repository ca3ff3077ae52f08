import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CatalogueError, RowFault } from './row.ts';

/** The bytes of a file; a file named `.gz` is unpacked. */
interface FileBytes {
  readonly chunks: AsyncIterable<Buffer>;
  /** Bytes read from the disk so far, before unpacking. */
  readonly bytesRead: () => number;
}

/** Reading rejects with a message that names the file, or with the signal's reason when it is aborted. */
export function fileBytes(file: string, signal: AbortSignal): FileBytes {
  const { chunks, bytesRead } = openBytes(file, signal);
  async function* named(): AsyncGenerator<Buffer, void, undefined> {
    try {
      yield* chunks;
    } catch (cause) {
      signal.throwIfAborted();
      throw new Error(`${file} cannot be read: ${cause instanceof Error ? cause.message : cause}`, { cause });
    }
  }
  return { chunks: named(), bytesRead };
}

/** The bytes of a catalogue file, unpacked, without a byte order mark. */
interface CatalogueFile extends FileBytes {
  readonly format: 'json' | 'csv';
  /** Size of the file on disk, before unpacking: progress is `bytesRead` divided by it. */
  readonly totalBytes: number;
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
/** Byte order marks of UTF-16. Spreadsheets write it when they save "Unicode text". */
const UTF16_BOMS = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])];

/** @throws CatalogueError for a name of unknown format and for a file that cannot be read. */
export async function openCatalogueFile(file: string, signal: AbortSignal | undefined): Promise<CatalogueFile> {
  const match = /\.(ndjson|jsonl|csv|tsv)(\.gz)?$/i.exec(file);
  if (match === null)
    throw new CatalogueError(file, 'unknown format; allowed: .ndjson, .jsonl, .csv or .tsv, each also with .gz');
  const format = /^[ct]sv$/i.test(match[1] ?? '') ? 'csv' : 'json';
  const about = await stat(file).catch((cause: unknown) => {
    throw new CatalogueError(file, `cannot be read: ${reasonOf(cause)}`, {}, { cause });
  });
  if (!about.isFile()) throw new CatalogueError(file, 'not a file');

  const { chunks, bytesRead } = openBytes(file, signal);
  async function* withoutMark(): AsyncGenerator<Buffer, void, undefined> {
    let head: Buffer | undefined = Buffer.alloc(0);
    try {
      for await (const chunk of chunks) {
        if (head === undefined) {
          yield chunk;
          continue;
        }
        head = Buffer.concat([head, chunk]);
        if (head.length < BOM.length) continue;
        checkNotUtf16(file, head);
        yield withoutBom(head);
        head = undefined;
      }
      if (head !== undefined && head.length > 0) yield withoutBom(head);
    } catch (cause) {
      signal?.throwIfAborted();
      if (cause instanceof CatalogueError) throw cause;
      throw new CatalogueError(file, `cannot be read: ${reasonOf(cause)}`, {}, { cause });
    }
  }
  return { format, chunks: withoutMark(), totalBytes: about.size, bytesRead };
}

/** Reading rejects with the error of the file system or of gzip. The file is closed when reading ends early. */
function openBytes(file: string, signal: AbortSignal | undefined): FileBytes {
  const raw = createReadStream(file, signal === undefined ? {} : { signal });
  // pipeline(), unlike pipe(), passes the errors of `raw` on: without that, the loop below would wait forever.
  const unpacked = /\.gz$/i.test(file) ? pipeline(raw, createGunzip(), () => undefined) : raw;
  async function* chunks(): AsyncGenerator<Buffer, void, undefined> {
    try {
      for await (const chunk of unpacked as AsyncIterable<Buffer>) yield chunk;
    } finally {
      raw.destroy();
    }
  }
  return { chunks: chunks(), bytesRead: () => raw.bytesRead };
}

/** Without this check a UTF-16 file would fail with a misleading message, because every other byte is NUL. */
function checkNotUtf16(file: string, head: Buffer): void {
  if (UTF16_BOMS.some((mark) => head.subarray(0, mark.length).equals(mark))) {
    throw new CatalogueError(file, 'saved as UTF-16; allowed: text saved as UTF-8');
  }
}

function withoutBom(bytes: Buffer): Buffer {
  return bytes.subarray(0, BOM.length).equals(BOM) ? bytes.subarray(BOM.length) : bytes;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EACCES: 'no permission',
  Z_DATA_ERROR: 'damaged, or not packed with gzip',
  Z_BUF_ERROR: 'the packed file ends too early',
};

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return REASONS[code] ?? (cause instanceof Error ? cause.message : String(cause));
}

/** One line of a file, without its line end. */
interface Line {
  /** From 1. */
  readonly number: number;
  /** Absent for a line longer than the maximum; such a line is not kept. */
  readonly bytes?: Buffer;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/**
 * Lines of a byte stream; a line ends with LF or CRLF. Holds one chunk and at most `maxBytes` of an unfinished line.
 */
export async function* linesOf(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Line, void, undefined> {
  let number = 1;
  let kept: Buffer[] = [];
  let keptBytes = 0;
  const keep = (part: Buffer): void => {
    keptBytes += part.length;
    // Beyond the maximum only the length is counted; the line is reported at its end.
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

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @throws RowFault when the bytes are not UTF-8. */
export function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new RowFault('not valid UTF-8; allowed: text saved as UTF-8');
  }
}
