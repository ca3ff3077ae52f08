import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InferredColumn } from '../../src/catalogue/infer.ts';
import { attributesOfCatalogue, remarksOn, starterConfig } from '../../src/commands/starter-config.ts';
import { loadSettings } from '../../src/config/load.ts';
import type { DomainSettings } from '../../src/config/settings.ts';
import { pluck } from '../pluck.ts';

function column(name: string, more: Partial<InferredColumn> = {}): InferredColumn {
  return { column: name, name, type: 'string', values: 100, distinct: 10, ...more };
}

const SERVERS = { domain: 'shop', from: 'a test', store: { kind: 'none' }, engine: { kind: 'sqlite' } };

function starter(columns: readonly InferredColumn[]) {
  const texts = { id: 'id', title: 'Название' };
  const { attributes, ignored } = attributesOfCatalogue({ rows: 100, preset: undefined, texts, columns });
  const text = starterConfig({ ...SERVERS, attributes, remarks: remarksOn(ignored) });
  return { text, attributes: attributes.length, ignored };
}

function domainOf({ text }: { readonly text: string }): DomainSettings {
  const [domain] = loadSettings({ env: { SERPCACHE_CONFIG: 'c.yaml' }, cwd: '/', readFile: () => text }).domains;
  return domain ?? assert.fail('no domain');
}

test('a starter configuration has one domain with an embedded index, and the service accepts it', () => {
  const { name, engine, store } = domainOf(starter([column('brand')]));
  assert.deepEqual([name, engine.kind, store], ['shop', 'sqlite', { kind: 'none' }]);
  assert.deepEqual(domainOf(starter([])).attributes, []);
});

test('numbers and dates sort, and columns whose values repeat are facets', () => {
  const { attributes } = domainOf(
    starter([
      column('brand'),
      column('serial', { distinct: 100 }),
      column('text', { distinct: 201, values: 1000 }),
      column('price', { type: 'number' }),
      column('rooms', { type: 'integer', distinct: 5 }),
      column('mileage', { type: 'integer', distinct: 90 }),
      column('added', { type: 'date' }),
    ]),
  );
  assert.deepEqual(
    attributes.map(({ name, type, facet, sort }) => `${name} ${type}${facet ? ' facet' : ''}${sort ? ' sort' : ''}`),
    [
      'brand string facet',
      'serial string',
      'text string',
      'price number sort',
      'rooms integer facet sort',
      'mileage integer sort',
      'added date sort',
    ],
  );
});

test('a column of lists has several values, and no order', () => {
  const { attributes } = domainOf(
    starter([column('tags', { multiple: true }), column('sizes', { type: 'integer', multiple: true, distinct: 5 })]),
  );
  assert.deepEqual(
    attributes.map(({ name, multiple, facet, sort }) => ({ name, multiple, facet, sort })),
    [
      { name: 'tags', multiple: true, facet: true, sort: false },
      { name: 'sizes', multiple: true, facet: true, sort: false },
    ],
  );
});

test('a name that YAML would read as another value stays a name', () => {
  const { attributes } = domainOf(starter(['null', 'true', 'false', 'no', 'n', 'e1'].map((name) => column(name))));
  assert.deepEqual(pluck(attributes, 'name'), ['null', 'true', 'false', 'no', 'n', 'e1']);
  const text = starterConfig({ ...SERVERS, domain: 'null', attributes: [], remarks: [] });
  assert.equal(domainOf({ text }).name, 'null');
});

test('a column whose name is not an attribute name keeps it as its label', () => {
  const names = ['Цена', 'Год  выпуска', `a $\{HOME} "b": # \\`, `${'x'.repeat(79)}🚲`, 'brand'];
  const { attributes } = domainOf(starter(names.map((each, i) => column(each, { name: i === 4 ? each : `c${i}` }))));
  assert.deepEqual(pluck(attributes, 'label'), [...names.slice(0, 3), `${'x'.repeat(79)}\ufffd`, undefined]);
});

test('a column that cannot be an attribute is left out with the reason, in the file as well', () => {
  const made = starter([
    column('Цена', { name: 'tsena' }),
    column('ЦЕНА', { name: 'tsena' }),
    column('page'),
    column('', { name: 'column_4' }),
    column('tags', { unusable: 'it holds objects or lists of lists' }),
    ...Array.from({ length: 70 }, (_, i) => column(`c${i}`)),
  ]);
  assert.equal(domainOf(made).attributes.length, 64);
  assert.equal(made.attributes, 64);
  const reasons = Object.fromEntries(made.ignored);
  assert.match(reasons['ЦЕНА'] ?? '', /"tsena" is the column "Цена" already/);
  assert.match(reasons['page'] ?? '', /reserved in searches/);
  assert.equal(reasons[''], 'it has no name');
  assert.equal(reasons['tags'], 'it holds objects or lists of lists');
  assert.match(reasons['c69'] ?? '', /at most 64 attributes/);
  for (const [name] of made.ignored) assert.ok(made.text.includes(`#   "${name}": `), name);
});

test('the form of a shop is written, and its names have the labels of the page', () => {
  const catalogue = {
    rows: 1,
    preset: 'shopify' as const,
    texts: { id: 'Handle', title: 'Title' },
    columns: [column('Variant Price', { name: 'price', type: 'number', currency: 'EUR', format: '1.299,50' })],
  };
  const made = attributesOfCatalogue(catalogue, { encoding: 'windows-1251' });
  const { attributes, catalogue: form } = domainOf({ text: starterConfig({ ...SERVERS, ...made, remarks: [] }) });
  assert.deepEqual(form, { preset: 'shopify', encoding: 'windows-1251', columns: {}, raw: [] });
  assert.deepEqual(attributes, [
    { name: 'price', type: 'number', facet: false, sort: true, format: '1.299,50', currency: 'EUR' },
  ]);
});
