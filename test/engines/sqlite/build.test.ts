import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { buildIndex } from '../../../src/engines/sqlite/build.ts';
import { openIndex } from '../../../src/engines/sqlite/open-index.ts';
import { IndexError, type IndexErrorCode } from '../../../src/engines/sqlite/schema.ts';
import type { Document } from '../../../src/search/domain.ts';
import { ask } from '../../contract/engine-truth.ts';
import { DOMAIN, temporaryDirectory, titled } from './harness.ts';

const SNIPPET = { snippetLength: 200 };

async function refused(work: () => unknown, code: IndexErrorCode, ...said: RegExp[]): Promise<void> {
  await assert.rejects(
    async () => work(),
    (error) => {
      assert.ok(error instanceof IndexError, String(error));
      assert.equal(error.code, code, error.message);
      for (const pattern of said) assert.match(error.message, pattern);
      return true;
    },
  );
}

it('a build reports its progress, and the index keeps number of documents and build time', async (context) => {
  const file = join(await temporaryDirectory(context), 'deep', 'er', 'goods.sqlite');
  const documents = titled(...Array.from({ length: 1200 }, (_, index) => `товар ${index}`));
  const progress: number[] = [];
  const built = await buildIndex({
    file,
    domain: DOMAIN,
    documents,
    builtAtMs: 1_700_000_000_123,
    onProgress: (count) => progress.push(count),
  });
  assert.deepEqual(built, { documents: 1200 });
  assert.deepEqual(progress, [500, 1000, 1200]);
  const index = openIndex({ file, domain: DOMAIN, ...SNIPPET });
  assert.equal(index.meta.documents, 1200);
  assert.equal(index.meta.builtAtMs, 1_700_000_000_123);
  index.close();
});

it('documents may come one by one from an async source', async (context) => {
  const file = join(await temporaryDirectory(context), 'goods.sqlite');
  async function* source(): AsyncGenerator<Document> {
    yield* titled('чайник', 'самовар');
  }
  assert.deepEqual(await buildIndex({ file, domain: DOMAIN, documents: source(), builtAtMs: 0 }), { documents: 2 });
});

it('an index without documents answers with empty pages', async (context) => {
  const file = join(await temporaryDirectory(context), 'goods.sqlite');
  await buildIndex({ file, domain: DOMAIN, documents: [], builtAtMs: 0 });
  const index = openIndex({ file, domain: DOMAIN, ...SNIPPET });
  index.probe();
  assert.equal(index.search(ask('чайник', { facets: ['brand'] })).total, 0);
  index.close();
});

it('a probe fails when a table that a search reads is missing', async (context) => {
  const file = join(await temporaryDirectory(context), 'goods.sqlite');
  for (const table of ['fts', 'words', 'documents']) {
    await buildIndex({ file, domain: DOMAIN, documents: titled('чайник'), builtAtMs: 0 });
    const index = openIndex({ file, domain: DOMAIN, ...SNIPPET });
    index.probe();
    const damage = new DatabaseSync(file);
    damage.exec(`DROP TABLE ${table}`);
    damage.close();
    assert.throws(() => index.probe(), new RegExp(table));
    index.close();
  }
});

it('a duplicate id is refused with both rows, and the old index stays', async (context) => {
  const directory = await temporaryDirectory(context);
  const file = join(directory, 'goods.sqlite');
  await buildIndex({ file, domain: DOMAIN, documents: titled('чайник'), builtAtMs: 0 });
  const before = await readFile(file);
  const documents = [...titled('a', 'b', 'c'), ...titled('a', 'd').slice(1)];
  await refused(
    () => buildIndex({ file, domain: DOMAIN, documents, builtAtMs: 0 }),
    'invalid-document',
    /row 4 \(id "2"\)/,
    /taken by row 2/,
  );
  assert.deepEqual(await readFile(file), before);
  assert.deepEqual(await readdir(directory), ['goods.sqlite']);
});

it('a document that cannot be indexed is left out when its error is taken', async (context) => {
  const file = join(await temporaryDirectory(context), 'some.sqlite');
  const taken: string[] = [];
  const documents = ['1', '', '1', '2'].map((id) => ({ id, title: 'диван', description: '', attributes: {} }));
  const onRefused = ({ message }: Error): void => void taken.push(message);
  const built = await buildIndex({ file, domain: DOMAIN, documents, builtAtMs: 0, onRefused });
  assert.equal(built.documents, 2);
  assert.match(taken.join('\n'), /^row 2 .*1 to 512 bytes.*\nrow 3 .*taken by row 1$/);
});

