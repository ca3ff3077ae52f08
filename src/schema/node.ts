import type { Annotations } from './fields.ts';

/** A node of a schema, as plain JSON Schema. Reading, faults, the reference page and editors all use it. */
export interface SchemaNode extends Annotations {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
}

/** The form of a node; every reader of a schema switches over it. */
export type NodeForm =
  | { readonly is: 'mapping'; readonly properties: Readonly<Record<string, SchemaNode>> }
  | { readonly is: 'named'; readonly name: RegExp; readonly member: SchemaNode }
  | { readonly is: 'list'; readonly item: SchemaNode }
  | { readonly is: 'union'; readonly discriminator: string; readonly members: readonly SchemaNode[] }
  | { readonly is: 'leaf' };

export function shapeOf(node: SchemaNode): NodeForm {
  if (node.properties !== undefined) return { is: 'mapping', properties: node.properties };
  const named = Object.entries(node.patternProperties ?? {})[0];
  if (named !== undefined) return { is: 'named', name: new RegExp(named[0]), member: named[1] };
  if (node.items !== undefined) return { is: 'list', item: node.items };
  if (node['x-discriminator'] !== undefined && node.anyOf !== undefined) {
    return { is: 'union', discriminator: node['x-discriminator'], members: node.anyOf };
  }
  return { is: 'leaf' };
}

/** The kinds that select a member of a union: `sphinx`, `manticore`. */
export function kindsOf(member: SchemaNode, discriminator: string): readonly string[] {
  return member.properties?.[discriminator]?.enum ?? [];
}

/** Whether a member is required: it has no default. */
export function isRequired(parent: SchemaNode, name: string): boolean {
  const node = parent.properties?.[name];
  const hasDefault = node?.default !== undefined || node?.['x-default'] !== undefined;
  return !hasDefault && (parent.required ?? []).includes(name);
}

/** The values allowed at a node, in words. */
export function allowedAt(node: SchemaNode): string {
  const shape = shapeOf(node);
  switch (shape.is) {
    case 'mapping':
      return `a mapping of ${Object.keys(shape.properties).join(', ')}`;
    case 'named':
      return `a mapping${between(node.minProperties, node.maxProperties, ' with', ' names')}; each ${node['x-allowed']}`;
    case 'list': {
      const items = node['x-what'] === undefined ? `, each ${allowedAt(shape.item)}` : ` ${node['x-what']}`;
      return `a list${between(node.minItems, node.maxItems, ' of')}${items}`;
    }
    case 'union': {
      if (node['x-allowed'] !== undefined) return node['x-allowed'];
      const kinds = shape.members.flatMap((member) => kindsOf(member, shape.discriminator));
      return `a mapping with ${shape.discriminator}: ${alternatives(kinds)}`;
    }
    case 'leaf':
      return allowedLeaf(node);
  }
}

export function alternatives(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

function allowedLeaf(node: SchemaNode): string {
  if (node['x-allowed'] !== undefined) return node['x-allowed'];
  if (node.enum !== undefined) return alternatives(node.enum);
  switch (node.type) {
    case 'integer':
    case 'number': {
      const number = node.type === 'integer' ? 'a whole number' : 'a number';
      return `${node['x-what'] === undefined ? number : `${node['x-what']},`}${boundsOf(node)}`;
    }
    case 'boolean':
      return 'true or false';
    default:
      return `a text${between(node.minLength, node.maxLength, ' of', ' characters')} (numbers in quotes)`;
  }
}

function boundsOf({ exclusiveMinimum, minimum, maximum }: SchemaNode): string {
  if (exclusiveMinimum === undefined) return between(minimum, maximum, '');
  return ` above ${exclusiveMinimum}${maximum === undefined ? '' : ` and at most ${maximum}`}`;
}

function between(from: number | undefined, to: number | undefined, word: string, unit = ''): string {
  if (from !== undefined && from === to) return `${word} exactly ${from}${unit}`;
  if (from !== undefined && to !== undefined) return `${word} ${word === '' ? 'from ' : ''}${from} to ${to}${unit}`;
  if (to !== undefined) return `${word} at most ${to}${unit}`;
  return from === undefined ? '' : `${word} at least ${from}${unit}`;
}

/** A TypeBox schema is plain JSON Schema. */
export function nodeOf(schema: object): SchemaNode {
  return schema as SchemaNode;
}

/** The schema of what this version writes, for the API description. */
export function writtenForm(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(writtenForm);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { 'x-written': written, ...node } = nodeOf(schema);
  return Object.fromEntries(Object.entries({ ...node, ...written }).map(([name, part]) => [name, writtenForm(part)]));
}

/** The name of a member in code and in request bodies: a duration `hold: 10s` of a file is `holdMs: 10000` there. */
export function codeName(name: string, node: SchemaNode): string {
  return node['x-unit'] === 'duration' ? `${name}Ms` : name;
}
