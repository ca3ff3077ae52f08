import { CsvError, type Parser, parse } from 'csv-parse';
import { textOf } from './file.ts';
import { type RawRow, RowFault, shown } from './row.ts';

/**
 * Rows of CSV text with a header. Spreadsheets use different delimiters: the delimiter is the one of comma, semicolon
 * and tab that occurs most often in the header, outside quotes. A quoted cell may span lines; the line of a row is its
 * first line.
 * @param checkHeader throws a RowFault for a header that lacks a column.
 */
export async function* csvRows(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
  checkHeader: (columns: readonly string[]) => void,
): AsyncGenerator<RawRow, void, undefined> {
  const ready: RawRow[] = [];
  let columns: readonly string[] | undefined;
  // Lines are counted here, because csv-parse counts a CRLF inside quotes as two lines.
  let nextLine = 1;
  const take = ({ record, raw }: Parsed): void => {
    const line = nextLine + newlinesIn(/^[\r\n]*/.exec(raw)?.[0] ?? '');
    nextLine += newlinesIn(raw);
    if (columns !== undefined) {
      const names = columns;
      ready.push({ line, read: () => rowOf(record, names) });
      return;
    }
    const header = headerOf(record, checkHeader);
    columns = header instanceof RowFault ? [] : header;
    if (header instanceof RowFault) ready.push(broken(line, header));
  };
  const parserFor = (head: Buffer) =>
    parse({
      delimiter: delimiterOf(head),
      // One character per byte: cells are decoded below, so that bad UTF-8 is an error of its row and not a silent
      // U+FFFD. (`encoding: null` would give bytes, but csv-parse throws a wrong error on them.)
      encoding: 'latin1',
      raw: true,
      // The number of columns is checked below, where the row can be named and skipped.
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: maxBytes,
      // Rows are taken in this callback, not read from the stream: an error destroys the stream with the good rows in it.
      on_record: (parsed) => {
        take(parsed as unknown as Parsed);
        return null;
      },
    });
  let parser: Parser | undefined;
  try {
    for await (const chunk of withEnd(chunks)) {
      if (chunk?.length === 0) continue;
      // Errors reach the callback of `write`. Without a listener, the event of the same error would end the process.
      parser ??= parserFor(chunk ?? Buffer.alloc(0)).on('error', () => undefined);
      const error = await feed(parser, chunk);
      yield* ready.splice(0);
      if (error !== undefined) return yield broken(nextLine, new RowFault(problemOf(error, maxBytes)));
    }
  } finally {
    parser?.destroy();
  }
  if (columns === undefined) yield broken(1, new RowFault('no header row; allowed: column names, then rows'));
}

/** Writes a chunk, or the end when there is none. Resolves with the parser's error, if any. */
function feed(parser: Parser, chunk: Buffer | undefined): Promise<CsvError | undefined> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error | null): void => {
      if (error === undefined || error === null) resolve(undefined);
      else if (error instanceof CsvError) resolve(error);
      else reject(error);
    };
    if (chunk === undefined) parser.end(settle);
    else parser.write(chunk, settle);
  });
}

async function* withEnd(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer | undefined, void, undefined> {
  yield* chunks;
  yield undefined;
}

interface Parsed {
  readonly record: readonly string[];
  /** The text in the file, with the blank lines before it and its line end. */
  readonly raw: string;
}

/** A fault after which the next row cannot be found. */
function broken(line: number, fault: RowFault): RawRow {
  return {
    line,
    fatal: true,
    read: () => {
      throw fault;
    },
  };
}

function headerOf(
  cells: readonly string[],
  checkHeader: (columns: readonly string[]) => void,
): readonly string[] | RowFault {
  try {
    const columns = cells.map((cell) => textOf(Buffer.from(cell, 'latin1')).trim());
    checkHeader(columns);
    const twice = columns.find((column, index) => column !== '' && columns.indexOf(column) !== index);
    return twice === undefined ? columns : new RowFault('twice in the header; allowed: once', twice);
  } catch (error) {
    if (error instanceof RowFault) return error;
    throw error;
  }
}

function rowOf(cells: readonly string[], columns: readonly string[]): Readonly<Record<string, unknown>> {
  if (cells.length !== columns.length) {
    throw new RowFault(`${cells.length} columns; allowed: ${columns.length}, as in the header`);
  }
  return Object.fromEntries(columns.map((column, index) => [column, cellText(column, cells[index] ?? '')]));
}

function cellText(column: string, cell: string): string {
  try {
    return textOf(Buffer.from(cell, 'latin1'));
  } catch (error) {
    throw error instanceof RowFault ? new RowFault(error.message, column) : error;
  }
}

const PROBLEMS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened and never closed',
  CSV_INVALID_CLOSING_QUOTE: 'text after a closing quote; a quote inside a quoted cell is written twice',
  INVALID_OPENING_QUOTE: 'a quote inside a cell that does not begin with one; quote the whole cell and write it twice',
};

function problemOf(error: CsvError, maxBytes: number): string {
  if (error.code === 'CSV_MAX_RECORD_SIZE')
    return `the row is longer than ${maxBytes} bytes, or a quote is never closed`;
  return PROBLEMS[error.code] ?? `not CSV: ${shown(error.message)}`;
}

/**
 * Counts outside quotes in the first line that is not blank. On a tie the comma loses: column names hold it more often.
 */
function delimiterOf(head: Buffer): string {
  const bare = head.toString('latin1').replace(/"(?:[^"]|"")*"/g, '');
  const header = /[^\r\n]+/.exec(bare)?.[0] ?? '';
  const count = (delimiter: string) => header.split(delimiter).length;
  return ['\t', ';', ','].reduce((best, next) => (count(next) > count(best) ? next : best));
}

function newlinesIn(raw: string): number {
  return raw.match(/\r\n|\n|\r/g)?.length ?? 0;
}
