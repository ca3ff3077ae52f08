import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { TRY_COMMAND } from '../deploy/check/image-service.ts';

const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const english = read('README.md');

/** The parts of a page that do not depend on its language, in their order. */
function structureOf(page: string) {
  const all = (pattern: RegExp): readonly string[] =>
    Array.from(page.matchAll(pattern), ([whole, part]) => part ?? whole);
  return {
    headings: all(/^#+ /gm),
    // Comments of commands are of the language.
    code: all(/^```[\s\S]*?^```$/gm).map((block) => block.replaceAll(/ *(?:#|→) .*$/gm, '')),
    links: all(/\]\(([^)]+)\)/g).map((link) => link.replace('README.ru.md', 'README.md')),
    pictures: all(/(?:srcset|src)="([^"]+)"/g),
    rows: all(/^\|.*\|$/gm).map((row) => row.split('|').length),
    paragraphs: page.split(/\n{2,}/).length,
  };
}

test('README.ru.md has the structure of README.md: headings, code, links, pictures, tables and their figures', () => {
  assert.deepEqual(structureOf(read('README.ru.md')), structureOf(english));
});

/** Every number of the text, with a point for decimals: they are the same in both languages. */
function numbersOf(page: string, decimal: string, group: RegExp): readonly string[] {
  const text = page.replaceAll(/^```[\s\S]*?^```$/gm, '');
  return Array.from(text.replaceAll(group, '').matchAll(/\d+(?:[.,]\d+)*/g), ([number]) =>
    number.replaceAll(decimal, '.'),
  ).toSorted();
}

test('README.ru.md has the numbers of README.md', () => {
  const [own, others] = [
    numbersOf(english, '.', /(?<=\d),(?=\d{3})/g),
    numbersOf(read('README.ru.md'), ',', /(?<=\d)[ \u00a0](?=\d{3}(?!\d))/g),
  ];
  assert.deepEqual(others, own);
});

test('README.md stays short, and its pictures are there', () => {
  assert.ok(english.split('\n').length <= 155);
  const { pictures } = structureOf(english);
  assert.equal(pictures.length, 6);
  for (const picture of pictures) assert.ok(existsSync(join(root, picture)), picture);
});

/** The tables of a page: the cells of each row, by its first cell. */
function tablesOf(page: string): readonly ReadonlyMap<string, readonly string[]>[] {
  return page.split(/\n(?!\|)/).map((part) => {
    const rows = part.split('\n').filter((line) => line.startsWith('|'));
    const cells = rows.map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()));
    return new Map(cells.map(([, first = '', ...rest]) => [first, rest.slice(0, -1)]));
  });
}

test('the figures beside other caches are those of the record, by its page', () => {
  const tables = tablesOf(read('loadtest/labs/peers/README.md')).filter((table) => table.has('serpcache L1'));
  const own = tablesOf(english).find((table) => table.has('memory and files per page'));
  const peers = own?.get('') ?? [];
  assert.equal(peers[0], 'serpcache L1');
  // In the record each peer is a row; the number is the table, and the column in it.
  const places: Readonly<Record<string, readonly [table: number, column: number]>> = {
    'requests per core, one page': [0, 0],
    'requests per core, 1,200 pages': [1, 0],
    'memory and files per page': [2, 0],
    'engine queries for a purged page, 150 clients': [3, 0],
    'p99 of expired pages, engine dead': [4, 2],
    'fresh again after the engine is back': [4, 5],
  };
  for (const [name, [table, column]] of Object.entries(places)) {
    const measured = peers.map((peer) => tables[table]?.get(peer)?.[column]);
    assert.deepEqual(own?.get(name), measured, name);
  }
});

test('the headline is what the record of flush-survival says', () => {
  const page = read('loadtest/README.md');
  const cellsOf = (row: RegExp): readonly string[] => row.exec(page)?.[0].split(' | ') ?? [];
  const steady = cellsOf(/^\| x3-steady \| .*$/m);
  const lost = cellsOf(/^\| x3-flush \| all but the holdout \| .*$/m);
  const flushed = cellsOf(/^\| x3-flush \| 1,200\/s \| .*$/m);
  const [searches, calls, most, recovered, refused] = [steady[2], steady[9], lost[7], lost[5], flushed[8]];
  assert.deepEqual([searches, calls, most, refused], ['1,200/s', '105/s', '251/s', '3.4 %']);
  assert.match(recovered ?? '', /^34(?:\.\d)? s$/);
  assert.match(english, /34 s after the last stage/);
  assert.match(steady[7] ?? '', /^91\.\d %$/);
  assert.match(english, /91 % are hits/);
  assert.match(english, /1,200 searches a second the engine gets 105 queries a second, and at most 251 /);
  assert.match(english, /3\.4 % of the searches were refused/);
  assert.match(english, /p99 rose from 89 to\s+487 ms/);
  assert.deepEqual([steady[5], flushed[5]], ['88.7 ms', '487 ms']);
});

test('the command of the image is the one that `npm run deploy:check` builds with', () => {
  assert.ok(english.split('\n').includes(TRY_COMMAND), TRY_COMMAND);
});

test('llms.txt names pages that exist', () => {
  const { links } = structureOf(read('llms.txt'));
  assert.ok(links.length > 15);
  for (const link of links) assert.ok(existsSync(join(root, link)), link);
});
