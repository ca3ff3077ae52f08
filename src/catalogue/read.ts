import type { Attribute, Document } from '../search/domain.ts';
import type { DocumentUpdate } from '../search/engine.ts';
import { type ColumnMap, type ColumnUse, checkHeader, createColumns } from './columns.ts';
import { csvRows } from './csv.ts';
import { createDocuments, documentId } from './document.ts';
import { fileLines, MAX_ROW_BYTES, objectsOf, openCatalogueFile, peeked, utf8Text } from './file.ts';
import { PRESETS, type PresetName, presetOf, products } from './presets.ts';
import { CatalogueError, faultyRow, isNoValue, orFault, type RawRow, RowFault, shown, type TakeNote } from './row.ts';
import { xmlRows } from './xml.ts';

/** How a file is to be read, where it does not tell itself. */
export interface CatalogueForm {
  readonly preset?: PresetName | undefined;
  readonly encoding?: string | undefined;
  /** Each must be in the header. They precede those of the preset. */
  readonly columns?: ColumnMap;
  /** Fields whose HTML is kept as it is. */
  readonly raw?: readonly string[];
}

export interface RowOptions {
  readonly form?: CatalogueForm;
  /** Called with each good row, before the row is yielded. */
  readonly onRow?: (progress: ReadProgress) => void;
  /** Called with the error of each bad row, which is skipped unless the function throws. By default it throws. */
  readonly onBadRow?: (error: CatalogueError) => void;
  readonly onNote?: TakeNote;
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
  /** Bytes read from the disk, before unpacking. Reading runs somewhat ahead of the row. */
  readonly bytesRead: number;
  readonly totalBytes: number;
}

/**
 * Streams the documents of a user's catalogue: NDJSON, CSV with a header row, or a product feed in XML. Duplicate ids are
 * not detected here: that would hold all ids in memory, and the index detects them.
 * @throws CatalogueError with file, line, field, the fault and what is allowed; the signal's reason when aborted.
 */
export function readCatalogue(file: string, options: ReadOptions): AsyncGenerator<Document, void, undefined> {
  return readDocuments(file, options, (row, documentOf) => documentOf(row));
}

/**
 * Streams changes of a catalogue, as `readCatalogue`: a row whose column `op` is `delete` needs only its id. An attribute of
 * that name is no such column.
 */
export function readChanges(file: string, options: ReadOptions): AsyncGenerator<DocumentUpdate, void, undefined> {
  return readDocuments(file, options, changeTaker(options.attributes));
}

/**
 * Reads one change in a line of JSON, with the names of the fields: `attributes` are beside the texts or a member of that name.
 * The function throws a RowFault.
 */
export function createChangeReader(attributes: readonly Attribute[], onNote: TakeNote) {
  const documentOf = createDocuments(attributes, [], onNote);
  const take = changeTaker(attributes);
  return (line: string): DocumentUpdate => {
    const { attributes: nested = {}, ...row } = objectOf(line);
    if (typeof nested !== 'object' || Array.isArray(nested)) {
      throw new RowFault(`${shown(nested)} is not an object; allowed: values by name`, 'attributes');
    }
    return take({ ...nested, ...row }, documentOf, ({ id }) => documentId(id));
  };
}

type Row = Readonly<Record<string, unknown>>;
type Take<Taken> = (row: Row, documentOf: (row: Row) => Document, idOf: (row: Row) => string) => Taken;

function changeTaker(attributes: readonly Attribute[]): Take<DocumentUpdate> {
  const hasOp = !attributes.some(({ name }) => name === 'op');
  return ({ op, ...row }, documentOf, idOf) => {
    if (hasOp && op === 'delete') return { id: idOf(row) };
    if (hasOp && !isNoValue(op) && op !== 'upsert') throw new RowFault(`${shown(op)}; allowed: upsert, delete`, 'op');
    const document = documentOf(hasOp ? row : { op, ...row });
    return { id: document.id, document };
  };
}

async function* readDocuments<Taken>(
  file: string,
  options: ReadOptions,
  take: Take<Taken>,
): AsyncGenerator<Taken, void, undefined> {
  const { attributes, onColumns, onNote = ignore, form } = options;
  let columns = createColumns(attributes, {});
  const documentOf = createDocuments(attributes, form?.raw ?? [], onNote);
  yield* readRows(file, options, {
    begin: ({ map, header }) => {
      if (header !== undefined) checkHeader(header, attributes, map, form?.columns);
      columns = createColumns(attributes, map);
    },
    take: (row) =>
      take(
        row,
        (given) => documentOf(columns.fieldsOf(given)),
        (given) => documentId(columns.fieldsOf(given)['id']),
      ),
    columnOf: (field) => columns.columnOf(field),
  });
  onColumns?.(columns.use());
}

