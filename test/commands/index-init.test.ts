import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { callCli } from './harness.ts';

const folder = mkdtempSync(join(tmpdir(), 'serpcache-init-'));
after(() => rmSync(folder, { recursive: true }));
const path = (name: string): string => join(folder, name);

const CSV = `sku;Название;Цена;brand;Год выпуска;Теги
A-1;Диван угловой;15990.50;Ikea;2019;мебель
A-2;Bicycle 26";7990;Stels;2020;sport
A-3;Велосипед;8990;Stels;2019;sport
`;
writeFileSync(path('shop.csv'), CSV.replace('26"', '26'));

test('--init writes a configuration with which the whole catalogue is indexed', async () => {
  const out = path('own.yaml');
  const made = await callCli(['index', '--init', 'shop', path('shop.csv'), '--out', out]);
  assert.equal(made.code, 0, made.err);
  assert.match(made.out, /domain shop, 4 attributes of 3 rows\. Then:\n.*index shop .*shop\.csv\n.*npm start\n$/s);
  const text = readFileSync(out, 'utf8');
  assert.match(text, /^ {6}tsena: \{ type: number, sort: true, label: "Цена" \}$/m);
  assert.match(text, /^ {6}brand: \{ type: string, facet: true \}$/m);
  assert.match(text, /^ {6}god_vypuska: \{ type: integer, facet: true, sort: true, label: "Год выпуска" \}/m);

  const indexed = await callCli(['index', 'shop', path('shop.csv'), '--into', folder], {
    env: { SERPCACHE_CONFIG: out },
  });
  assert.equal(indexed.code, 0, indexed.err);
  assert.match(indexed.out, /^3 documents indexed for shop/);
  assert.match(indexed.err, /read under another name: sku as id, Название as title, Цена as tsena/);
  assert.doesNotMatch(indexed.err, /ignored/);
});

test('an existing file is never overwritten', async () => {
  writeFileSync(path('mine.yaml'), 'mine');
  const { code, out, err } = await callCli(['index', '--init', 'shop', path('shop.csv'), '--out', path('mine.yaml')]);
  assert.deepEqual([code, out], [3, '']);
  assert.match(err, /mine\.yaml exists already, and nothing was changed; name another file: --out FILE/);
  assert.equal(readFileSync(path('mine.yaml'), 'utf8'), 'mine');
});

test('a file that appears while the catalogue is read is not overwritten either', async () => {
  // A dangling link does not exist for the first check, and exists for the write.
  symlinkSync(path('elsewhere.yaml'), path('link.yaml'));
  const { code, err } = await callCli(['index', '--init', 'shop', path('shop.csv'), '--out', path('link.yaml')]);
  assert.equal(code, 3);
  assert.match(err, /link\.yaml exists already, and nothing was changed/);
  assert.equal(existsSync(path('elsewhere.yaml')), false);
});

test('the domain takes the name of the file, unless it is given', async () => {
  writeFileSync(path('Мой Каталог.v2.csv'), 'id,title\n1,a\n');
  const { out, code } = await callCli(['index', '--init', path('Мой Каталог.v2.csv'), '--out', path('named.yaml')]);
  assert.equal(code, 0);
  assert.match(out, /domain moy-katalog, 0 attributes of 1 rows/);
  assert.match(out, /SERPCACHE_CONFIG=\S+ npm run serpcache -- index moy-katalog '[^']*Мой Каталог\.v2\.csv'\n/);
});

test('a domain and a column may have names that are other values in YAML', async () => {
  writeFileSync(path('null.csv'), 'id,title,true,null,false\n1,a,x,2,3\n');
  const { code, err } = await callCli(['index', '--init', path('null.csv'), '--out', path('null.yaml')]);
  assert.equal(code, 0, err);
  const indexed = await callCli(['index', 'null', path('null.csv'), '--into', folder], {
    env: { SERPCACHE_CONFIG: path('null.yaml') },
  });
  assert.equal(indexed.code, 0, indexed.err);
  assert.doesNotMatch(indexed.err, /ignored/);
});

test('the printed commands can be pasted into a shell', async () => {
  const [file, out] = [path("it's my shop.csv"), path('my shop.yaml')];
  writeFileSync(file, 'id,title\n1,a\n');
  const made = await callCli(['index', '--init', 'shop', file, '--out', out]);
  const [, index = '', start = ''] = made.out.split('\n');
  const printed = (line: string): string[] => {
    const { stdout } = spawnSync('sh', ['-c', `env printf '%s\\n' ${line}`], { encoding: 'utf8' });
    return stdout.trimEnd().split('\n');
  };
  assert.deepEqual(printed(index.trim()).slice(0, 1), [`SERPCACHE_CONFIG=${out}`]);
  assert.equal(printed(index.trim()).at(-1), file);
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
    [['index', '--init', 'Shop', 'no-such.csv'], /the domain takes a lower-case letter.*not "Shop"/],
    [['index', '--init', 'shop', 'no-such.csv', '--into', folder], /--into goes without --init/],
    [['index', 'goods', 'no-such.csv', '--out', path('x.yaml')], /--out goes with --init/],
    [['index', 'goods'], /takes a domain and a file/],
    [
      ['index', 'shop', 'no-such.csv'],
      /no domain "shop"; configured: goods, .*; for another one: serpcache index --init/,
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
