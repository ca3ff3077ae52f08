import { isAlias, isMap, isSeq, LineCounter, type Node, type Pair, parseAllDocuments, visit } from 'yaml';
import { type Fault, type Path, showKind } from './faults.ts';

/** A YAML text as plain values, with the way back to its lines. */
export interface ConfigDocument {
  /** Undefined when the text is too broken to be judged further. */
  readonly tree: Readonly<Record<string, unknown>> | undefined;
  readonly faults: readonly Fault[];
  /** Line, from 1, of the value at a path, or of the nearest thing around it that is written down. */
  readonly lineOf: (path: Path) => number | undefined;
}

const MAX_BYTES = 2 ** 20;

/** The parser's own messages quote the text, which may hold a secret: ours only say what is expected. */
const EXPECTED: Readonly<Record<string, string>> = {
  BAD_ALIAS: 'an alias (*name) of an anchor (&name) written before it; quote a text that starts with *',
  BAD_INDENT: 'everything in one mapping or list indented alike',
  BAD_SCALAR_START: 'a text that starts with @, ` or % in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'one `name: value` per line; quote a text that holds a colon and a space',
  DUPLICATE_KEY: 'each name once in a mapping',
  MISSING_CHAR: `a closing quote, bracket or comma; quote a text with \${…} that stands inside braces`,
  TAB_AS_INDENT: 'spaces for indentation, not tabs',
};

/** @param source the file's name, for faults that are about the text as a whole. */
export function readDocument(text: string, source: string): ConfigDocument {
  const broken = (faults: readonly Fault[]): ConfigDocument => ({ tree: undefined, faults, lineOf: () => undefined });
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BYTES) return broken([{ path: source, value: `${bytes} bytes`, allowed: 'at most 1 MiB' }]);

  const lines = new LineCounter();
  // `merge` gives domains a way to share settings: `<<: *name`.
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, merge: true });
  const first = 'empty' in documents ? undefined : documents[0];
  if (first === undefined) return { tree: {}, faults: [], lineOf: () => undefined };
  const more = 'empty' in documents ? undefined : documents[1];
  if (more !== undefined) {
    const line = lines.linePos(more.range[0]).line;
    return broken([{ path: source, value: 'a second document', allowed: 'one document, without ---', line }]);
  }

  const faults = first.errors.map(({ code, pos }) => syntaxFault(code, pos[0], source, lines));
  let readable = first.errors.every(({ code }) => code === 'DUPLICATE_KEY');
  visit(first, {
    Alias: (_, alias) => {
      if (alias.resolve(first) !== undefined) return;
      readable = false;
      faults.push(syntaxFault('BAD_ALIAS', alias.range?.[0] ?? 0, source, lines));
    },
  });
  if (!readable) return broken(faults);
  let value: unknown;
  try {
    // Bounds what nested aliases can grow to.
    value = first.toJS({ maxAliasCount: 1000 }) ?? {};
  } catch {
    return broken([
      ...faults,
      { path: source, value: 'aliases', allowed: 'aliases of known anchors, not nested deep' },
    ]);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return broken([...faults, { path: source, value: showKind(value), allowed: 'a mapping of settings', line: 1 }]);
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
  return { tree: value as Readonly<Record<string, unknown>>, faults, lineOf };
}

function syntaxFault(code: string, offset: number, source: string, lines: LineCounter): Fault {
  const { line, col } = lines.linePos(offset);
  return { path: source, value: `not YAML at column ${col}`, allowed: EXPECTED[code] ?? `YAML (${code})`, line };
}
