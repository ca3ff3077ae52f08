import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { buildIndex } from '../../../src/engines/sqlite/build.ts';
import { openIndex } from '../../../src/engines/sqlite/open-index.ts';
import { lockIndex, updateIndex } from '../../../src/engines/sqlite/update.ts';
import type { AttributeValue, Document, SearchDomain, SearchRequest } from '../../../src/search/domain.ts';
import type { IndexChange } from '../../../src/search/engine.ts';
import { SPELLINGS, updatesOf } from '../../contract/engine-documents.ts';
import { ask } from '../../contract/engine-truth.ts';
import { nastyTitles } from '../../contract/nasty.ts';
import { pluck } from '../../pluck.ts';
import { until } from '../../until.ts';
import { DOMAIN, temporaryDirectory, titled } from './harness.ts';

/** With texts that differ in spelling only, several texts of one document, and texts that words find. */
const MIXED: SearchDomain = {
  ...DOMAIN,
  attributes: [
    ...DOMAIN.attributes,
    { name: 'sizes', type: 'string', facet: true, sort: false, multiple: true },
    { name: 'maker', type: 'string', facet: true, sort: true, search: true },
  ],
};
const SNIPPET = { snippetLength: 80 };

/** Numbers from 0 to below `limit`, the same in every run. */
function numbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

const WORDS =
  'чайник чайники самовар диван ёлка Wi-Fi wifi wi fi rtx4060 rtx-4060 4060 128гб Müller mueller c++ м² ㏂ 手机壳';
const TEXTS = [...WORDS.split(' '), ...SPELLINGS.map(([title]) => title), ...nastyTitles(40)];
const BRANDS = ['ASUS', 'Asus', 'asus', 'Ёж', 'еж', 'Bosch', 'adidas', 'Zara', '😀', '\uff00', ''];

function randomDocument(id: string, random: (limit: number) => number): Document {
  const text = (count: number): string => Array.from({ length: count }, () => TEXTS[random(TEXTS.length)]).join(' ');
  const attributes: Record<string, AttributeValue> = {};
  const brand = (): string => (random(3) === 0 ? `Марка ${random(1000)}` : (BRANDS[random(BRANDS.length)] ?? ''));
  if (random(4) > 0) attributes['brand'] = brand();
  if (random(4) > 0) attributes['price'] = random(5) / 4;
  if (random(4) > 0) attributes['year'] = 2000 + random(4);
  if (random(4) > 0) attributes['posted'] = `2026-0${1 + random(9)}-01`;
  if (random(2) > 0) attributes['sizes'] = Array.from({ length: 1 + random(3) }, brand);
  if (random(2) > 0) attributes['maker'] = text(1);
  return { id, title: text(1 + random(3)), description: text(random(6)), attributes };
}

function searches(random: (limit: number) => number): SearchRequest[] {
  const texts = [...WORDS.split(' '), ...SPELLINGS.flatMap(([, by]) => by.split(' | ')), 'ид-7', 'марка', 'м'];
  const sorts = ['brand', 'price', 'year', 'posted', 'maker'].map(
    (attribute) => ({ by: 'attribute', attribute }) as const,
  );
  return texts.flatMap((text) => {
    const sort = { ...(sorts[random(sorts.length)] as (typeof sorts)[number]), descending: random(2) === 0 };
    const facets = ['brand', 'maker', 'posted', 'sizes', 'year'];
    const brands = { attribute: 'brand', kind: 'strings', values: ['asus', 'еж'] } as const;
    const sizes = { attribute: 'sizes', kind: 'strings', values: ['asus'] } as const;
    const years = { attribute: 'year', kind: 'range', from: 2001, to: 2002 } as const;
    const filters = [brands, sizes, years].filter(() => random(3) === 0);
    if (random(3) > 0) return [];
    return [ask(text.toLowerCase(), { facets, limit: 100 }), ask(text.toLowerCase(), { sort, filters, facets })];
  });
}

/** Everything that an index has, but for row numbers and codes, which only their order matters of. */
function contentOf(file: string, domain: SearchDomain, seed: number) {
  const database = new DatabaseSync(file);
  const all = (sql: string) =>
    database
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }));
  database.exec('CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab (main, fts, row)');
  database.exec("INSERT INTO fts (fts) VALUES ('integrity-check')");
  const content = {
    documents: all('SELECT id, title, description, attributes FROM documents ORDER BY n'),
    folded: all('SELECT folded, id FROM folded_ids JOIN documents USING (n) ORDER BY n'),
    labels: all(`
      SELECT attribute, key, label, labels.documents, id FROM labels LEFT JOIN documents ON n = first ORDER BY attribute, code
    `),
    spellings: all('SELECT * FROM spellings'),
    words: all('SELECT * FROM words'),
    meta: all("SELECT * FROM meta WHERE name <> 'build'"),
  };
  const vocabulary = all('SELECT term AS word, doc AS documents FROM temp.vocabulary ORDER BY term');
  assert.deepEqual(content.words, vocabulary);
  database.close();
  const index = openIndex({ file, domain, ...SNIPPET });
  const pages = searches(numbers(seed)).map((request) => ({ request, page: index.search(request) }));
  index.close();
  return { ...content, pages };
}

