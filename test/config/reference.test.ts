import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Compile } from 'typebox/schema';
import { parse } from 'yaml';
import { CONFIG_VARIABLES } from '../../src/config/document.ts';
import { configReference, configSchema } from '../../src/config/reference.ts';
import { TRACING_VARIABLES } from '../../src/config/tracing.ts';

const deploy = new URL('../../deploy/', import.meta.url);

/** Every property of a JSON Schema, found without the table's own walkers. */
function pathsOf(schema: Readonly<Record<string, unknown>>, path: string): readonly string[] {
  const {
    properties = {},
    patternProperties = {},
    anyOf = [],
  } = schema as {
    readonly properties?: Record<string, Record<string, unknown>>;
    readonly patternProperties?: Record<string, Record<string, unknown> | true>;
    readonly anyOf?: readonly Record<string, unknown>[];
  };
  return [
    ...Object.entries(properties).flatMap(([name, member]) => {
      const below = path === '' ? name : `${path}.${name}`;
      return [below, ...pathsOf(member, below)];
    }),
    ...Object.values(patternProperties).flatMap((member) =>
      member === true ? [] : [`${path}.<name>`, ...pathsOf(member, `${path}.<name>`)],
    ),
    ...anyOf.flatMap((member) => pathsOf(member, path)),
  ];
}

test('the reference page has a row with a description for every path of the schema and every variable', () => {
  const page = configReference();
  const paths = new Set(pathsOf(configSchema(), ''));
  assert.ok(paths.size > 60, `only ${paths.size} paths`);
  const variables = CONFIG_VARIABLES.map(({ name }) => name);
  const ofTracing = TRACING_VARIABLES.flatMap(({ names }) => names);
  const named = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = '']) => name);
  assert.deepEqual(new Set(named), new Set([...paths, 'SERPCACHE_CONFIG', ...variables, ...ofTracing]));
  for (const path of paths) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${path}\` |`));
    assert.match(row ?? '', /\| [^|]+ \| [^|]* \| [A-Z`][^|]{5,} \|$/, path);
  }
  assert.deepEqual(variables, [
    'HOST',
    'PORT',
    'ADMIN_HOST',
    'ADMIN_PORT',
    'ADMIN_TOKEN',
    'LOG_LEVEL',
    'SIGNING_KEY',
    'SIGNING_KEY_PREVIOUS',
  ]);
  for (const { name } of CONFIG_VARIABLES) assert.ok(page.includes(`| \`${name}\` |`), name);
});

test('the JSON Schema in deploy/ is the one that the service checks with, and each example names it for editors', () => {
  const file = new URL('serpcache.schema.json', deploy);
  assert.equal(
    readFileSync(file, 'utf8'),
    `${JSON.stringify(configSchema())}\n`,
    'npm run -s serpcache -- config schema > deploy/serpcache.schema.json',
  );
  const examples = readdirSync(deploy, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /^(?:[^/]+|compose\/serpcache)\.yaml$/.test(name),
  );
  assert.ok(examples.length >= 4, String(examples));
  for (const name of examples) {
    const example = new URL(name, deploy);
    const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(readFileSync(example, 'utf8')) ?? [];
    assert.equal(new URL(schema, example).href, file.href, name);
  }
});

test('the JSON Schema accepts every configuration under deploy/', () => {
  const validator = Compile(configSchema());
  const files = readdirSync(deploy).filter((name) => name.endsWith('.yaml'));
  assert.ok(files.includes('production.example.yaml'), `no examples among ${files.join(', ')}`);
  for (const file of files) {
    const [, faults] = validator.Errors(parse(readFileSync(new URL(file, deploy), 'utf8'), { merge: true }));
    assert.deepEqual(faults, [], file);
  }
});

test('the JSON Schema refuses what the service refuses', () => {
  const validator = Compile(configSchema());
  assert.ok(validator.Check({}));
  assert.ok(validator.Check({ 'x-anchors': 1, public: { port: `\${PORT}`, drain: `\${DRAIN:-4s}` } }));
  for (const wrong of [
    { colour: 'red' },
    { public: { port: 70_000 } },
    { public: { drain: '4 seconds' } },
    { memory: { maxBytes: '256MB' } },
    { domains: {} },
    { domains: { Goods: { engine: { kind: 'sqlite' } } } },
    { domains: { goods: {} } },
    { domains: { goods: { engine: { kind: 'solr' } } } },
    { domains: { goods: { engine: { kind: 'sqlite' }, store: { kind: 'cluster', nodes: [] } } } },
    { domains: { goods: { engine: { kind: 'sqlite' }, candidates: { valkey: { kind: 'none' } } } } },
  ]) {
    assert.ok(!validator.Check(wrong), JSON.stringify(wrong));
  }
});

test('every setting in the JSON Schema has a description and its allowed values', () => {
  const text = JSON.stringify(configSchema());
  assert.doesNotMatch(text, /"x-(unit|env|secret|min|max|allowed|default)"/);
  assert.match(text, /Maximum time of a read\. .*Allowed: a duration such as 50ms/);
});
