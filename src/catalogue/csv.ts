import { CsvError, type Parser, parse } from 'csv-parse';
import { isUsualName } from './columns.ts';
import { MAX_ROW_BYTES, utf8Text } from './file.ts';
import { faultyRow, orFault, type RawRow, RowFault, shown, type TakeNote } from './row.ts';

/**
 * Rows of text with a header, as spreadsheets write it. The line of a row is its first: a cell may span some.
 * @param onHeader takes the names of the columns, and throws a RowFault for a header that lacks a column
 */
export async function* csvRows(
  chunks: AsyncGenerator<Buffer, void, undefined>,
  onHeader: (columns: readonly string[]) => void,
  onNote: TakeNote,
): AsyncGenerator<RawRow, void, undefined> {
  const first = (await chunks.next()).value ?? Buffer.alloc(0);
  const dialect = dialectOf(first.toString('latin1'));
  const ready: RawRow[] = [];
  let columns: readonly string[] | undefined;
  // Lines are counted here, because csv-parse counts a CRLF inside quotes as two lines.
  let nextLine = 1 + newlinesIn(dialect.named);
  const take = ({ record, raw }: Parsed): void => {
    const line = nextLine + newlinesIn(/^[\r\n]*/.exec(raw)?.[0] ?? '');
    nextLine += newlinesIn(raw);
    // Spreadsheets write a blank row as delimiters.
    if (record.every((cell) => cell.trim() === '')) return;
    if (columns !== undefined) {
      const names = columns;
      const cells = dialect.isDump ? record.map(unescaped) : record;
      if (!dialect.isDump && raw.includes('"') && !/""|\\"/.test(raw) && cells.some((cell) => cell.includes('"'))) {
        onNote('quotes inside a cell were read as they stand');
      }
      ready.push({ line, read: () => rowOf(cells, names, onNote) });
      return;
    }
    columns = [];
    const header = orFault(() => {
      columns = columnsOf(record, onNote);
      onHeader(columns);
    });
    if (header instanceof RowFault) ready.push(faultyRow(line, header, true));
  };
  const parser: Parser = parse({
    // A space behind a comma is no part of the cell. (`ltrim` takes `(`, `/` and `_` for spaces in latin1.)
    delimiter: dialect.delimiter === '\t' ? '\t' : [`${dialect.delimiter} `, dialect.delimiter],
    quote: dialect.isDump ? false : '"',
    escape: dialect.escape,
    // One character per byte: cells are decoded below, so that bad UTF-8 is an error of its row and not a silent
    // U+FFFD. (`encoding: null` would give bytes, but csv-parse throws a wrong error on them.)
    encoding: 'latin1',
    raw: true,
    // Two programs may have written to one file.
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_quotes: true,
    // The number of columns is checked below, where the row can be named and skipped.
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_ROW_BYTES,
    // Rows are taken in this callback, not read from the stream: an error destroys the stream with the good rows in it.
    on_record: (parsed) => {
      take(parsed as unknown as Parsed);
      return null;
    },
  });
  // Errors reach the callback of `write`. Without a listener, the event of the same error would end the process.
  parser.on('error', () => undefined);
  async function* rest(): AsyncGenerator<Buffer, void, undefined> {
    yield first.subarray(dialect.named.length);
    yield* chunks;
  }
  try {
    for await (const chunk of withEnd(dialect.isDump ? lettered(rest()) : rest())) {
      if (chunk?.length === 0) continue;
      const error = await feed(parser, chunk);
      yield* ready.splice(0);
      if (error !== undefined) return yield faultyRow(nextLine, new RowFault(problemOf(error)), true);
    }
  } finally {
    parser.destroy();
    await chunks.return();
  }
  if (columns === undefined) yield faultyRow(1, new RowFault('no header row; allowed: column names, then rows'), true);
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

/**
 * The delimiter is named by a first line `sep=;`, or is the one of comma, semicolon, tab and | that divides the first line
 * that is not blank into the most usual names, else the one that occurs most often in it, outside quotes; on a tie the comma
 * loses: column names hold it more often. Text with
 * tabs and the NULL of a database is escaped with backslashes and never quoted (COPY of PostgreSQL, SELECT INTO OUTFILE
 * of MySQL). MySQL writes `\"` inside quotes, all others `""`.
 */
function dialectOf(head: string) {
  const [named = '', sign = ''] = /^[\r\n]*sep=(.)\r?\n/i.exec(head) ?? [];
  const header = /[^\r\n]+/.exec(head.replace(/"(?:[^"]|"")*"/g, ''))?.[0] ?? '';
  const count = (delimiter: string): number => {
    const names = header.split(delimiter);
    return names.length + header.length * names.filter(isUsualName).length;
  };
  const delimiter = sign || ['\t', ';', '|', ','].reduce((best, next) => (count(next) > count(best) ? next : best));
  const isDump = delimiter === '\t' && /[\t\n]\\N(?=[\t\r\n]|$)/.test(head);
  return {
    named,
    delimiter,
    isDump,
    escape: /\\"[^,;\t|\r\n]/.test(head) && !/[^,;\t|\r\n]""|""[^,;\t|\r\n]/.test(head) ? '\\' : '"',
  };
}

const LETTERS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', 0: '\0' };

/** MySQL escapes tabs and line ends with a backslash before them, PostgreSQL with a letter: here all get the letter. */
async function* lettered(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let held = '';
  for await (const chunk of chunks) {
    const text = held + chunk.toString('latin1');
    held = /(?<!\\)(?:\\\\)*\\$/.test(text) ? '\\' : '';
    const whole = text.slice(0, text.length - held.length);
    yield Buffer.from(
      whole.replaceAll(/\\[\s\S]/g, (pair) => LETTER_OF[pair] ?? pair),
      'latin1',
    );
  }
  yield Buffer.from(held);
}

const LETTER_OF: Readonly<Record<string, string>> = { '\\\t': '\\t', '\\\n': '\\n', '\\\r': '\\r' };

function unescaped(cell: string): string {
  return cell === '\\N' ? cell : cell.replaceAll(/\\(.)/g, (_, sign: string) => LETTERS[sign] ?? sign);
}

/** The names of the columns; a repeated name gets a number. */
function columnsOf(cells: readonly string[], onNote: TakeNote): readonly string[] {
  const columns: string[] = [];
  for (const cell of cells) {
    const name = utf8Text(Buffer.from(cell, 'latin1')).replaceAll(/\s+/g, ' ').trim();
    let own = name;
    for (let times = 2; name !== '' && columns.includes(own); times += 1) own = `${name}_${times}`;
    if (own !== name) onNote(`${shown(name)} is in the header again: that column was read as ${shown(own)}`);
    columns.push(own);
  }
  return columns;
}

/** Spreadsheets leave out the empty cells at the end of a row, or write some more. */
function rowOf(cells: readonly string[], columns: readonly string[], onNote: TakeNote): Record<string, unknown> {
  if (cells.slice(columns.length).some((cell) => cell.trim() !== '')) {
    throw new RowFault(`${cells.length} columns; allowed: ${columns.length}, as in the header`);
  }
  if (cells.length < columns.length) onNote('rows end before the last column: its values are missing');
  if (cells.length > columns.length) onNote('rows have empty cells beyond the last column');
  return Object.fromEntries(columns.map((column, index) => [column, cellText(column, cells[index] ?? '')]));
}

function cellText(column: string, cell: string): string {
  const text = orFault(() => utf8Text(Buffer.from(cell, 'latin1')));
  if (text instanceof RowFault) throw new RowFault(text.message, column);
  // Spreadsheets are told so to keep the zeros of a code.
  return /^="([^"]*)"$/.exec(text)?.[1] ?? text;
}

function problemOf({ code, message }: CsvError): string {
  if (code === 'CSV_MAX_RECORD_SIZE')
    return `the row is longer than ${MAX_ROW_BYTES} bytes, or a quote is never closed`;
  return code === 'CSV_QUOTE_NOT_CLOSED' ? 'a quote is opened and never closed' : `not CSV: ${shown(message)}`;
}

function newlinesIn(raw: string): number {
  return raw.match(/\r\n|\n|\r/g)?.length ?? 0;
}
