import { Check } from 'typebox/value';
import { FAULTY } from './document.ts';
import { formatPath, HIDDEN, MISSING, nearest, type Path, type RawFault, showKind, showValue } from './faults.ts';
import { parseDuration, parseHostPort, parseSize } from './fields.ts';
import type { Config, Draft } from './schema.ts';
import { allowedAt, alternatives, CONFIG_TABLE, isRequired, kindsOf, type SchemaNode, shapeOf } from './table.ts';

interface Validated {
  /** Defaults applied and units converted; faulty values are left out. Without faults it is a complete `Config`. */
  readonly config: Draft<Config>;
  readonly faults: readonly RawFault[];
}

/** Checks every value against the table and reports all faults. */
export function validate(tree: unknown, secretPaths: ReadonlySet<string>): Validated {
  const faults: RawFault[] = [];
  const report = (path: Path, value: string, allowed: string): undefined => {
    faults.push({ path, value, allowed });
    return undefined;
  };
  const shown = (node: SchemaNode, value: unknown, path: Path): string => {
    const secret = node['x-secret'] === true || secretPaths.has(formatPath(path));
    if (secret && value !== undefined && value !== null) return HIDDEN;
    return shapeOf(node).is === 'leaf' ? showValue(value) : showKind(value);
  };

  const read = (node: SchemaNode, given: unknown, path: Path): unknown => {
    // `memory:` without a value is null in YAML; it counts as left out.
    const value = given ?? node.default;
    if (value === FAULTY) return undefined;
    const wrong = (): undefined => report(path, shown(node, value, path), allowedAt(node));
    const shape = shapeOf(node);
    switch (shape.is) {
      case 'mapping':
        return isMapping(value) ? readMapping(node, shape.properties, value, path) : wrong();
      case 'named':
        return isMapping(value) ? readNamed(node, shape.name, shape.member, value, path) : wrong();
      case 'list': {
        if (!Array.isArray(value)) return wrong();
        if (value.length < (node.minItems ?? 0) || value.length > (node.maxItems ?? Number.POSITIVE_INFINITY)) {
          report(path, shown(node, value, path), `${allowedAt(node)}. ${node.description}`);
        }
        return value.map((item, index) => read(shape.item, item, [...path, index]));
      }
      case 'union': {
        if (!isMapping(value)) return wrong();
        const chosen = own(value, shape.discriminator);
        if (chosen === FAULTY) return undefined;
        const member = shape.members.find((candidate) =>
          kindsOf(candidate, shape.discriminator).some((name) => name === chosen),
        );
        if (member !== undefined) return read(member, value, path);
        const kinds = shape.members.flatMap((candidate) => kindsOf(candidate, shape.discriminator));
        return report([...path, shape.discriminator], showValue(chosen), alternatives(kinds));
      }
      case 'leaf': {
        const decoded = readLeaf(node, value);
        return decoded === undefined ? wrong() : decoded;
      }
    }
  };

  const readMapping = (node: SchemaNode, properties: Members, value: Mapping, path: Path): unknown => {
    for (const name of Object.keys(value)) {
      if (!Object.hasOwn(properties, name)) reportUnknown(name, Object.keys(properties), path);
    }
    const result: [string, unknown][] = [];
    for (const [name, member] of Object.entries(properties)) {
      const given = own(value, name) ?? undefined;
      if (given === undefined && member.default === undefined) {
        if (isRequired(node, name)) report([...path, name], MISSING, `${allowedAt(member)} (required)`);
        continue;
      }
      const decoded = read(member, given, [...path, name]);
      if (decoded !== undefined) result.push([name, decoded]);
    }
    return Object.fromEntries(result);
  };

  const readNamed = (node: SchemaNode, pattern: RegExp, member: SchemaNode, value: Mapping, path: Path): unknown => {
    const names = Object.keys(value);
    if (names.length < (node.minProperties ?? 0) || names.length > (node.maxProperties ?? Number.POSITIVE_INFINITY)) {
      report(path, `${names.length} names`, allowedAt(node));
    }
    const result: [string, unknown][] = [];
    for (const name of names) {
      if (!pattern.test(name)) report([...path, name], showValue(name), node['x-allowed'] ?? String(pattern));
      result.push([name, read(member, value[name] ?? {}, [...path, name])]);
    }
    return Object.fromEntries(result.filter(([, decoded]) => decoded !== undefined));
  };

  // The value is never shown: it may be a secret under a mistyped name.
  const reportUnknown = (name: string, known: readonly string[], path: Path): void => {
    const near = nearest(name, known);
    const hint = near === undefined ? `known here: ${known.join(', ')}` : `did you mean ${near}?`;
    report([...path, name], HIDDEN, `no such setting; ${hint}`);
  };

  return { config: (read(CONFIG_TABLE, tree ?? {}, []) ?? {}) as Draft<Config>, faults };
}

/** The value with its unit converted, or undefined when the table does not allow it. */
function readLeaf(node: SchemaNode, given: unknown): unknown {
  const value = typeof given === 'string' ? fromText(node, given) : given;
  // The node comes from a TypeBox schema and is JSON Schema, so the cast is safe.
  if (!Check(node as Parameters<typeof Check>[0], value)) return undefined;
  switch (node['x-unit']) {
    case undefined:
      return value;
    case 'duration':
      return within(node, typeof value === 'string' ? parseDuration(value) : undefined);
    case 'size':
      return within(node, typeof value === 'string' ? parseSize(value) : value);
    case 'host-port':
      return typeof value === 'string' ? parseHostPort(value) : undefined;
  }
}

/** Variables are always text, so numbers and flags are also read from text. */
function fromText(node: SchemaNode, given: string): unknown {
  const numeric = node.type === 'integer' || node.type === 'number' || node['x-unit'] === 'size';
  if (numeric && /^-?[0-9]{1,15}(\.[0-9]{1,15})?$/.test(given)) return Number(given);
  if (node.type === 'boolean' && (given === 'true' || given === 'false')) return given === 'true';
  return given;
}

function within(node: SchemaNode, value: unknown): number | undefined {
  const { 'x-min': min = Number.NEGATIVE_INFINITY, 'x-max': max = Number.POSITIVE_INFINITY } = node;
  return typeof value === 'number' && value >= min && value <= max ? value : undefined;
}

type Members = Readonly<Record<string, SchemaNode>>;
type Mapping = Readonly<Record<string, unknown>>;

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Only members that the file has: every object inherits members such as `constructor`. */
function own(mapping: Mapping, name: string): unknown {
  return Object.hasOwn(mapping, name) ? mapping[name] : undefined;
}
