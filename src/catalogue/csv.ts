import { CsvError, type Parser, parse } from 'csv-parse';
import { RowFault, shown } from './error.ts';
import type { RawRow } from './row.ts';

/**
 * Rows of CSV text with a header. The delimiter is whichever of comma, semicolon and tab the header holds most of,
 * outside of quotes: spreadsheets disagree. A quoted cell may span lines; a row is named by the line it begins on.
 * @param checkHeader throws a RowFault for a header that lacks a column.
 */
export async function* csvRows(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
  checkHeader: (columns: readonly string[]) => void,
): AsyncGenerator<RawRow, void, undefined> {
  const [head, all] = await peek(chunks);
  const ready: RawRow[] = [];
  let columns: readonly string[] | undefined;
  // Counted here: csv-parse takes a CRLF inside quotes for two lines.
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
  const parser = parse({
    delimiter: delimiterOf(head),
    // One character per byte: cells are decoded here, so that bad UTF-8 is an error of its row, not a silent U+FFFD.
    // (`encoding: null` would give bytes, but its error path throws on them.)
    encoding: 'latin1',
    raw: true,
    // Counted here, where the row can be named and skipped.
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: maxBytes,
    // Taken as they are parsed, not read from the stream: an error destroys the stream and the good rows before it.
    on_record: (parsed) => {
      take(parsed as unknown as Parsed);
      return null;
    },
  });
  // Each error reaches the callback of its write; without a listener the event would also end the process.
  parser.on('error', () => undefined);
  try {
    for await (const chunk of withEnd(all)) {
      const error = await feed(parser, chunk);
      yield* ready.splice(0);
      if (error !== undefined) return yield broken(nextLine, new RowFault(problemOf(error, maxBytes)));
    }
  } finally {
    parser.destroy();
  }
  if (columns === undefined) yield broken(1, new RowFault('no header row; allowed: column names, then rows'));
}

/** The parser's complaint, if it has one, once it has taken the chunk; no chunk is the end. */
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
  /** As it stood in the file, with the blank lines before it and its end mark. */
  readonly raw: string;
}

/** A fault after which nobody can tell where, or what, the next row is. */
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

/** Outside of quotes, in the first line that is not blank. On a tie the comma yields: names hold it more often. */
function delimiterOf(head: Buffer): string {
  const bare = head.toString('latin1').replace(/"(?:[^"]|"")*"/g, '');
  const header = /[^\r\n]+/.exec(bare)?.[0] ?? '';
  const count = (delimiter: string) => header.split(delimiter).length;
  return ['\t', ';', ','].reduce((best, next) => (count(next) > count(best) ? next : best));
}

function newlinesIn(raw: string): number {
  return raw.match(/\r\n|\n|\r/g)?.length ?? 0;
}

/** The first chunk, and the whole stream with it still in front. */
async function peek(chunks: AsyncIterable<Buffer>): Promise<[Buffer, AsyncIterable<Buffer>]> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first = await iterator.next();
  const head = first.done === true ? Buffer.alloc(0) : first.value;
  async function* all(): AsyncGenerator<Buffer, void, undefined> {
    try {
      if (head.length > 0) yield head;
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  return [head, all()];
}

/** One line of a file, without its end mark. `bytes` is absent for a line longer than the bound, which was not kept. */
export interface Line {
  /** From 1. */
  readonly number: number;
  readonly bytes?: Buffer;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** Lines of a byte stream, LF or CRLF. Holds one chunk and at most `maxBytes` of an unfinished line. */
export async function* linesOf(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Line, void, undefined> {
  let number = 1;
  let kept: Buffer[] = [];
  let keptBytes = 0;
  const keep = (part: Buffer): void => {
    keptBytes += part.length;
    // Past the bound only the length goes on growing; the line is reported when its end comes.
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
