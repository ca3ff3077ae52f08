import type { Document } from '../search/document.ts';
import type { Attribute } from '../search/domain.ts';
import { type ColumnUse, checkHeader, createColumns } from './columns.ts';
import { csvRows } from './csv.ts';
import { CatalogueError, RowFault } from './error.ts';
import { ndjsonRows } from './ndjson.ts';
import { documentOf } from './row.ts';
import { openSource } from './source.ts';

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