it('a document that breaks its declaration is refused with row, id and attribute', async (context) => {
  const file = join(await temporaryDirectory(context), 'goods.sqlite');
  for (const [attributes, said] of [
    [{ brand: 7 }, /"brand" is 7, expected text/],
    [{ price: '12' }, /"price" is "12", expected a number/],
    [{ price: Number.NaN }, /"price"/],
    [{ year: 2020.5 }, /"year" is 2020.5, expected a whole number/],
    [{ year: 2 ** 53 }, /"year"/],
    [{ posted: '2023-02-29' }, /"posted" is "2023-02-29", expected a date/],
    [{ posted: '2023-2-1' }, /"posted"/],
    [{ brand: ['a', 'b'] }, /"brand" is \["a","b"\], expected text/],
    [{ colour: 'red' }, /"colour" is not declared/],
  ] as const) {
    const documents = [...titled('a'), { id: 'bad', title: 'b', description: '', attributes }];
    const build = () => buildIndex({ file, domain: DOMAIN, documents, builtAtMs: 0 });
    await refused(build, 'invalid-document', /row 2 \(id "bad"\)/, said);
  }
  for (const id of ['', 'i'.repeat(513), 'a\0b', '\ud800']) {
    const documents = [{ id, title: 'b', description: '', attributes: {} }];
    await refused(() => buildIndex({ file, domain: DOMAIN, documents, builtAtMs: 0 }), 'invalid-document', /row 1/);
  }
});

it('an aborted build leaves no file', async (context) => {
  const directory = await temporaryDirectory(context);
  const controller = new AbortController();
  function* endless(): Generator<Document> {
    for (let n = 0; ; n += 1) yield { id: `n${n}`, title: 'товар', description: '', attributes: {} };
  }
  const building = buildIndex({
    file: join(directory, 'goods.sqlite'),
    domain: DOMAIN,
    documents: endless(),
    builtAtMs: 0,
    onProgress: () => controller.abort(new Error('enough')),
    signal: controller.signal,
  });
  await refused(() => building, 'failed', /was not built: enough/);
  assert.deepEqual(await readdir(directory), []);
});

it('a build killed half-way leaves the old index unchanged, and its temporary file is deleted later', async (context) => {
  const directory = await temporaryDirectory(context);
  const file = join(directory, 'goods.sqlite');
  await buildIndex({ file, domain: DOMAIN, documents: titled('чайник'), builtAtMs: 0 });
  const program = new URL('./endless-build.ts', import.meta.url);
  const child = spawn(process.execPath, [program.pathname, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');

  const index = openIndex({ file, domain: DOMAIN, ...SNIPPET });
  assert.equal(index.search(ask('чайник')).total, 1);
  index.close();
  const leftovers = (await readdir(directory)).filter((name) => name !== 'goods.sqlite');
  assert.equal(leftovers.length, 1);
  // A fresh temporary file may belong to a running build.
  await buildIndex({ file, domain: DOMAIN, documents: titled('самовар'), builtAtMs: 0 });
  assert.equal((await readdir(directory)).length, 2);
  for (const name of leftovers) await utimes(join(directory, name), 0, 0);
  await buildIndex({ file, domain: DOMAIN, documents: titled('самовар'), builtAtMs: 0 });
  assert.deepEqual(await readdir(directory), ['goods.sqlite']);
});

it('a directory that cannot be written is a clear error', async (context) => {
  const directory = await temporaryDirectory(context);
  await writeFile(join(directory, 'file'), '');
  const file = join(directory, 'file', 'goods.sqlite');
  const build = () => buildIndex({ file, domain: DOMAIN, documents: [], builtAtMs: 0 });
  await refused(build, 'failed', /goods\.sqlite was not built/);
});

it('the error of a missing file tells how to build it', async (context) => {
  const file = join(await temporaryDirectory(context), 'goods.sqlite');
  await refused(
    () => openIndex({ file, domain: DOMAIN, ...SNIPPET }),
    'missing',
    /goods\.sqlite/,
    /serpcache index goods/,
  );
  assert.deepEqual(await readdir(join(file, '..')), [], 'opening must not create the file');
});

it('the error of a file that is no index, or of another schema or other attributes, gives the cause and the remedy', async (context) => {
  const directory = await temporaryDirectory(context);
  const rebuild = /rebuild it with: serpcache index goods <file\.ndjson\|csv> \(the demo's: remove it/;
  const open =
    (file: string, domain = DOMAIN) =>
    () =>
      openIndex({ file, domain, ...SNIPPET });

  const text = join(directory, 'text.sqlite');
  await writeFile(text, 'not a database, but long enough to look at'.repeat(100));
  await refused(open(text), 'incompatible', /is not a search index/, rebuild);
  const empty = join(directory, 'empty.sqlite');
  await writeFile(empty, '');
  await refused(open(empty), 'incompatible', /is not a search index/, rebuild);
  await refused(open(directory), 'incompatible', /cannot be opened/);

  const file = join(directory, 'goods.sqlite');
  await buildIndex({ file, domain: DOMAIN, documents: titled('чайник'), builtAtMs: 0 });
  const other = { ...DOMAIN, attributes: DOMAIN.attributes.slice(1) };
  await refused(open(file, other), 'incompatible', /built for the attributes brand:string, price:number/, rebuild);
  const lists = { ...DOMAIN, attributes: DOMAIN.attributes.map((attribute) => ({ ...attribute, multiple: true })) };
  await refused(open(file, lists), 'incompatible', /declares brand:string\[\], price:number\[\]/, rebuild);
  const flags = { ...DOMAIN, attributes: DOMAIN.attributes.map((attribute) => ({ ...attribute, facet: true })) };
  open(file, flags)().close();

  const database = new DatabaseSync(file);
  database.exec("UPDATE meta SET value = '0' WHERE name = 'schema'");
  database.close();
  await refused(open(file), 'incompatible', /has index schema 0/, rebuild);
});
