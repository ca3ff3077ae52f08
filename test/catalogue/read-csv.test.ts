import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { CatalogueError } from '../../src/catalogue/row.ts';
import { pluck } from '../pluck.ts';
import { attributes, catalogueFiles, LISTS, placeOf } from './harness.ts';

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
      assert.deepEqual(pluck(await files.read(name, text), 'title'), ['a', 'b,c']);
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

  it('may hold no row, but must have a header with id and title', async () => {
    assert.deepEqual(await files.read('none.csv', HEADER), []);
    await files.refuses(['empty.csv', ''], 1, undefined, /no header row/);
    await files.refuses(
      ['h.csv', 'title,price\na,5\n'],
      1,
      'id',
      /no such column in the header; allowed: id, sku, .*артикул.*, or --id COLUMN; the header has: title, price$/,
    );
    await files.refuses(['h.csv', 'id/title\n1/a\n'], 1, 'id', /separated by commas, semicolons, tabs or \|$/);
    await files.refuses(['h.csv', '\nid,price\n1,5\n'], 2, 'title', /no such column/);
  });

  it('is refused with the first line of the row, after cells of several lines, CRLF and blank lines', async () => {
    const bad = '4,x,,cheap,,\n';
    const several = `${HEADER}1,a,"one\ntwo\nthree",1,,\n\n${bad}`;
    await files.refuses(['lines.csv', several], 6, 'price', /"cheap" is not of type integer/);
    const windows = several.replaceAll('\n', '\r\n');
    await files.refuses(['lines.csv', windows], 6, 'price', /"cheap"/);
    const itself = `${HEADER}1,a,"one\ntwo",cheap,,\n`;
    await files.refuses(['lines.csv', itself], 2, 'price', /"cheap"/);
  });

  const faults: readonly (readonly [name: string, row: string, field: string | undefined, says: RegExp])[] = [
    ['too many columns', '3,c,d,5,6,2026-01-01,x', undefined, /7 columns; allowed: 6, as in the header/],
    ['an empty id', ',c,,,,', 'id', /empty/],
    ['an empty title', '3,,,,,', 'title', /empty/],
    ['NUL', '3,a\0b,,,,', 'title', /NUL/],
    ['a price in words', '3,c,,from 1000,,', 'price', /"from 1000" is not of type integer; allowed: a whole number/],
    ['a comma of two meanings', '3,c,,,"3,500",', 'area', /"3,500" is not of type number; allowed: .*`format`/],
    ['hexadecimal', '3,c,,0x10,,', 'price', /not of type integer/],
    ['infinity', '3,c,,,Infinity,', 'area', /not of type number/],
    ['a date that is none', '3,c,,,,2026-13-01', 'date', /a day of the calendar such as 2026-05-01/],
    ['a quote never closed', '3,c,"15,,,', undefined, /never closed/],
  ];
  for (const [name, row, field, says] of faults) {
    it(`is refused for ${name}, with the line`, async () => {
      await files.refuses(['fault.csv', `${HEADER}1,a,,,,\n${row}\n4,d,,,,\n`], 3, field, says);
    });
  }

  it('is refused for bytes that are not UTF-8, with line and field', async () => {
    const bytes = Buffer.concat([
      Buffer.from(`${HEADER}1,a,,,,\n2,b,`),
      Buffer.from([0xc4, 0xe8]),
      Buffer.from(',,,\n'),
    ]);
    await files.refuses(['cp1251.csv', bytes], 3, 'description', /not valid UTF-8/);
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
    assert.deepEqual(pluck(rows, 'attributes'), [
      { tags: ['S', 'M', 'one, size'], years: [2020] },
      {},
      { tags: ['a;b'] },
    ]);
    await files.refuses(
      ['wrong.csv', 'id,title,years\n1,a,2020|2021\n', { attributes: LISTS }],
      2,
      'years',
      /"2020\|2021" is not of type integer/,
    );
  });

  it('is refused for a row longer than the maximum', async () => {
    const text = `${HEADER}1,a,,,,\n2,b,${'x'.repeat(2 ** 20)},,,\n`;
    await files.refuses(['long.csv', text], 3, undefined, /longer than 1048576 bytes/);
  });

  it('skips bad rows, but not a fault that breaks the rows after it', async () => {
    const skipped: (number | undefined)[] = [];
    const options = { onBadRow: (error: CatalogueError) => void skipped.push(placeOf(error).line) };
    const rows = await files.read('skip.csv', `${HEADER}1,a,,,,,x\n2,b,,5,,\n3,,,,,\n4,d,,,,\n`, options);
    assert.deepEqual(pluck(rows, 'id'), ['2', '4']);
    assert.deepEqual(skipped, [2, 4]);
    const broken = `${HEADER}1,a\n2,b,"open,5,,\n3,c,,,,\n`;
    await files.refuses(['skip.csv', broken, options], 3, undefined, /never closed/);
  });
});

