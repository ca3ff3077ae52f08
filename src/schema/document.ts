import { isAlias, isMap, isSeq, LineCounter, type Node, type Pair, parseAllDocuments, visit } from 'yaml';
import { type Fault, type Path, showKind } from './faults.ts';
import { isMapping } from './read.ts';
import { formatSize } from './units.ts';

/** A YAML text as plain values, with the lines of the values. */
export interface YamlDocument {
  /** Undefined when the text cannot be parsed. */
  readonly tree: Readonly<Record<string, unknown>> | undefined;
  /** Faults of the text as a whole: their path is empty. */
  readonly faults: readonly Fault[];
  /** Line, from 1, of the value at a path, or of the nearest value around it that stands in the text. */
  readonly lineOf: (path: Path) => number | undefined;
}

/**
 * Messages by error code of the parser. The parser's own messages quote the text, which may hold a secret; these only
 * say what is allowed.
 */
const ALLOWED: Readonly<Record<string, string>> = {
  BAD_ALIAS: 'an alias (*name) of an anchor (&name) written before it; quote a text that starts with *',
  BAD_INDENT: 'everything in one mapping or list indented alike',
  BAD_SCALAR_START: 'a text that starts with @, ` or % in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'one `name: value` per line; quote a text that holds a colon and a space',
  DUPLICATE_KEY: 'each name once in a mapping',
  MISSING_CHAR: `a closing quote, bracket or comma; quote a text with \${…} that stands inside braces`,
  TAB_AS_INDENT: 'spaces for indentation, not tabs',
};

/** Reads a YAML text that is a mapping. */
export function readDocument(text: string, maxBytes: number): YamlDocument {
  const broken = (faults: readonly Fault[]): YamlDocument => ({ tree: undefined, faults, lineOf: () => undefined });
  const fault = (value: string, allowed: string, line?: number): Fault => ({ path: [], value, allowed, line });
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) return broken([fault(`${bytes} bytes`, `at most ${formatSize(maxBytes)}`)]);

  const lines = new LineCounter();
  // `merge` lets domains share settings: `<<: *name`.
  const [first, more] = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, merge: true });
  if (first === undefined) return { tree: {}, faults: [], lineOf: () => undefined };
  if (more !== undefined) {
    return broken([fault('a second document', 'one document, without ---', lines.linePos(more.range[0]).line)]);
  }

  const syntaxFault = (code: string, offset: number): Fault => {
    const { line, col } = lines.linePos(offset);
    return fault(`not YAML at column ${col}`, ALLOWED[code] ?? `YAML (${code})`, line);
  };
  const faults = first.errors.map(({ code, pos }) => syntaxFault(code, pos[0]));
  let readable = first.errors.every(({ code }) => code === 'DUPLICATE_KEY');
  visit(first, {
    Alias: (_, alias) => {
      if (alias.resolve(first) !== undefined) return;
      readable = false;
      faults.push(syntaxFault('BAD_ALIAS', alias.range?.[0] ?? 0));
    },
  });
  if (!readable) return broken(faults);
  let value: unknown;
  try {
    // Bounds the size that nested aliases can expand to.
    value = first.toJS({ maxAliasCount: 1000 }) ?? {};
  } catch {
    return broken([...faults, fault('aliases', 'aliases of known anchors, not nested deep')]);
  }
  if (!isMapping(value)) {
    return broken([...faults, fault(showKind(value), 'a mapping of settings', 1)]);
  }

  const lineOf = (path: Path): number | undefined => {
    let node: Node | null | undefined = first.contents;
    let offset = node?.range?.[0];
    for (const step of path) {
      if (isAlias(node)) node = node.resolve(first);
      let found: Node | undefined;
      if (isMap<Node, Node | null>(node)) {
        const pairs: readonly Pair<Node, Node | null>[] = node.items;
        const pair = pairs.find(({ key }) => String(key) === String(step));
        offset = pair?.key.range?.[0] ?? offset;
        found = pair?.value ?? undefined;
      } else if (isSeq<Node>(node) && typeof step === 'number') {
        found = node.items[step];
        offset = found?.range?.[0] ?? offset;
      }
      if (found === undefined) break;
      node = found;
    }
    return offset === undefined ? undefined : lines.linePos(offset).line;
  };
  return { tree: value, faults, lineOf };
}