const byId = (changes: readonly IndexChange[]): IndexChange[] => changes.toSorted((a, b) => (a.id < b.id ? -1 : 1));

const build = (file: string, domain: SearchDomain, documents: Iterable<Document>) =>
  buildIndex({ file, domain, documents, builtAtMs: 5 });

it('an updated index answers as one that is built afresh from the same documents', async (context) => {
  const directory = await temporaryDirectory(context);
  for (const seed of [1, 2]) {
    const random = numbers(seed);
    const [file, fresh] = [join(directory, `${seed}.sqlite`), join(directory, `${seed}-fresh.sqlite`)];
    const held = new Map<string, Document>();
    const some = (most: number): Document[] =>
      Array.from({ length: random(most) }, () => randomDocument(`ИД-${random(150)}`, random));
    for (const document of some(100)) held.set(document.id, document);
    await build(file, MIXED, held.values());
    for (let round = 0; round < 24; round += 1) {
      const upserts = some(random(4) === 0 ? 60 : 4);
      const deletions = Array.from({ length: random(random(4) === 0 ? 60 : 4) }, () => `ИД-${random(150)}`);
      const after = new Map<string, Document | undefined>(upserts.map((document) => [document.id, document]));
      for (const id of deletions) after.set(id, undefined);
      const expected = [...after].map(([id, document]) => ({ id, before: held.get(id), after: document }));
      for (const document of upserts) held.set(document.id, document);
      for (const id of deletions) held.delete(id);
      const changes = updateIndex({ file, domain: MIXED, updates: updatesOf(upserts, deletions), atMs: 5 });
      assert.deepEqual(byId(changes), byId(expected));
      if (round % 6 < 5) continue;
      await build(fresh, MIXED, held.values());
      assert.deepEqual(contentOf(file, MIXED, seed), contentOf(fresh, MIXED, seed), `seed ${seed}, round ${round}`);
    }
    const deletions = [...held.keys()];
    updateIndex({ file, domain: MIXED, updates: updatesOf([], deletions), atMs: 5 });
    await build(fresh, MIXED, []);
    assert.deepEqual(contentOf(file, MIXED, seed), contentOf(fresh, MIXED, seed), 'emptied');
  }
});

it('a document that cannot be indexed is named, and the others are taken', async (context) => {
  const file = join(await temporaryDirectory(context), 'goods.sqlite');
  await build(file, DOMAIN, titled('чайник', 'самовар'));
  const bad = { id: '1', title: 'диван', description: '', attributes: { brand: 'ASUS', price: 'dear' } };
  const good = { ...bad, id: '3', attributes: { brand: 'asus' } };
  const [first, second, third] = updateIndex({
    file,
    domain: DOMAIN,
    updates: updatesOf([bad, good, { ...good, id: '' }]),
    atMs: 5,
  });
  assert.deepEqual(first, { id: '1', fault: 'attribute "price" is "dear", expected a number' });
  assert.deepEqual(second, { id: '3', before: undefined, after: good });
  assert.match(third?.fault ?? '', /1 to 512 bytes/);
  const index = openIndex({ file, domain: DOMAIN, ...SNIPPET });
  const page = index.search(ask('диван', { facets: ['brand'] }));
  assert.deepEqual([pluck(page.results, 'id'), page.facets['brand']], [['3'], [{ value: 'asus', count: 1 }]]);
  assert.deepEqual(index.meta, { ...index.meta, documents: 3, builtAtMs: 5 });
  index.close();
});

it('more new texts than fit between two others are in order too', async (context) => {
  const file = join(await temporaryDirectory(context), 'goods.sqlite');
  const branded = (brand: string): Document => ({ id: brand, title: 'товар', description: '', attributes: { brand } });
  await build(file, DOMAIN, ['a', 'z'].map(branded));
  const brands = Array.from({ length: 40 }, (_, index) => `m${String(index).padStart(2, '0')}`);
  for (const brand of brands) updateIndex({ file, domain: DOMAIN, updates: updatesOf([branded(brand)]), atMs: 5 });
  const index = openIndex({ file, domain: DOMAIN, ...SNIPPET });
  const sort = { by: 'attribute', attribute: 'brand', descending: false } as const;
  assert.deepEqual(pluck(index.search(ask('товар', { sort, limit: 100 })).results, 'id'), ['a', ...brands, 'z']);
  index.close();
});

it('an update of a file that is missing, or of another schema, is refused', async (context) => {
  const file = join(await temporaryDirectory(context), 'goods.sqlite');
  const update = () => updateIndex({ file, domain: DOMAIN, updates: updatesOf(titled('чайник')), atMs: 5 });
  assert.throws(update, { name: 'IndexError', code: 'missing' });
  await build(file, { ...DOMAIN, attributes: [] }, titled('самовар'));
  assert.throws(update, { name: 'IndexError', code: 'incompatible' });
});