describe('a spreadsheet or a database export', () => {
  const noted = async (name: string, content: string | Buffer, options: Parameters<typeof files.read>[2] = {}) => {
    const notes: string[] = [];
    const rows = await files.read(name, content, { onNote: (note) => notes.push(note), ...options });
    return { rows, notes };
  };
  const titles = async (content: string | Buffer): Promise<readonly string[]> =>
    (await files.read('titles.csv', content)).map(({ id, title, description }) =>
      `${id} ${title} ${description}`.trim(),
    );

  it('names its delimiter in the first line, as Excel does, and the lines are still those of the file', async () => {
    assert.deepEqual(await titles('sep=|\r\nid|title\r\n1|a;b,c,d\r\n'), ['1 a;b,c,d']);
    await files.refuses(['sep.csv', 'sep=;\nid;title\n1;\n'], 3, 'title', /empty/);
  });

  it('may end its lines with CR alone, have spaces before quotes, and blank lines of delimiters', async () => {
    assert.deepEqual(await titles('id,title\r1,a\r2,b\r'), ['1 a', '2 b']);
    assert.deepEqual(await titles('id, title, description\n1, "a, b", c\n,,\n2, d\n'), ['1 a, b c', '2 d']);
  });

  it('may change its line ends, keep the zeros of codes by a formula, and have commas in its header', async () => {
    const titles = async (text: string) =>
      (await files.read('mixed.csv', text)).map(({ id, title }) => `${id} ${title}`);
    assert.deepEqual(await titles('id,title\r\n1,Mouse\n2,Key\r3,Cable\r\n'), ['1 Mouse', '2 Key', '3 Cable']);
    assert.deepEqual(await titles('id,title\n="0012",Mouse\n"=""0013""",Key\n'), ['0012 Mouse', '0013 Key']);
    assert.deepEqual(await titles('id;title;price, EUR, gross, with VAT\n1;a,b;9\n'), ['1 a,b']);
  });

  it('keeps every sign at the beginning of a cell and of a name', async () => {
    const { rows } = await noted(
      'signs.csv',
      'id,title,brand\n1,(new) chair,/img/a.jpg\n2,_x, "//cdn, b"\n_3, )( sign,(12)\n',
    );
    assert.deepEqual(
      rows.map(({ id, title, attributes }) => [id, title, attributes['brand']]),
      [
        ['1', '(new) chair', '/img/a.jpg'],
        ['2', '_x', '//cdn, b'],
        ['_3', ')( sign', '(12)'],
      ],
    );
  });

  it('has quotes escaped by backslashes as MySQL writes them, also beside empty cells', async () => {
    const { rows } = await noted(
      'mysql.csv',
      '"id","title","brand"\n"1","a \\"big, blue\\" lamp",""\n"2","chair","x"\n',
    );
    assert.deepEqual(pluck(rows, 'title'), ['a "big, blue" lamp', 'chair']);
  });

  it('has N/A, NULL and - for missing numbers and days, and says so', async () => {
    const text = 'id,title,brand,price,date\n1,a,-,-,n/a\n2,b,N/A,NULL,2026-11-20\n3,c,x,9,—\n';
    const { rows, notes } = await noted('none.csv', text);
    assert.deepEqual(pluck(rows, 'attributes'), [
      { brand: '-' },
      { brand: 'N/A', date: '2026-11-20' },
      { brand: 'x', price: 9 },
    ]);
    assert.deepEqual(
      [...new Set(notes)],
      ['price: N/A, NULL and - were read as missing values', 'date: N/A, NULL and - were read as missing values'],
    );
  });

  it('has quotes inside a cell as they stand, and says so', async () => {
    const { rows, notes } = await noted('q.csv', 'id,title,brand\n1,15" screen,"15" wide\n2,"a ""b""",c\n');
    assert.deepEqual(
      rows.map(({ title, attributes }) => [title, attributes['brand']]),
      [
        ['15" screen', '"15" wide'],
        ['a "b"', 'c'],
      ],
    );
    assert.deepEqual(notes, ['quotes inside a cell were read as they stand']);
  });

  it('has columns of one name under numbered names', async () => {
    const own = { attributes: attributes({ size: 'string', size_2: 'string' }) };
    const { rows, notes } = await noted('twice.csv', 'id,title,size,size\n1,a,S,M\n', own);
    assert.deepEqual(rows[0]?.attributes, { size: 'S', size_2: 'M' });
    assert.deepEqual(notes, ['"size" is in the header again: that column was read as "size_2"']);
  });

  it('has rows that end early or have empty cells too many, but no cell without a column', async () => {
    const { rows, notes } = await noted('ragged.csv', 'id,title,price\n1,a\n2,b,5,,\n');
    assert.deepEqual(pluck(rows, 'attributes'), [{}, { price: 5 }]);
    assert.deepEqual(notes, [
      'rows end before the last column: its values are missing',
      'rows have empty cells beyond the last column',
    ]);
    await files.refuses(['more.csv', 'id,title\n1,a,x\n'], 2, undefined, /3 columns/);
  });

  it('is read in UTF-16 with a byte order mark, and in another encoding by its name', async () => {
    const text = 'id\ttitle\n1\tЁлка\n';
    const little = Buffer.from(`\ufeff${text}`, 'utf16le');
    assert.deepEqual(await titles(little), ['1 Ёлка']);
    assert.deepEqual(await titles(Buffer.from(little).swap16()), ['1 Ёлка']);
    const cyrillic = Buffer.concat([
      Buffer.from('id;title\n1;'),
      Buffer.from([0xa8, 0xeb, 0xea, 0xe0]),
      Buffer.from('\n'),
    ]);
    await files.refuses(['cp.csv', cyrillic], 2, 'title', /--encoding windows-1251/);
    const [row] = await files.read('cp.csv', cyrillic, { form: { encoding: 'windows-1251' } });
    assert.equal(row?.title, 'Ёлка');
    await files.refuses(
      ['cp.csv', cyrillic, { form: { encoding: 'klingon' } }],
      undefined,
      undefined,
      /unknown encoding/,
    );
  });

  it('is read with the NULL and the backslashes of MySQL and PostgreSQL', async () => {
    const rows = await files.read(
      'dump.tsv',
      'id\ttitle\tdescription\tprice\n1\ta\\tb\\\\N\tone\\ntwo "x"\t\\N\n2\tc\\\td\tthree\\\nfour\t7\n3\te\t\\N\t\\N\n',
    );
    assert.deepEqual(
      rows.map(({ title, description, attributes }) => [title, description, attributes]),
      [
        ['a b\\N', 'one\ntwo "x"', {}],
        ['c d', 'three\nfour', { price: 7 }],
        ['e', '', {}],
      ],
    );
    const [quoted] = await files.read('mysql.csv', 'id,title,price\n1,"15\\" screen, C:\\\\",\\N\n');
    assert.deepEqual([quoted?.title, quoted?.attributes], ['15" screen, C:\\', {}]);
    const [plain] = await files.read('path.tsv', 'id\ttitle\n1\tC:\\new\n');
    assert.equal(plain?.title, 'C:\\new', 'without a NULL a backslash is itself');
  });

  it('has numbers with currencies and groups, and times for days', async () => {
    const { rows, notes } = await noted(
      'values.csv',
      'id;title;price;area;date\n1;a;1 299 ₽;1.299,50 €;2026-05-01T01:00:00+03:00\n2;b;1’299;€19.95;01.05.2026\n3;c;;-5;20260501\n',
    );
    assert.deepEqual(
      rows.map(({ attributes }) => Object.values(attributes)),
      [
        [1299, 1299.5, '2026-04-30'],
        [1299, 19.95, '2026-05-01'],
        [-5, '2026-05-01'],
      ],
    );
    assert.deepEqual(notes, ['date: of a time, its day was kept (in UTC, where the time has an offset)']);
    await files.refuses(
      ['mixed.csv', 'id,title,area\n1,a,5 EUR\n2,b,5 USD\n'],
      3,
      'area',
      /"5 USD" is an amount in another currency; allowed: EUR/,
    );
  });

  it('has values as the formats of the attributes say', async () => {
    const own = attributes({ price: 'number', date: 'date' }).map((each) => ({
      ...each,
      format: each.type === 'date' ? ('MM/DD/YYYY' as const) : ('1.299,50' as const),
    }));
    const [row] = await files.read('format.csv', 'id;title;price;date\n1;a;1.299;05/01/2026\n', { attributes: own });
    assert.deepEqual(row?.attributes, { price: 1299, date: '2026-05-01' });
    await files.refuses(
      ['format.csv', 'id;title;price\n1;a;19.95\n', { attributes: own }],
      2,
      'price',
      /allowed: a number written 1\.299,50$/,
    );
  });

  it('has texts in HTML without their markup, unless a field is raw', async () => {
    const row = [
      '1,"<b>C&amp;A</b> <i>&lt;3</i>","<p>one<br>two</p><script>x()</script> <ul><li>three</ul> a < b, 5<6, AT&T, List<X>"',
      '<span>red</span> &amp; blue',
    ].join(',');
    const { rows, notes } = await noted('html.csv', `id,title,description,brand\n${row}\n2,a < b,C&A <3,<X>\n`);
    assert.deepEqual(rows, [
      {
        id: '1',
        title: 'C&A <3',
        description: 'one\ntwo\nthree\na < b, 5<6, AT&T, List<X>',
        attributes: { brand: 'red & blue' },
      },
      { id: '2', title: 'a < b', description: 'C&A <3', attributes: { brand: '<X>' } },
    ]);
    assert.equal(notes.length, 3);
    const raw = await files.read('html.csv', `id,title,description,brand\n${row}\n`, { form: { raw: ['brand'] } });
    assert.deepEqual(raw[0]?.attributes, { brand: '<span>red</span> &amp; blue' });
  });

  it('has long titles and texts cut between characters, and says so', async () => {
    const { rows, notes } = await noted('long.csv', `id,title,brand\n1,${'🛋'.repeat(1001)},${'ё'.repeat(257)}\n`);
    assert.deepEqual([rows[0]?.title, rows[0]?.attributes['brand']], ['🛋'.repeat(1000), 'ё'.repeat(256)]);
    assert.deepEqual(notes, ['brand: cut to 256 characters', 'title: cut to 1000 characters']);
  });

  it('has its columns under any names that the operator gives', async () => {
    const form = { columns: { id: 'Nr', title: 'Bezeichnung', price: '价格' } };
    const [row] = await files.read('own.csv', 'Nr;Bezeichnung;title;价格\n7;Sofa;x;5\n', { form });
    assert.deepEqual(row, { id: '7', title: 'Sofa', description: '', attributes: { price: 5 } });
    await files.refuses(
      ['own.csv', 'id;Name\n7;Sofa\n', { form }],
      1,
      'id',
      /no column "Nr" in the header; the header has: id, Name/,
    );
  });
});
