import { isAlias, isMap, isSeq, LineCounter, type Node, type Pair, parseAllDocuments, visit } from 'yaml';
import { type Fault, formatPath, HIDDEN, looksSecret, type Path, showKind, showValue } from '../schema/faults.ts';
import { nodeOf, type SchemaNode, shapeOf } from '../schema/node.ts';
import { FAULTY } from '../schema/read.ts';
import type { ConfigFault } from './faults.ts';
import { configShape } from './schema.ts';

/** A YAML text as plain values, with the lines of the values. */
export interface ConfigDocument {
  /** Undefined when the text cannot be parsed. */
  readonly tree: Readonly<Record<string, unknown>> | undefined;
  readonly faults: readonly ConfigFault[];
  /** Line, from 1, of the value at a path, or of the nearest value around it that stands in the text. */
  readonly lineOf: (path: Path) => number | undefined;
}

const MAX_BYTES = 2 ** 20;

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

/** @param source the file's name, for faults of the text as a whole. */
export function readDocument(text: string, source: string): ConfigDocument {
  const broken = (faults: readonly ConfigFault[]): ConfigDocument => ({
    tree: undefined,
    faults,
    lineOf: () => undefined,
  });
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BYTES) return broken([{ path: source, value: `${bytes} bytes`, allowed: 'at most 1 MiB' }]);

  const lines = new LineCounter();
  // `merge` lets domains share settings: `<<: *name`.
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
    // Bounds the size that nested aliases can expand to.
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

function syntaxFault(code: string, offset: number, source: string, lines: LineCounter): ConfigFault {
  const { line, col } = lines.linePos(offset);
  return { path: source, value: `not YAML at column ${col}`, allowed: ALLOWED[code] ?? `YAML (${code})`, line };
}

const REFERENCE = /\$(\$?)\{([^}]*)\}/g;
const NAME = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

/**
 * Replaces `${NAME}` and `${NAME:-default}` in every text of the tree; `$${` stands for a plain `${`. As in a shell, an
 * empty variable takes the default. A faulty value becomes `FAULTY`, so that it is reported once.
 */
export function interpolate(tree: unknown, env: Environment) {
  const faults: Fault[] = [];
  /** Formatted paths of values that hold a variable with the name of a secret; they are never shown. */
  const secretPaths = new Set<string>();

  const text = (given: string, path: Path): string | undefined => {
    let failed = false;
    const fail = (allowed: string): string => {
      faults.push({ path, value: looksSecret(String(path.at(-1))) ? HIDDEN : showValue(given), allowed });
      failed = true;
      return '';
    };
    const result = given.replace(REFERENCE, (whole, escaped: string, inside: string) => {
      if (escaped !== '') return whole.slice(1);
      const [, name, fallback] = NAME.exec(inside) ?? [];
      if (name === undefined) return fail(`$\{NAME} or $\{NAME:-default}; write $$\{ for a plain $\{`);
      if (looksSecret(name)) secretPaths.add(formatPath(path));
      const found = env[name];
      if (found !== undefined && (found !== '' || fallback === undefined)) return found;
      return fallback ?? fail(`the variable ${name} set in the environment, or \${${name}:-default}`);
    });
    return failed ? undefined : result;
  };

  const walk = (node: unknown, path: Path): unknown => {
    if (typeof node === 'string') return text(node, path) ?? FAULTY;
    if (Array.isArray(node)) return node.map((item, index) => walk(item, [...path, index]));
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, walk(value, [...path, key])]));
  };

  return { value: walk(tree, []), faults, secretPaths };
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The variable that names the YAML file. Every other variable is declared in the schema. */
export const CONFIG_VARIABLE = 'SERPCACHE_CONFIG';
/** Read from the working directory by the programs, where nothing names another file. */
export const DEFAULT_FILE = 'serpcache.yaml';

interface ConfigVariable {
  readonly name: string;
  /** The setting it overrides. */
  readonly path: Path;
  readonly node: SchemaNode;
}

/** Every variable of the schema, in its order. */
export const CONFIG_VARIABLES: readonly ConfigVariable[] = collect(nodeOf(configShape), []);

/**
 * Applies variables over the file. An empty variable counts as unset, because a compose file passes an unset one as
 * empty.
 */
export function overlay(tree: Readonly<Record<string, unknown>>, env: Environment) {
  /** The variable of each formatted path that was set by a variable. */
  const variables = new Map<string, string>();
  let result = tree;
  for (const { name, path } of CONFIG_VARIABLES) {
    const value = env[name];
    if (value === undefined || value === '') continue;
    result = withValue(result, path, value);
    variables.set(formatPath(path), name);
  }
  return { tree: result, variables };
}

function withValue(
  tree: Readonly<Record<string, unknown>>,
  path: Path,
  value: unknown,
): Readonly<Record<string, unknown>> {
  const [step, ...rest] = path;
  if (step === undefined) return tree;
  const child = Object.hasOwn(tree, step) ? tree[step] : undefined;
  if (rest.length === 0) return { ...tree, [step]: value };
  // A value that is not a mapping stays as it is; `readTree` reports it.
  if (child !== undefined && child !== null && (typeof child !== 'object' || Array.isArray(child))) return tree;
  return { ...tree, [step]: withValue((child ?? {}) as Readonly<Record<string, unknown>>, rest, value) };
}

function collect(node: SchemaNode, path: Path): readonly ConfigVariable[] {
  const shape = shapeOf(node);
  if (shape.is === 'leaf') return node['x-env'] === undefined ? [] : [{ name: node['x-env'], path, node }];
  if (shape.is !== 'mapping') return [];
  return Object.entries(shape.properties).flatMap(([name, member]) => collect(member, [...path, name]));
}