function ignore(): void {}

/** The facts about a file that are known before its first row. */
export interface Beginning {
  readonly preset: PresetName | undefined;
  /** The columns of the preset and of the form. */
  readonly map: ColumnMap;
  /** Only CSV has one. */
  readonly header: readonly string[] | undefined;
}

interface RowReader<Taken> {
  /** @throws RowFault for a wrong header. */
  readonly begin: (beginning: Beginning) => void;
  /** @throws RowFault for a wrong row. */
  readonly take: (row: Readonly<Record<string, unknown>>) => Taken;
  /** The column of a field, so that a fault names what stands in the file. */
  readonly columnOf?: (field: string) => string | undefined;
}

/** The rows of a catalogue, each as `take` returns it. @throws CatalogueError as `readCatalogue`. */
export async function* readRows<Taken>(
  file: string,
  { form = {}, signal, onRow, onBadRow, onNote = ignore }: RowOptions,
  { begin, take, columnOf = () => undefined }: RowReader<Taken>,
): AsyncGenerator<Taken, void, undefined> {
  signal?.throwIfAborted();
  const { format, chunks, bytesRead, totalBytes } = await openCatalogueFile(file, { signal, encoding: form.encoding });
  let preset: PresetName | undefined;
  const start = (found: PresetName | undefined, header?: readonly string[]): void => {
    preset = form.preset ?? found;
    begin({ preset, map: { ...PRESETS[preset ?? 'spreadsheet'].columns, ...form.columns }, header });
  };
  const open = {
    csv: () => csvRows(chunks, (header) => start(presetOf(header), header), onNote),
    json: () => jsonRows(chunks),
    xml: () => xmlRows(chunks, (root) => start(rootOf(root)), onNote),
  };
  if (format === 'json') start(undefined);
  let rows = 0;
  for await (const row of products(open[format](), () => PRESETS[preset ?? 'spreadsheet'], onNote)) {
    signal?.throwIfAborted();
    const taken = orFault(() => take(row.read()));
    const { line } = row;
    if (taken instanceof RowFault) {
      const { message, field } = taken;
      const at = field === undefined ? { line } : { line, field: columnOf(field) ?? field };
      const located = new CatalogueError(file, message, at);
      if (row.fatal === true || onBadRow === undefined) throw located;
      onBadRow(located);
      continue;
    }
    rows += 1;
    onRow?.({ rows, line, bytesRead: bytesRead(), totalBytes });
    yield taken;
  }
}

/** @throws RowFault for the root element of a file that is no product feed. */
function rootOf(root: string): PresetName {
  const name = presetOf([`<${root}>`]);
  const roots = Object.values(PRESETS).flatMap(({ marks }) => marks.flat().filter((mark) => mark.startsWith('<')));
  if (name === undefined) throw new RowFault(`the root element is <${root}>; allowed: ${roots.join(', ')}`);
  return name;
}

/** Rows of JSON: one object per line, blank lines skipped, or one array of objects. */
async function* jsonRows(chunks: AsyncGenerator<Buffer, void, undefined>): AsyncGenerator<RawRow, void, undefined> {
  const { first, whole } = await peeked(chunks);
  const split = /^\s*\[/.test(first.toString('latin1', 0, 100)) ? objectsOf : fileLines;
  for await (const { number, bytes } of split(whole, MAX_ROW_BYTES)) {
    if (bytes === undefined) yield faultyRow(number, new RowFault(`longer than ${MAX_ROW_BYTES} bytes`));
    else if (!isBlank(bytes)) yield { line: number, read: () => objectOf(utf8Text(bytes)) };
  }
}

/** Digits in a text that a number may lose. The reviver is slow, and most lines need none. */
const LOSSY = /\d{16}|\.\d*0(?!\d)|\d[eE][-+\d]|(?<!\d)-0/;

/** A number whose digits JavaScript would change stays the text in the file: the attribute decides about it. */
function exactly(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  return typeof value === 'number' && source !== undefined && String(value) !== source ? source : value;
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = LOSSY.test(text) ? JSON.parse(text, exactly) : JSON.parse(text);
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
