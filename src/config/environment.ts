import { formatPath, type Path } from './faults.ts';
import { CONFIG_TABLE, type SchemaNode, shapeOf } from './table.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Names the YAML file; everything else has its place in the table. */
export const CONFIG_VARIABLE = 'SERPCACHE_CONFIG';

export interface ConfigVariable {
  readonly name: string;
  /** The setting it overrides. */
  readonly path: Path;
  readonly node: SchemaNode;
}

/** Every variable the table declares, in its order. */
export const CONFIG_VARIABLES: readonly ConfigVariable[] = collect(CONFIG_TABLE, []);

export interface Overlaid {
  readonly tree: Readonly<Record<string, unknown>>;
  /** Paths (formatted) that were set by a variable, and by which. */
  readonly variables: ReadonlyMap<string, string>;
}

/** Variables over the file. An empty one counts as unset: that is what an unset one becomes in a compose file. */
export function overlay(tree: Readonly<Record<string, unknown>>, env: Environment): Overlaid {
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
  // What is no mapping stays as it is, and is the fault that gets reported.
  if (child !== undefined && child !== null && (typeof child !== 'object' || Array.isArray(child))) return tree;
  return { ...tree, [step]: withValue((child ?? {}) as Readonly<Record<string, unknown>>, rest, value) };
}

function collect(node: SchemaNode, path: Path): readonly ConfigVariable[] {
  const shape = shapeOf(node);
  if (shape.is === 'leaf') return node['x-env'] === undefined ? [] : [{ name: node['x-env'], path, node }];
  if (shape.is !== 'mapping') return [];
  return Object.entries(shape.properties).flatMap(([name, member]) => collect(member, [...path, name]));
}
