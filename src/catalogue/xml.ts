import { Parser } from 'htmlparser2';
import { MAX_ROW_BYTES } from './file.ts';
import { faultyRow, orFault, type RawRow, RowFault, shown, type TakeNote } from './row.ts';

/** Elements that are one product: of RSS, of Atom, and of YML. */
const ITEMS: readonly string[] = ['item', 'entry', 'offer'];
const MAX_CATEGORIES = 100_000;

type Values = Record<string, unknown>;
type Parts = Readonly<Record<'plain' | 'google' | 'params', Values>>;

/**
 * Rows of a product feed: the attributes and the child elements of each product by name. An element that occurs again makes
 * a list. A field of Google precedes the one of RSS or Atom. Categories of YML are read by name, and so are parameters.
 * @param onRoot takes the name of the root element, and throws a RowFault for an unknown one
 */
export async function* xmlRows(
  chunks: AsyncIterable<Buffer>,
  onRoot: (name: string) => void,
  onNote: TakeNote,
): AsyncGenerator<RawRow, void, undefined> {
  const ready: RawRow[] = [];
  const path: string[] = [];
  const categories = new Map<string, string>();
  let item: { readonly depth: number; readonly line: number; readonly parts: Parts } | undefined;
  let fault: RowFault | undefined;
  let attributes: Readonly<Record<string, string>> = {};
  let [text, size, isBegun, isOver] = ['', 0, false, false];
  let [chunk, chunkStart, counted, line] = ['', 0, 0, 1];

  const currentLine = (): number => {
    for (; counted < parser.startIndex - chunkStart; counted += 1) if (chunk[counted] === '\n') line += 1;
    return line;
  };
  const endOfChild = (name: string, { plain, google, params }: Parts): void => {
    const value = text.trim() || (attributes['href'] ?? '');
    if (name === 'param') put(params, attributes['name'] ?? name, value);
    else if (name.startsWith('g:')) put(google, name.slice(2), value);
    else put(plain, name, name === 'categoryId' ? (categories.get(value) ?? value) : value);
  };
  const rowOf = ({ plain, google, params }: Parts): Values => {
    const row: Values = { ...plain, ...google };
    for (const [name, value] of Object.entries(params)) row[Object.hasOwn(row, name) ? `param ${name}` : name] = value;
    return row;
  };
  const parser = new Parser(
    {
      onopentag: (name, given) => {
        if (!isBegun) fault = orFault(() => onRoot(name)) ?? undefined;
        isBegun = true;
        path.push(name);
        size += name.length;
        if (item === undefined && ITEMS.includes(name)) {
          size = 0;
          item = { depth: path.length, line: currentLine(), parts: { plain: { ...given }, google: {}, params: {} } };
        } else if (item === undefined || path.length === item.depth + 1) [text, attributes] = ['', given];
        else if (path.length === item.depth + 2) onNote(`parts of the element ${shown(path.at(-2))} were left out`);
      },
      ontext: (part) => {
        if (item !== undefined && path.length !== item.depth + 1) return;
        size = item === undefined ? text.length : size + part.length;
        if (size <= MAX_ROW_BYTES) text += part;
      },
      onclosetag: (name) => {
        if (isOver) fault ??= new RowFault(`the file ends inside the element ${shown(name)}`);
        if (item === undefined) {
          if (name === 'category' && categories.size < MAX_CATEGORIES)
            categories.set(attributes['id'] ?? '', text.trim());
        } else if (path.length === item.depth + 1) endOfChild(name, item.parts);
        else if (path.length === item.depth) {
          const { line: first, parts } = item;
          const tooLong = new RowFault(`longer than ${MAX_ROW_BYTES} bytes`);
          ready.push(size > MAX_ROW_BYTES ? faultyRow(first, tooLong) : { line: first, read: () => rowOf(parts) });
          item = undefined;
        }
        path.pop();
      },
    },
    { xmlMode: true },
  );
  for await (const bytes of chunks) {
    [chunkStart, counted] = [chunkStart + chunk.length, 0];
    chunk = bytes.toString();
    parser.write(chunk);
    yield* ready.splice(0);
    if (fault !== undefined) return yield faultyRow(currentLine(), fault, true);
  }
  isOver = true;
  parser.end();
  if (!isBegun) fault = new RowFault('no element; allowed: XML');
  yield* ready.splice(0);
  if (fault !== undefined) yield faultyRow(currentLine(), fault, true);
}

function put(values: Values, name: string, value: string): void {
  if (value !== '') values[name] = values[name] === undefined ? value : [values[name], value].flat();
}
