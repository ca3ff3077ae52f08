import { formatPath } from '../schema/faults.ts';
import { allowedAt, isRequired, kindsOf, type NodeForm, nodeOf, type SchemaNode, shapeOf } from '../schema/node.ts';
import { CONFIG_VARIABLE, CONFIG_VARIABLES } from './document.ts';
import { configShape } from './schema.ts';
import { TRACING_VARIABLES } from './tracing.ts';

const CONFIG = nodeOf(configShape);

interface Row {
  readonly path: string;
  readonly node: SchemaNode;
  readonly required: boolean;
  /** The kinds of the union that have this setting; undefined when all have it, or outside a union. */
  readonly kinds?: readonly string[];
}

/** The reference page, in Markdown: every setting with its allowed values, its default and its meaning. */
export function configReference(): string {
  const lines = [
    '# Configuration reference',
    '',
    'Generated from the schema with which the service validates (`serpcache config reference`).',
    '',
    `The configuration is one YAML file, named by \`${CONFIG_VARIABLE}\` or \`--config\`, else \`serpcache.yaml\` of the working directory.`,
    'Every setting is optional unless marked as required.',
    `Texts may hold \`\${VARIABLE}\` and \`\${VARIABLE:-default}\`; \`$\${\` stands for a plain \`\${\`. Unknown names are`,
    'faults, except names at the top level that start with `x-`, which are for YAML anchors. Relative paths start at the',
    'working directory. The service reports all faults at once and exits with 78.',
    '',
    '## Environment',
    '',
    ...table(
      ['variable', 'overrides', 'allowed'],
      [
        [code(CONFIG_VARIABLE), '', 'the path of the YAML file; without it, `serpcache.yaml`, else the embedded demo'],
        ...CONFIG_VARIABLES.map(({ name, path, node }) => [code(name), code(formatPath(path)), allowedAt(node)]),
      ],
    ),
    '',
    '## Tracing',
    '',
    'Tracing is on when `OTEL_TRACES_EXPORTER` or an endpoint is set; otherwise the other variables are not read.',
    '',
    ...table(
      ['variable', 'allowed', 'meaning'],
      TRACING_VARIABLES.flatMap(({ names, allowed, about }) => names.map((name) => [code(name), allowed, about])),
    ),
  ];
  for (const [section, rows] of Map.groupBy(rowsOf(CONFIG, ''), ({ path }) => sectionOf(path))) {
    lines.push('', `## ${code(section)}`, '');
    lines.push(...table(['setting', 'allowed', 'default', 'meaning'], rows.map(cellsOf)));
  }
  return `${lines.join('\n')}\n`;
}

function cellsOf({ path, node, required, kinds }: Row): readonly string[] {
  const only = kinds === undefined ? '' : ` Only with \`kind\` ${kinds.map(code).join(', ')}.`;
  return [
    code(path),
    allowedAt(node),
    required ? '**required**' : shownDefault(node),
    `${node.description ?? ''}${only}`,
  ];
}

function rowsOf(node: SchemaNode, path: string, required = false): readonly Row[] {
  const self: readonly Row[] = path === '' ? [] : [{ path, node, required }];
  const shape = shapeOf(node);
  switch (shape.is) {
    case 'leaf':
    case 'list':
      return self;
    case 'mapping':
      return [
        ...self,
        ...Object.entries(shape.properties).flatMap(([name, member]) =>
          rowsOf(member, path === '' ? name : `${path}.${name}`, isRequired(node, name)),
        ),
      ];
    case 'named':
      return [...self, ...rowsOf(shape.member, `${path}.<name>`)];
    case 'union':
      return [...self, ...rowsOfUnion(shape, path)];
  }
}

/** One row per path and description of a union, with the kinds that have it. */
function rowsOfUnion({ discriminator, members }: Extract<NodeForm, { is: 'union' }>, path: string): readonly Row[] {
  const all = members.flatMap((member) => kindsOf(member, discriminator));
  // A kind without settings ("none") is left out of "only with".
  const withSettings = members
    .filter((member) => Object.keys(member.properties ?? {}).length > 1)
    .flatMap((member) => kindsOf(member, discriminator));
  const found = members.flatMap((member) => {
    const rows = rowsOf(member, path).slice(1);
    return rows.map((row) => ({ ...row, kinds: kindsOf(member, discriminator) }));
  });
  const merged = Map.groupBy(found, (row) => `${row.path} ${row.node.description}`).values();
  return [...merged].flatMap((same): readonly Row[] => {
    const [first] = same;
    if (first === undefined) return [];
    const { kinds: _, ...row } = first;
    if (row.path === `${path}.${discriminator}`) return [{ ...row, node: { ...row.node, enum: all } }];
    const kinds = same.flatMap((each) => each.kinds);
    return kinds.length === withSettings.length ? [row] : [{ ...row, kinds }];
  });
}

/** `domains.<name>.engine.deadline` → `domains.<name>.engine`. */
function sectionOf(path: string): string {
  const parts = path.split('.');
  if (parts[0] !== 'domains') return parts[0] ?? '';
  return parts.length <= 3 ? 'domains' : parts.slice(0, 3).join('.');
}

function shownDefault(node: SchemaNode): string {
  if (node['x-default'] !== undefined) return node['x-default'];
  if (node.default === undefined) return '';
  if (JSON.stringify(node.default) === '{}') return '';
  return code(typeof node.default === 'string' ? node.default : JSON.stringify(node.default));
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}

function code(value: string): string {
  return `\`${value}\``;
}

type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The JSON Schema for editors. It differs from the table in three ways: settings with a default are optional,
 * descriptions tell the allowed values, and an interpolated text (`${PORT}`) is allowed for every value.
 */
export function configSchema(): JsonSchema {
  const { properties, ...root } = forEditors(CONFIG);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'serpcache configuration',
    ...root,
    properties,
    patternProperties: { '^x-': true },
    definitions: {
      variable: { type: 'string', pattern: '\\$\\{[^}]*\\}', description: `Text with \${VARIABLE} in it.` },
    },
  };
}

function forEditors(node: SchemaNode): JsonSchema {
  const { description = '', default: byDefault } = node;
  const common = { description, default: byDefault };
  const shape = shapeOf(node);
  switch (shape.is) {
    case 'mapping': {
      const entries = Object.entries(shape.properties);
      const required = entries.map(([name]) => name).filter((name) => isRequired(node, name));
      return {
        ...common,
        type: 'object',
        properties: Object.fromEntries(entries.map(([name, member]) => [name, forEditors(member)])),
        required: required.length === 0 ? undefined : required,
        additionalProperties: false,
      };
    }
    case 'named':
      return {
        ...common,
        type: 'object',
        patternProperties: { [shape.name.source]: forEditors(shape.member) },
        minProperties: node.minProperties,
        maxProperties: node.maxProperties,
        additionalProperties: false,
      };
    case 'list':
      return {
        ...common,
        type: 'array',
        items: forEditors(shape.item),
        minItems: node.minItems,
        maxItems: node.maxItems,
      };
    case 'union':
      return { ...common, anyOf: shape.members.map(forEditors) };
    case 'leaf':
      return { ...common, description: `${description} Allowed: ${allowedAt(node)}.`, anyOf: [plain(node), VARIABLE] };
  }
}

const VARIABLE = { $ref: '#/definitions/variable' };

/** The node without the `x-` annotations, which strict validators refuse. */
function plain(node: SchemaNode): JsonSchema {
  const entries = Object.entries(node).filter(
    ([name]) => !name.startsWith('x-') && name !== 'description' && name !== 'default',
  );
  return Object.fromEntries(entries);
}
