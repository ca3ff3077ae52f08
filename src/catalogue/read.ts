import type { Document } from '../search/document.ts';
import type { Attribute } from '../search/domain.ts';
import { csvRows } from './csv.ts';
import { CatalogueError, RowFault } from './error.ts';
import { ndjsonRows } from './ndjson.ts';
import { documentOf } from './row.ts';
import { openSource } from './source.ts';

export interface ReadOptions {
  /** What the domain declares: other fields of a row are ignored. */
  readonly attributes: readonly Attribute[];
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

export interface ReadProgress {
  readonly rows: number;
  /** Where the row began, from 1. */
  readonly line: number;
  readonly badRows: number;
  /** Of the file as it lies on disk, packed or not; reading runs somewhat ahead of the row. */
  readonly bytesRead: number;
  readonly totalBytes: number;
}

const MAX_LINE_BYTES = 1024 * 1024;

/**
 * The documents of a user's catalogue, streamed: `.ndjson`, `.jsonl` or `.csv` with a header row, each also `.gz`.
 * Duplicate ids are not looked for: that would take memory for all of them, and the index knows.
 * @throws CatalogueError with file, line, field, what is wrong and what is allowed; the signal's reason when aborted.
 */
export async function* readCatalogue(file: string, options: ReadOptions): AsyncGenerator<Document, void, undefined> {
  const { attributes, signal, maxBadRows = 0, maxLineBytes = MAX_LINE_BYTES } = options;
  signal?.throwIfAborted();
  const source = await openSource(file, signal);
  const raw = source.format === 'csv' ? csvRows(source.chunks, maxLineBytes) : ndjsonRows(source.chunks, maxLineBytes);
  let rows = 0;
  let badRows = 0;
  for await (const row of raw) {
    signal?.throwIfAborted();
    let document: Document;
    try {
      document = documentOf(row.read(), attributes, source.format);
    } catch (error) {
      if (!(error instanceof RowFault)) throw error;
      const located = new CatalogueError(file, error.message, {
        line: row.line,
        ...(error.field === undefined ? {} : { field: error.field }),
      });
      badRows += 1;
      if (row.fatal === true || badRows > maxBadRows) throw located;
      options.onBadRow?.(located);
      continue;
    }
    rows += 1;
    const { line } = row;
    options.onRow?.({ rows, badRows, line, bytesRead: source.bytesRead(), totalBytes: source.totalBytes });
    yield document;
  }
}
