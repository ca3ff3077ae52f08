import { type Fault, formatPath, HIDDEN, looksSecret, type Path, showValue } from '../schema/faults.ts';
import { nodeOf, type SchemaNode, shapeOf } from '../schema/node.ts';
import { FAULTY } from '../schema/read.ts';
import { configShape } from './schema.ts';

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
