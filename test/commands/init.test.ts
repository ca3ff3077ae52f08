import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { temporaryFolder } from '../folder.ts';
import { type CliCall, callCli } from './harness.ts';

const folder = temporaryFolder({ after });
const path = (...names: readonly string[]): string => join(folder, ...names);

const CSV = `sku;Название;Цена;brand;Год выпуска;Теги
A-1;Диван угловой;15990.50;Ikea;2019;мебель
A-2;Bicycle 26";7990;Stels;2020;sport
A-3;Велосипед;8990;Stels;2019;sport
`;
writeFileSync(path('shop.csv'), CSV.replace('26"', '26'));

/** `init` with a catalogue, whose index is in a folder of the test. */
const initialize = (domain: string | undefined, file: string, words: readonly string[], calling: CliCall = {}) =>
  callCli(
    ['init', ...(domain === undefined ? [] : [domain]), '--catalogue', file, '--into', newFolder(), ...words],
    calling,
  );
const newFolder = (): string => mkdtempSync(join(folder, 'index-'));

test('a configuration is written, and the whole catalogue is indexed with it', async () => {
  const out = path('own.yaml');
  const made = await initialize('shop', path('shop.csv'), ['--out', out]);
  assert.equal(made.code, 0, made.err);
  assert.match(
    made.out,
    /^catalogue {2}3 documents indexed in .*shop\.sqlite\nwritten {4}.*own\.yaml, .*serpcache\.schema\.json: domain shop with 4 attributes\nthen {7}.*npm start\n$/,
  );
  const text = readFileSync(out, 'utf8');
  assert.match(text, /^ {6}tsena: \{ type: number, sort: true, label: "Цена" \}$/m);
  assert.match(text, /^ {6}brand: \{ type: string, search: true, facet: true \}$/m);
  assert.match(text, /^ {6}god_vypuska: \{ type: integer, facet: true, sort: true, label: "Год выпуска" \}/m);

  const indexed = await callCli(['index', 'shop', path('shop.csv'), '--into', folder], {
    env: { SERPCACHE_CONFIG: out },
  });
  assert.equal(indexed.code, 0, indexed.err);
  assert.match(indexed.out, /^3 documents indexed for shop/);
  assert.match(indexed.err, /read under another name: sku as id, Название as title, Цена as tsena/);
  assert.doesNotMatch(indexed.err, /ignored/);
});

test('an update adds, replaces and deletes documents of an index, and leaves the others', async () => {
  const out = path('updated.yaml');
  const into = newFolder();
  const made = await callCli(['init', 'shop', '--catalogue', path('shop.csv'), '--into', into, '--out', out]);
  assert.equal(made.code, 0, made.err);
  const env = { SERPCACHE_CONFIG: out };
  const update = (lines: readonly unknown[], ...options: string[]) => {
    writeFileSync(path('changes.ndjson'), lines.map((line) => JSON.stringify(line)).join('\n'));
    return callCli(['index', 'shop', path('changes.ndjson'), '--into', into, '--update', ...options], { env });
  };
  const buildOf = (): unknown => {
    const database = new DatabaseSync(join(into, 'shop.sqlite'));
    const row = database.prepare("SELECT value FROM meta WHERE name = 'build'").get();
    database.close();
    return row?.['value'];
  };
  const build = buildOf();
  const added = await update([
    { id: 'new-1', title: 'Самовар', op: 'upsert' },
    { id: 'new-2', title: 'Чайник' },
  ]);
  assert.match(added.out, /^2 documents added, 0 replaced, 0 deleted for shop in .*shop\.sqlite\n$/, added.err);
  assert.doesNotMatch(added.err, /ignored/);
  assert.notEqual(buildOf(), build, 'a service sees it');
  const changed = await update([
    { id: 'new-1', title: 'Самовар медный' },
    { id: 'new-2', op: 'delete' },
    { id: 'nobody', op: 'delete' },
  ]);
  assert.match(changed.out, /^0 documents added, 1 replaced, 1 deleted, 1 to delete were not there for shop/);
  const { code, err } = await update(
    [{ id: 'new-3', title: 'Диван', op: 'remove' }, { op: 'delete' }],
    '--max-bad-rows',
    '1',
  );
  assert.equal(code, 3);
  assert.match(err, /line 1, field "op": "remove"; allowed: upsert, delete(?:.|\n)*line 2, field "id": missing/);
  const none = await callCli(['index', 'shop', path('shop.csv'), '--into', path('nothing'), '--update'], { env });
  assert.equal(none.code, 3);
  assert.match(none.err, /shop\.sqlite does not exist; build it with: (npm run serpcache -- )?.*index shop/);
});

test('an existing index is never overwritten', async () => {
  const words = ['init', 'shop', '--catalogue', path('shop.csv'), '--into', path('kept'), '--out'];
  assert.equal((await callCli([...words, path('first.yaml')])).code, 0);
  const { code, err } = await callCli([...words, path('second.yaml')]);
  assert.equal(code, 3);
  assert.match(
    err,
    /kept\/shop\.sqlite exists already, and nothing was changed; remove this index, or name another folder: --into/,
  );
  assert.equal(existsSync(path('second.yaml')), false);
});

