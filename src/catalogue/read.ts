import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Attribute, Document } from '../search/domain.ts';
import { type ColumnUse, checkHeader, createColumns } from './columns.ts';
import { csvRows, linesOf, textOf } from './csv.ts';
import { CatalogueError, RowFault, shown } from './error.ts';
import { documentOf, type RawRow } from './row.ts';

export interface RowOptions {
  /** With each good row, before it is given. */
  readonly onRow?: (progress: ReadProgress) => void;
  /** Bad rows skipped before one is an error: 0 by default. */
  readonly maxBadRows?: number;
  /** Each row skipped, as the error it would have been. */
  readonly onBadRow?: (error: CatalogueError) => void;
  /** Longest line, or CSV row: 1 MiB by default. */
  readonly maxLineBytes?: number;
  readonly signal?: AbortSignal;
}

export interface ReadOptions extends RowOptions {
  /** The attributes that the domain declares. Other columns are ignored and reported to `onColumns`. */
  readonly attributes: readonly Attribute[];
  /** After the last row: how the columns were used. */
  readonly onColumns?: (use: ColumnUse) => void;
}

export interface ReadProgress {
  readonly rows: number;
  /** Where the row began, from 1. */
  readonly line: number;
  readonly badRows: number;
  /** Bytes of the file on disk, packed or not; reading runs somewhat ahead of the row. */
  readonly bytesRead: number;
  readonly totalBytes: number;
}

const MAX_LINE_BYTES = 1024 * 1024;

/**
 * The documents of a user's catalogue, streamed: `.ndjson`, `.jsonl`, or `.csv` or `.tsv` with a header row, each also
 * `.gz`. Duplicate ids are not looked for: that would take memory for all of them, and the index knows.
 * @throws CatalogueError with file, line, field, what is wrong and what is allowed; the signal's reason when aborted.
 */
export async function* readCatalogue(file: string, options: ReadOptions): AsyncGenerator<Document, void, undefined> {
  const { attributes, onColumns } = options;
  const columns = createColumns(attributes);
  yield* readRows(file, options, {
    checkHeader: (names) => checkHeader(names, attributes),
    take: (row) => documentOf(columns.fieldsOf(row), attributes),
    columnOf: columns.columnOf,
  });
  onColumns?.(columns.use());
}

export interface RowReader<Taken> {
  /** @throws RowFault for a CSV header that will not do. */
  readonly checkHeader: (columns: readonly string[]) => void;
  /** @throws RowFault for a row that will not do. */
  readonly take: (row: Readonly<Record<string, unknown>>) => Taken;
  /** The column of a field that is at fault: people look for it in their file. */
  readonly columnOf?: (field: string) => string | undefined;
}

/** The rows of a catalogue, each as `take` returns it. @throws CatalogueError as `readCatalogue`. */
export async function* readRows<Taken>(
  file: string,
  { signal, maxBadRows = 0, maxLineBytes = MAX_LINE_BYTES, onRow, onBadRow }: RowOptions,
  { checkHeader, take, columnOf = () => undefined }: RowReader<Taken>,
): AsyncGenerator<Taken, void, undefined> {
  signal?.throwIfAborted();
  const source = await openSource(file, signal);
  const raw =
    source.format === 'csv'
      ? csvRows(source.chunks, maxLineBytes, checkHeader)
      : ndjsonRows(source.chunks, maxLineBytes);
  let rows = 0;
  let badRows = 0;
  for await (const row of raw) {
    signal?.throwIfAborted();
    let taken: Taken;
    try {
      taken = take(row.read());
    } catch (error) {
      if (!(error instanceof RowFault)) throw error;
      const { field } = error;
      const located = new CatalogueError(file, error.message, {
        line: row.line,
        ...(field === undefined ? {} : { field: columnOf(field) ?? field }),
      });
      badRows += 1;
      if (row.fatal === true || badRows > maxBadRows) throw located;
      onBadRow?.(located);
      continue;
    }
    rows += 1;
    const { line } = row;
    onRow?.({ rows, badRows, line, bytesRead: source.bytesRead(), totalBytes: source.totalBytes });
    yield taken;
  }
}

/** Rows of newline-delimited JSON: one object per line, blank lines skipped. */
export async function* ndjsonRows(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<RawRow, void, undefined> {
  for await (const { number, bytes } of linesOf(chunks, maxBytes)) {
    if (bytes === undefined) {
      yield {
        line: number,
        read: () => {
          throw new RowFault(`longer than ${maxBytes} bytes`);
        },
      };
    } else if (!isBlank(bytes)) {
      yield { line: number, read: () => objectOf(textOf(bytes)) };
    }
  }
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RowFault(`not JSON: ${shown(text)}; allowed: one object per line`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RowFault(`${shown(value)} is not an object; allowed: one object per line`);
  }
  return value as Readonly<Record<string, unknown>>;
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

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
