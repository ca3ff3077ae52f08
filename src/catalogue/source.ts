import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CatalogueError } from './error.ts';

/** The bytes of a catalogue file, unpacked, without a byte order mark. */
export interface Source {
  readonly format: 'json' | 'csv';
  readonly chunks: AsyncIterable<Buffer>;
  /** The file has this size on disk, packed or not: progress is measured against it. */
  readonly totalBytes: number;
  readonly bytesRead: () => number;
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
/** Byte order marks of UTF-16, in which spreadsheets save "Unicode text". */
const UTF16_BOMS = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])];

/** @throws CatalogueError for a name of no known format and for a file that cannot be read. */
export async function openSource(file: string, signal: AbortSignal | undefined): Promise<Source> {
  const match = /\.(ndjson|jsonl|csv|tsv)(\.gz)?$/i.exec(file);
  if (match === null)
    throw new CatalogueError(file, 'unknown format; allowed: .ndjson, .jsonl, .csv or .tsv, each also with .gz');
  const format = /^[ct]sv$/i.test(match[1] ?? '') ? 'csv' : 'json';
  const about = await stat(file).catch((cause: unknown) => {
    throw new CatalogueError(file, `cannot be read: ${reason(cause)}`, {}, { cause });
  });
  if (!about.isFile()) throw new CatalogueError(file, 'not a file');

  const raw = createReadStream(file, signal === undefined ? {} : { signal });
  const stream = match[2] === undefined ? raw : pipeline(raw, createGunzip(), () => undefined);
  async function* chunks(): AsyncGenerator<Buffer, void, undefined> {
    let head: Buffer | undefined = Buffer.alloc(0);
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
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
      throw new CatalogueError(file, `cannot be read: ${reason(cause)}`, {}, { cause });
    } finally {
      raw.destroy();
    }
  }
  return { format, chunks: chunks(), totalBytes: about.size, bytesRead: () => raw.bytesRead };
}

/** Its header would be refused for odd reasons: every other byte is NUL. */
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

function reason(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return REASONS[code] ?? (cause instanceof Error ? cause.message : String(cause));
}