test('a catalogue that cannot be indexed is refused, and nothing is written', async () => {
  writeFileSync(path('wrong.csv'), `id,title\n1,a\n2,b\n1,c\n${'x'.repeat(513)},d\n3,\n`);
  const index = (...words: readonly string[]) =>
    initialize('shop', path('wrong.csv'), ['--out', path('new', 'wrong.yaml'), ...words]);
  mkdirSync(path('new'));
  const refused = await index();
  assert.equal(refused.code, 3);
  assert.match(refused.err, /wrong\.csv, line 4: row 3 \(id "1"\): the id is taken by row 1/);
  const few = await index('--max-bad-rows', '2');
  assert.match(few.err, /line 6, field "title": empty/);
  assert.deepEqual(readdirSync(path('new')), []);
  const enough = await index('--max-bad-rows', '3');
  assert.match(enough.out, /^catalogue {2}2 documents indexed/);
  assert.deepEqual(readdirSync(path('new')), ['serpcache.schema.json', 'wrong.yaml']);
  assert.match(enough.err, /skipped: .*line 4: row 3.*skipped: .*line 5, field "id": 513 bytes.*skipped: .*line 6/s);
});

test('a column of numbers with one text among them is told, with the text', async () => {
  const rows = Array.from({ length: 20 }, (_, i) => `${i},a,${i === 9 ? 'on request' : `${i}.50 EUR`}`);
  writeFileSync(path('request.csv'), `id,title,price\n${rows.join('\n')}\n`);
  const { code, err } = await initialize('shop', path('request.csv'), ['--out', path('request.yaml')]);
  assert.equal(code, 0, err);
  assert.match(err, /^note: price: 19 of 20 values are numbers, "on request" is not$/m);
  assert.match(readFileSync(path('request.yaml'), 'utf8'), /price: .* # 19 of 20 values are numbers/);
});

test('the configuration has the columns, the form and the formats that index needs to read the file again', async () => {
  const [file, out] = [path('own-names.csv'), path('own-names.yaml')];
  const bytes = Buffer.from(
    'Nr;Text;价格;Preis;Seit\n1;Caf\u00e9;5;1.299,00 \u20ac;05/25/2026 10:00\n2;b;6;5,00 \u20ac;05/01/2026\n',
  );
  writeFileSync(file, bytes);
  const named = ['--id', 'Nr', '--title', 'Text'];
  const made = await initialize('shop', file, ['--out', out, ...named]);
  assert.equal(made.code, 0, made.err);
  const text = readFileSync(out, 'utf8');
  assert.ok(text.includes('catalogue: { columns: { id: "Nr", title: "Text", column_3: "价格" } }'), text);
  assert.match(text, /preis: \{ type: number, sort: true, format: "1\.299,50", currency: EUR, label: "Preis" \}/);
  assert.match(text, /seit: \{ type: date, sort: true, format: "MM\/DD\/YYYY", label: "Seit" \}/);
  assert.match(made.err, /note: seit: of a time, its day was kept.* \(1 times\)/);
  const again = await callCli(['index', 'shop', file, '--into', folder], { env: { SERPCACHE_CONFIG: out } });
  assert.match(again.out, /^2 documents indexed/, again.err);
  const wrong = await initialize('shop', file, ['--out', path('x.yaml'), '--id', 'Nummer', '--title', 'Text']);
  assert.match(wrong.err, /no column "Nummer" in the header; the header has: Nr, Text, 价格, Preis, Seit/);
});

test('--serve starts the service with the configuration that was written, or with the one of the environment', async () => {
  const served: (string | undefined)[] = [];
  const calling = { serve: async (config?: string) => void served.push(config) };
  const out = path('served.yaml');
  const made = await initialize('shop', path('shop.csv'), ['--out', out, '--serve'], calling);
  assert.match(made.out, /^next time {2}SERPCACHE_CONFIG=.* npm start$/m);
  const env = { SERPCACHE_CONFIG: out };
  await callCli(['index', 'shop', path('shop.csv'), '--into', folder, '--serve'], { ...calling, env });
  await initialize('shop', path('none.csv'), ['--out', path('none.yaml'), '--serve'], calling);
  assert.deepEqual(served, [out, undefined]);
});

test('an existing file is never overwritten', async () => {
  writeFileSync(path('mine.yaml'), 'mine');
  const { code, out, err } = await initialize('shop', path('shop.csv'), ['--out', path('mine.yaml')]);
  assert.deepEqual([code, out], [3, '']);
  assert.match(
    err,
    /mine\.yaml exists already, and nothing was changed; start with it, or name another file: --out FILE/,
  );
  assert.equal(readFileSync(path('mine.yaml'), 'utf8'), 'mine');
});

test('a folder that is not there is told, and nothing is written', async () => {
  const { code, err } = await initialize('shop', path('shop.csv'), ['--out', path('no-such-folder', 'own.yaml')]);
  assert.equal(code, 3);
  assert.match(err, /own\.yaml cannot be written: ENOENT.*; nothing was written/);
  assert.ok(!existsSync(path('no-such-folder')));
});

test('a file that appears while the catalogue is read is not overwritten either', async () => {
  // A dangling link does not exist for the first check, and exists for the write.
  symlinkSync(path('elsewhere.yaml'), path('link.yaml'));
  const { code, err } = await initialize('shop', path('shop.csv'), ['--out', path('link.yaml')]);
  assert.equal(code, 3);
  assert.match(err, /link\.yaml exists already, and nothing was changed/);
  assert.equal(existsSync(path('elsewhere.yaml')), false);
});

test('the domain takes the name of the file, unless it is given', async () => {
  writeFileSync(path('Мой Каталог.v2.csv'), 'id,title\n1,a\n');
  const { out, code } = await initialize(undefined, path('Мой Каталог.v2.csv'), ['--out', path('named.yaml')]);
  assert.equal(code, 0);
  assert.match(
    out,
    /^catalogue {2}1 documents indexed in .*moy-katalog\.sqlite\nwritten .*: domain moy-katalog with 0 attributes/,
  );
});

test('a domain and a column may have names that are other values in YAML', async () => {
  writeFileSync(path('null.csv'), 'id,title,true,null,false\n1,a,x,2,3\n');
  const { code, err } = await initialize(undefined, path('null.csv'), ['--out', path('null.yaml')]);
  assert.equal(code, 0, err);
  const indexed = await callCli(['index', 'null', path('null.csv'), '--into', folder], {
    env: { SERPCACHE_CONFIG: path('null.yaml') },
  });
  assert.equal(indexed.code, 0, indexed.err);
  assert.doesNotMatch(indexed.err, /ignored/);
});

test('the printed command can be pasted into a shell', async () => {
  const [file, out] = [path("it's my shop.csv"), path('my shop.yaml')];
  writeFileSync(file, 'id,title\n1,a\n');
  const made = await initialize('shop', file, ['--out', out]);
  const [, start = ''] = /^then {7}(.*)$/m.exec(made.out) ?? [];
  const printed = (line: string): string[] => {
    const { stdout } = spawnSync('sh', ['-c', `env printf '%s\\n' ${line}`], { encoding: 'utf8' });
    return stdout.trimEnd().split('\n');
  };
  assert.deepEqual(printed(start.trim()), [`SERPCACHE_CONFIG=${out}`, 'npm', 'start']);
});

test('columns that the domain does not declare are listed, and the catalogue is indexed without them', async () => {
  writeFileSync(path('goods.csv'), 'id,title,colour,brand\n1,Диван,red,Ikea\n');
  const { code, err } = await callCli(['index', 'goods', path('goods.csv'), '--into', folder], { env: {} });
  assert.equal(code, 0, err);
  assert.match(err, /columns ignored, as domain goods declares no such attributes: colour\n/);
  const source = await callCli(['sphinx-source', '--out', path('sphinx'), `goods=${path('goods.csv')}`], { env: {} });
  assert.equal(source.code, 0, source.err);
  assert.match(source.err, /columns ignored, as domain goods declares no such attributes: colour\n/);
});

test('wrong arguments are refused before a file is read or written', async () => {
  for (const [words, said] of [
    [['init', 'Shop', '--catalogue', 'no-such.csv'], /the domain takes a lower-case letter.*not "Shop"/],
    [['init', '--catalogue', 'no-such.csv', '--preset', 'ebay'], /--preset takes google, yml, shopify.*not "ebay"/],
    [['init', '--engine', 'mysql://127.0.0.1/goods'], /the engine takes sphinx:\/\/host:9306\/index.*not "mysql:/],
    [['init', '--store', 'http://127.0.0.1'], /the store takes redis:\/\/user@host:6379.*not "http:/],
    [['init', '--store', 'redis://ana:sec@ret@127.0.0.1'], /the one of a store is taken from STORE_PASSWORD/],
    [['init', '--engine', 'sphinx://ana:secret@127.0.0.1'], /a password in an address is seen by everybody/],
    [['init', '--store', 'redis://ana:secret@127.0.0.1'], /seen by everybody on this machine; .*STORE_PASSWORD/],
    [['init', 'shop', '--store', 'none'], /has the domains of the demo: goods, auto, realty, jobs; not shop/],
    [['init'], /no terminal for its questions: give --engine, --store or --catalogue/],
    [['index', 'goods'], /an argument is missing/],
    [
      ['index', 'shop', 'no-such.csv'],
      /no domain "shop"; configured: goods, .*; for another one: serpcache init shop --catalogue no-such\.csv/,
    ],
    [['index', 'goods', 'no-such.csv', '--max-bad-rows', '-1'], /--max-bad-rows takes a whole number from 0 to/],
  ] as const) {
    const { code, err } = await callCli(words, { env: {} });
    assert.equal(code, 64, `${words.join(' ')}: ${err}`);
    assert.match(err, said);
  }
});

test('the help describes the columns of a catalogue', async () => {
  const { out } = await callCli(['index', '--help']);
  for (const word of ['id ', 'title ', 'description', 'артикул', 'название', '.tsv', 'semicolons', 'ignored'])
    assert.ok(out.includes(word), word);
  assert.match(out, /date 2026-11-20/);
});
