import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { catalogueError, catalogueFiles, LISTS } from './harness.ts';

const files = catalogueFiles();
const HEADER = 'id,title,description,price,area,date\n';

describe('a catalogue in CSV', () => {
  it('is read as documents, with numbers as numbers and empty cells as missing values', async () => {
    const text = `${HEADER}1,"Диван ""угловой"", серый","две\nстроки 😀",15000,3.5,2026-11-20\n2,Стол,,,,\n`;
    assert.deepEqual(await files.read('good.csv', text), [
      {
        id: '1',
        title: 'Диван "угловой", серый',
        description: 'две\nстроки 😀',
        attributes: { price: 15000, area: 3.5, date: '2026-11-20' },
      },
      { id: '2', title: 'Стол', description: '', attributes: {} },
    ]);
  });

  it('may have its columns in any order, undeclared ones among them, and no description at all', async () => {
    const [document] = await files.read('order.csv', 'price,colour,title,id\n5,red,a,1\n');
    assert.deepEqual(document, { id: '1', title: 'a', description: '', attributes: { price: 5 } });
  });

  it('may be packed, start with a byte order mark, end its lines with CRLF, and hold blank lines', async () => {
    const text = '\ufeffid,title\r\n\r\n1,a\r\n2,b';
    const plain = await files.read('marks.csv', text);
    assert.deepEqual(
      plain.map(({ id, title }) => id + title),
      ['1a', '2b'],
    );
    assert.deepEqual(await files.read('marks.csv.gz', gzipSync(text)), plain);
  });

  it('may be delimited by semicolons or tabs, as spreadsheets write it', async () => {
    for (const [delimiter, name] of [
      [';', 'semi.csv'],
      ['\t', 'tabs.csv'],
      ['\t', 'tabs.tsv'],
    ] as const) {
      const text = ['id,title', '1,a', '2,"b,c"'].join('\n').replace(/,(?!c)/g, delimiter);
      assert.deepEqual(
        (await files.read(name, text)).map(({ title }) => title),
        ['a', 'b,c'],
      );
    }
  });

  it('is delimited by the delimiter of its header, after blank lines and outside quotes', async () => {
    for (const [header, row] of [
      ['"id";"title";"price, in roubles, net";brand', '1;a, b, c, d;5;Stels'],
      ['id;title;price, in roubles;brand', '1;a, b, c, d;5;Stels'],
      ['\n"id";"title";"price, in roubles, net";brand', '1;a, b, c, d;5;Stels'],
      ['\r\n\r\nid;title;brand\r', '1;a, b, c, d;Stels\r'],
      ['id;title;"sizes, colours, kinds";brand', '1;"a, b, c, d";;Stels'],
      ['"id";"title";"a,\nb,""c,"",d";brand', '1;"a, b, c, d";;Stels'],
    ] as const) {
      const documents = await files.read('names.csv', `${header}\n${row}\n`);
      const attributes = { brand: 'Stels' };
      assert.deepEqual(documents, [{ id: '1', title: 'a, b, c, d', description: '', attributes }], header);
    }
  });

  it('may hold no row, but must have a header with id and title, each column once', async () => {
    assert.deepEqual(await files.read('none.csv', HEADER), []);
    await assert.rejects(files.read('empty.csv', ''), catalogueError(1, undefined, /no header row/));
    await assert.rejects(
      files.read('h.csv', 'title,price\na,5\n'),
      catalogueError(
        1,
        'id',
        /no such column in the header; allowed: id, sku, .*артикул.*the header has: title, price$/,
      ),
    );
    await assert.rejects(
      files.read('h.csv', 'id|title\n1|a\n'),
      catalogueError(1, 'id', /separated by commas, semicolons or tabs$/),
    );
    await assert.rejects(files.read('h.csv', '\nid,price\n1,5\n'), catalogueError(2, 'title', /no such column/));
    await assert.rejects(files.read('h.csv', 'id,title,title\n1,a,b\n'), catalogueError(1, 'title', /twice/));
  });

  it('is refused with the first line of the row, after cells of several lines, CRLF and blank lines', async () => {
    const bad = '4,x,,cheap,,\n';
    const several = `${HEADER}1,a,"one\ntwo\nthree",1,,\n\n${bad}`;
    await assert.rejects(
      files.read('lines.csv', several),
      catalogueError(6, 'price', /"cheap" is not of type integer/),
    );
    const windows = several.replaceAll('\n', '\r\n');
    await assert.rejects(files.read('lines.csv', windows), catalogueError(6, 'price', /"cheap"/));
    const itself = `${HEADER}1,a,"one\ntwo",cheap,,\n`;
    await assert.rejects(files.read('lines.csv', itself), catalogueError(2, 'price', /"cheap"/));
  });

  const faults: readonly (readonly [name: string, row: string, field: string | undefined, says: RegExp])[] = [
    ['too few columns', '3,c', undefined, /2 columns; allowed: 6, as in the header/],
    ['too many columns', '3,c,d,5,6,2026-01-01,x', undefined, /7 columns/],
    ['an empty id', ',c,,,,', 'id', /empty/],
    ['an empty title', '3,,,,,', 'title', /empty/],
    ['NUL', '3,a\0b,,,,', 'title', /NUL/],
    ['a price with spaces', '3,c,,1 000,,', 'price', /"1 000" is not of type integer; allowed: a whole number/],
    ['a decimal comma', '3,c,,,"3,5",', 'area', /"3,5" is not of type number; allowed: a number such as 12\.5/],
    ['hexadecimal', '3,c,,0x10,,', 'price', /not of type integer/],
    ['infinity', '3,c,,,Infinity,', 'area', /not of type number/],
    ['a date that is none', '3,c,,,,2026-13-01', 'date', /YYYY-MM-DD/],
    ['a quote inside a cell', '3,c,15" screen,,,', undefined, /a quote inside a cell/],
    ['text after a closing quote', '3,c,"15" screen,,,', undefined, /text after a closing quote/],
    ['a quote never closed', '3,c,"15,,,', undefined, /never closed/],
  ];
  for (const [name, row, field, says] of faults) {
    it(`is refused for ${name}, with the line`, async () => {
      await assert.rejects(
        files.read('fault.csv', `${HEADER}1,a,,,,\n${row}\n4,d,,,,\n`),
        catalogueError(3, field, says),
      );
    });
  }

  it('is refused for bytes that are not UTF-8, with line and field, and for a file saved as UTF-16', async () => {
    const bytes = Buffer.concat([
      Buffer.from(`${HEADER}1,a,,,,\n2,b,`),
      Buffer.from([0xc4, 0xe8]),
      Buffer.from(',,,\n'),
    ]);
    await assert.rejects(files.read('cp1251.csv', bytes), catalogueError(3, 'description', /not valid UTF-8/));
    const wide = Buffer.from('\ufeffid,title\n1,a\n', 'utf16le');
    await assert.rejects(
      files.read('utf16.csv', wide),
      catalogueError(undefined, undefined, /saved as UTF-16; allowed: text saved as UTF-8/),
    );
  });

  it('may have cells of spaces, which are missing values, and texts with spaces around them and line breaks in them', async () => {
    const rows = `${HEADER}1,a,, , ,\n2,b,, ,\t,\u00a0\n3,c,,7,,\n`;
    const [first, second, third] = await files.read('blanks.csv', rows);
    assert.deepEqual([first?.attributes, second?.attributes, third?.attributes], [{}, {}, { price: 7 }]);
    const [row] = await files.read('lines.csv', 'id,title,brand\n1,a,"  Stels\r\n of\tKazan "\n');
    // A facet value is also used in a filter, and filters take no control characters.
    assert.deepEqual(row?.attributes, { brand: 'Stels of Kazan' });
  });

  it('may have several values in a cell: at the declared separator, trimmed, without empty parts', async () => {
    const text = 'id,title,tags,years\n1,a,"S | M||s|one, size| ",2020\n2,b, | ,\n3,c,"a;b",\n';
    const rows = await files.read('lists.csv', text, { attributes: LISTS });
    assert.deepEqual(
      rows.map(({ attributes }) => attributes),
      [{ tags: ['S', 'M', 'one, size'], years: [2020] }, {}, { tags: ['a;b'] }],
    );
    const wrong = files.read('wrong.csv', 'id,title,years\n1,a,2020|2021\n', { attributes: LISTS });
    await assert.rejects(wrong, catalogueError(2, 'years', /"2020\|2021" is not of type integer/));
  });

  it('is refused for a row longer than the maximum', async () => {
    const text = `${HEADER}1,a,,,,\n2,b,${'x'.repeat(5000)},,,\n`;
    await assert.rejects(
      files.read('long.csv', text, { maxLineBytes: 1000 }),
      catalogueError(3, undefined, /longer than 1000 bytes/),
    );
  });

  it('skips up to the given number of bad rows, but not a fault that breaks the rows after it', async () => {
    const skipped: (number | undefined)[] = [];
    const options = { maxBadRows: 9, onBadRow: ({ line }: { readonly line?: number }) => void skipped.push(line) };
    const rows = await files.read('skip.csv', `${HEADER}1,a\n2,b,,5,,\n3,,,,,\n4,d,,,,\n`, options);
    assert.deepEqual(
      rows.map(({ id }) => id),
      ['2', '4'],
    );
    assert.deepEqual(skipped, [2, 4]);
    const broken = `${HEADER}1,a\n2,b,"open,5,,\n3,c,,,,\n`;
    await assert.rejects(files.read('skip.csv', broken, options), catalogueError(3, undefined, /never closed/));
  });
});
