import type { Attribute, Document } from '../search/domain.ts';
import { type ColumnUse, checkHeader, createColumns } from './columns.ts';
import { csvRows } from './csv.ts';
import { linesOf, openCatalogueFile, textOf } from './file.ts';
import { CatalogueError, documentOf, type RawRow, RowFault, shown } from './row.ts';

export interface RowOptions {
  /** Called with each good row, before the row is yielded. */
  readonly onRow?: (progress: ReadProgress) => void;
  /** Maximum number of bad rows that are skipped; one more is an error. 0 by default. */
  readonly maxBadRows?: number;
  /** Called with the error of each skipped row. */
  readonly onBadRow?: (error: CatalogueError) => void;
  /** Maximum length of a line or a CSV row: 1 MiB by default. */
  readonly maxLineBytes?: number;
  readonly signal?: AbortSignal;
}

export interface ReadOptions extends RowOptions {
  /** The attributes that the domain declares. Other columns are ignored and reported to `onColumns`. */
  readonly attributes: readonly Attribute[];
  /** Called after the last row. */
  readonly onColumns?: (use: ColumnUse) => void;
}

export interface ReadProgress {
  readonly rows: number;
  /** The line on which the row begins, from 1. */
  readonly line: number;
  readonly badRows: number;
  /** Bytes read from the disk, before unpacking. Reading runs somewhat ahead of the row. */
  readonly bytesRead: number;
  readonly totalBytes: number;
}

const MAX_LINE_BYTES = 1024 * 1024;

/**
 * Streams the documents of a user's catalogue: `.ndjson`, `.jsonl`, or `.csv` or `.tsv` with a header row, each also
 * `.gz`. Duplicate ids are not detected here: that would hold all ids in memory, and the index detects them.
 * @throws CatalogueError with file, line, field, the fault and what is allowed; the signal's reason when aborted.
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

interface RowReader<Taken> {
  /** @throws RowFault for a wrong CSV header. */
  readonly checkHeader: (columns: readonly string[]) => void;
  /** @throws RowFault for a wrong row. */
  readonly take: (row: Readonly<Record<string, unknown>>) => Taken;
  /** The column of a field, so that a fault names what stands in the file. */
  readonly columnOf?: (field: string) => string | undefined;
}

/** The rows of a catalogue, each as `take` returns it. @throws CatalogueError as `readCatalogue`. */
export async function* readRows<Taken>(
  file: string,
  { signal, maxBadRows = 0, maxLineBytes = MAX_LINE_BYTES, onRow, onBadRow }: RowOptions,
  { checkHeader, take, columnOf = () => undefined }: RowReader<Taken>,
): AsyncGenerator<Taken, void, undefined> {
  signal?.throwIfAborted();
  const source = await openCatalogueFile(file, signal);
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
async function* ndjsonRows(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<RawRow, void, undefined> {
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