it('a build waits for an update that has begun, and an update goes into the file that is there after its wait', async (context) => {
  const file = join(await temporaryDirectory(context), 'goods.sqlite');
  await build(file, DOMAIN, titled('чайник'));
  const writer = lockIndex(file);
  writer?.exec("INSERT OR REPLACE INTO meta VALUES ('build', 'half')");
  let isBuilt = false;
  const worker = new Worker(
    `import(${JSON.stringify(new URL('../../../src/engines/sqlite/build.ts', import.meta.url).href)})
    .then(({ buildIndex }) => buildIndex(require('node:worker_threads').workerData))`,
    {
      eval: true,
      workerData: { file, domain: DOMAIN, documents: titled('чайник', 'чайник'), builtAtMs: 6 },
    },
  );
  worker.once('exit', () => {
    isBuilt = true;
  });
  await until('the build is ready', async () => (await readdir(dirname(file))).length > 2);
  assert.equal(isBuilt, false);
  writer?.close();
  await until('the build', () => isBuilt);
  assert.equal((await readdir(dirname(file))).length, 1, 'no journal is left');
  const index = openIndex({ file, domain: DOMAIN, ...SNIPPET });
  assert.equal(index.search(ask('чайник')).total, 2);
  index.close();
});

/** A process that runs the code with `updateIndex`, `DatabaseSync`, `file` and `domain`. */
function writerProcess(file: string, code: string) {
  const update = new URL('../../../src/engines/sqlite/update.ts', import.meta.url).href;
  const program = `
    import { DatabaseSync } from 'node:sqlite';
    import { updateIndex } from ${JSON.stringify(update)};
    const [file, domain] = ${JSON.stringify([file, MIXED])};
    ${code}`;
  return spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] });
}

it('a writer that is killed when half of its pages are in the file leaves the index as it was, and open to updates', async (context) => {
  const file = join(await temporaryDirectory(context), 'goods.sqlite');
  await build(file, MIXED, titled(...Array.from({ length: 500 }, (_, at) => `чайник ${'длинный '.repeat(20)}${at}`)));
  const before = contentOf(file, MIXED, 1);
  const open = openIndex({ file, domain: MIXED, ...SNIPPET });
  // A small cache lets SQLite write pages before the end of the transaction, as a commit does.
  const writer = writerProcess(
    file,
    `
    const database = new DatabaseSync(file);
    database.exec('PRAGMA cache_size = 2; BEGIN IMMEDIATE');
    database.exec("UPDATE documents SET title = 'half-written'; DELETE FROM words; DELETE FROM meta");
    console.log('half');
    setInterval(() => {}, 1000);`,
  );
  await once(writer.stdout, 'data');
  writer.kill('SIGKILL');
  await once(writer, 'exit');
  assert.ok((await readFile(file)).includes('half-written'), 'pages are in the file');
  assert.equal(open.search(ask('чайник')).total, 500, 'the open index');
  open.close();
  assert.deepEqual(contentOf(file, MIXED, 1), before);
  assert.equal((await readdir(dirname(file))).length, 1, 'no journal is left');
  updateIndex({ file, domain: MIXED, updates: updatesOf(titled('самовар'), ['2']), atMs: 6 });
  assert.equal(contentOf(file, MIXED, 1).documents.length, 499);
});

it('two processes that update one index at once lose no document', async (context) => {
  const file = join(await temporaryDirectory(context), 'goods.sqlite');
  await build(file, MIXED, titled('самовар'));
  const names = ['a', 'b'];
  const writers = names.map((name) =>
    writerProcess(
      file,
      `
      const at = (n) => '${name}' + n;
      for (let n = 0; n < 200; n += 1) {
        const document = { id: at(n), title: 'чайник', description: 'общий', attributes: { brand: at(n % 7) } };
        const updates = [{ id: at(n), document }, ...(n % 10 === 9 ? [{ id: at(n - 1) }] : [])];
        updateIndex({ file, domain, updates, atMs: 5 });
      }`,
    ),
  );
  const exits = await Promise.all(writers.map((writer) => once(writer, 'exit')));
  assert.deepEqual(exits, [
    [0, null],
    [0, null],
  ]);
  const { documents, meta } = contentOf(file, MIXED, 1);
  const left = Array.from({ length: 200 }, (_, n) => n).filter((n) => n % 10 !== 8);
  const expected = ['1', ...names.flatMap((name) => left.map((n) => `${name}${n}`))];
  assert.deepEqual(new Set(pluck(documents, 'id')), new Set(expected));
  assert.deepEqual(
    meta.find(({ name }) => name === 'documents'),
    { name: 'documents', value: '361' },
  );
  const index = openIndex({ file, domain: MIXED, ...SNIPPET });
  assert.equal(index.search(ask('чайник', { facets: ['brand'] })).total, 360);
  index.close();
});
