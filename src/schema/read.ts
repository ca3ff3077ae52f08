import { Check } from 'typebox/value';
import { type Fault, formatPath, HIDDEN, knownNames, MISSING, type Path, showKind, showValue } from './faults.ts';
import { allowedAt, alternatives, codeName, isRequired, kindsOf, nodeOf, type SchemaNode, shapeOf } from './node.ts';
import { formatDuration, ONE_LINE_PATTERN, parseAddress, parseDuration, parseHostPort, parseSize } from './units.ts';

interface ReadOptions {
  /** Values that hold a variable with the name of a secret, by formatted path. */
  readonly secretPaths?: ReadonlySet<string>;
  /** Numbers and flags are also read from text, and choices in any case, because variables of the environment are text. */
  readonly numbersFromText?: boolean;
  /** The items of a list are checked even when their number is a fault. */
  readonly allItems?: boolean;
}

/** Replaces a faulty value that has been reported already; it gets no second fault. */
export const FAULTY: unique symbol = Symbol('faulty');

/**
 * Checks a tree of plain values, and reports all faults. A member that is null counts as left out, as `memory:` in YAML.
 * @returns `value`: defaults applied, units converted, durations in milliseconds under `<name>Ms`; faulty values are left out
 */
export function readTree(schema: object, tree: unknown, options: ReadOptions = {}) {
  const { secretPaths = new Set(), numbersFromText = false, allItems = false } = options;
  const faults: Fault[] = [];
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
    const value = given ?? node.default;
    if (value === FAULTY) return undefined;
    const wrong = (): undefined => report(path, shown(node, value, path), `${allowedAt(node)}${hintAt(value)}`);
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
          if (!allItems) return undefined;
        }
        return value.map((item, index) => read(shape.item, item, [...path, index]));
      }
      case 'union': {
        if (!isMapping(value)) return wrong();
        const { discriminator, members } = shape;
        const kinds = members.flatMap((candidate) => kindsOf(candidate, discriminator));
        const implied = node['x-implied'] === true ? kinds.find((name) => Object.hasOwn(value, name)) : undefined;
        const chosen = own(value, discriminator) ?? implied;
        if (chosen === FAULTY) return undefined;
        const member = members.find((candidate) => kindsOf(candidate, discriminator).some((name) => name === chosen));
        if (member !== undefined) return read(member, { ...value, [discriminator]: chosen }, path);
        return report([...path, discriminator], showValue(chosen), alternatives(kinds));
      }
      case 'leaf': {
        const decoded = readLeaf(node, numbersFromText && typeof value === 'string' ? fromText(node, value) : value);
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
      if (decoded !== undefined) result.push([codeName(name, member), decoded]);
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
    report([...path, name], HIDDEN, `no such setting; ${knownNames(name, known)}`);
  };

  return { value: read(nodeOf(schema), tree, []), faults };
}

/** The value with its unit converted, or undefined when the schema does not allow it. */
function readLeaf(node: SchemaNode, value: unknown): unknown {
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
    case 'address':
      return typeof value === 'string' ? parseAddress(value) : undefined;
  }
}

const oneLine = new RegExp(ONE_LINE_PATTERN);

/** A hint at characters that cannot be seen; a text from a mounted secret often ends in a line break. */
function hintAt(value: unknown): string {
  if (typeof value !== 'string' || oneLine.test(value)) return '';
  return `, without control characters: this text ${/[\r\n]$/.test(value) ? 'ends in a line break' : 'has one'}`;
}

function fromText(node: SchemaNode, given: string): unknown {
  const numeric = node.type === 'integer' || node.type === 'number' || node['x-unit'] === 'size';
  if (numeric && /^-?[0-9]{1,15}(\.[0-9]{1,15})?$/.test(given)) return Number(given);
  if (node.enum !== undefined) {
    const word = given.toLowerCase();
    return node['x-also']?.[word] ?? (node.enum.includes(word) ? word : given);
  }
  if (node.type === 'boolean' && (given === 'true' || given === 'false')) return given === 'true';
  return given;
}

function within(node: SchemaNode, value: unknown): number | undefined {
  const { 'x-min': min = Number.NEGATIVE_INFINITY, 'x-max': max = Number.POSITIVE_INFINITY } = node;
  return typeof value === 'number' && value >= min && value <= max ? value : undefined;
}

/**
 * The schema of a request body that carries what `schema` describes for a file: a duration is not `hold: 10s` but
 * `holdMs: 10000`. It is plain JSON Schema, so it also describes the body in OpenAPI.
 */
export function bodyForm(schema: object): SchemaNode {
  const node = nodeOf(schema);
  const { properties, required, items, anyOf, default: byDefault } = node;
  const converted = byDefault === undefined ? {} : { default: readTree(node, byDefault).value };
  if (node['x-unit'] === 'duration') {
    const { description = '', 'x-min': minimum = 0, 'x-max': maximum = Number.MAX_SAFE_INTEGER } = node;
    const allowed = `milliseconds, from ${formatDuration(minimum)} to ${formatDuration(maximum)}`;
    const inWords = { description: `${description} Milliseconds.`, 'x-allowed': allowed };
    return { type: 'integer', minimum, maximum, ...inWords, ...converted };
  }
  if (properties !== undefined) {
    const nameOf = (name: string): string => codeName(name, properties[name] ?? {});
    return {
      ...node,
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, member]) => [nameOf(name), bodyForm(member)]),
      ),
      required: required?.filter((name) => isRequired(node, name)).map(nameOf),
      ...converted,
    };
  }
  if (items !== undefined) return { ...node, items: bodyForm(items), ...converted };
  return shapeOf(node).is === 'union' && anyOf !== undefined ? { ...node, anyOf: anyOf.map(bodyForm) } : node;
}

type Members = Readonly<Record<string, SchemaNode>>;
type Mapping = Readonly<Record<string, unknown>>;

export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Only members that the file has: every object inherits members such as `constructor`. */
function own(mapping: Mapping, name: string): unknown {
  return Object.hasOwn(mapping, name) ? mapping[name] : undefined;
}
