import { allowedAt, CONFIG_TABLE, isRequired, type SchemaNode, shapeOf } from './table.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The table as JSON Schema for editors. It differs in three ways: what has a default may be left out, descriptions say
 * what is allowed, and wherever a text is not free an interpolated one (`${PORT}`) may stand as well.
 */
export function configSchema(): JsonSchema {
  const { properties, ...root } = forEditors(CONFIG_TABLE);
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
  const common = { description, ...(byDefault === undefined ? {} : { default: byDefault }) };
  const shape = shapeOf(node);
  switch (shape.is) {
    case 'mapping': {
      const entries = Object.entries(shape.properties);
      const required = entries.map(([name]) => name).filter((name) => isRequired(node, name));
      return {
        ...common,
        type: 'object',
        properties: Object.fromEntries(entries.map(([name, member]) => [name, forEditors(member)])),
        ...(required.length === 0 ? {} : { required }),
        additionalProperties: false,
      };
    }
    case 'named': {
      const { minProperties, maxProperties } = node;
      return {
        ...common,
        type: 'object',
        patternProperties: { [shape.name.source]: forEditors(shape.member) },
        ...(minProperties === undefined ? {} : { minProperties }),
        ...(maxProperties === undefined ? {} : { maxProperties }),
        additionalProperties: false,
      };
    }
    case 'list': {
      const { minItems, maxItems } = node;
      return {
        ...common,
        type: 'array',
        items: forEditors(shape.item),
        ...(minItems === undefined ? {} : { minItems }),
        ...(maxItems === undefined ? {} : { maxItems }),
      };
    }
    case 'union':
      return { ...common, anyOf: shape.members.map(forEditors) };
    case 'leaf':
      return { ...common, description: `${description} Allowed: ${allowedAt(node)}.`, anyOf: [plain(node), VARIABLE] };
  }
}

const VARIABLE = { $ref: '#/definitions/variable' };

/** Without our annotations, which strict validators refuse to pass over. */
function plain(node: SchemaNode): JsonSchema {
  const entries = Object.entries(node).filter(
    ([name]) => !name.startsWith('x-') && name !== 'description' && name !== 'default',
  );
  return Object.fromEntries(entries);
}
