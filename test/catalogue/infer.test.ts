import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { type InferredCatalogue, inferCatalogue } from '../../src/catalogue/infer.ts';
import { catalogueError, catalogueFiles } from './harness.ts';

const files = catalogueFiles();

async function infer(name: string, text: string): Promise<InferredCatalogue> {
  await writeFile(files.path(name), text);
  return inferCatalogue(files.path(name), {});
}

const typesOf = ({ columns }: InferredCatalogue): Readonly<Record<string, string>> =>
  Object.fromEntries(columns.map(({ column, type, unusable }) => [column, unusable ?? type]));

describe('the inferred columns of a catalogue', () => {
  it('have the type that fits all of their values', async () => {
    const rows = [
      'id,name,year,price,added,size,code7,phone,empty,share,atoms',
      '1,a,2019,12.50,2026-01-02,42,007,+79991234567,,1e-3,1e23',
      '2,b,2020,13,2026-02-03,XL,008,+79991234568,,0.5,2',
      '3,c, ,  ,\t,,,,\u00a0,,',
    ];
    const found = await infer('types.csv', rows.join('\n'));
    assert.deepEqual([found.rows, found.texts], [3, { id: 'id', title: 'name' }]);
    assert.equal(found.columns.find(({ name }) => name === 'year')?.values, 2, 'blanks alone are no value');
    assert.deepEqual(typesOf(found), {
      year: 'integer',
      price: 'number',
      added: 'date',
      size: 'string',
      code7: 'string',
      phone: 'string',
      empty: 'it has no values',
      share: 'number',
      atoms: 'number',
    });
  });

  it('are inferred from every row of NDJSON, whose numbers may stand in quotes', async () => {
    const found = await infer(
      'types.ndjson',
      '{"артикул":"1","title":"a","price":"7990","used":true,"tags":{"a":1}}\n{"артикул":"2","title":"b","price":12.5,"late":1}',
    );
    assert.deepEqual(found.texts, { id: 'артикул', title: 'title' });
    assert.deepEqual(typesOf(found), {
      price: 'number',
      used: 'string',
      tags: 'it holds objects or lists of lists',
      late: 'integer',
    });
  });

  /** Columns of `|`-separated cells, each as its type, format, currency and advice. */
  const columnsOf = async (...columns: readonly (readonly string[])[]): Promise<readonly string[]> => {
    const rows = (columns[0] ?? []).map((_, row) => [row, 'a', ...columns.map((cells) => cells[row])].join('|'));
    const header = ['id', 'title', ...columns.map((_, at) => `c${at}`)].join('|');
    const found = await infer('columns.csv', [header, ...rows].join('\n'));
    return found.columns.map(({ type, format, currency, advice }) =>
      [type, format, currency, advice && `(${advice})`].filter((part) => part !== undefined).join(' '),
    );
  };

  it('read amounts of money, with the currency that every cell has', async () => {
    assert.deepEqual(
      await columnsOf(
        ['19.95 EUR', '1,299.00 EUR'],
        ['€19,95', '€5'],
        ['1\u00a0299,00\u202f₽', '5 ₽'],
        ["1'299.00", '12.00'],
        ['$5', '$7'],
        ['5 EUR', '5 USD'],
        ['5,00 €', '7,00 $'],
        ['5 kg', '7 kg'],
        ['9.50', 'N/A', '-'],
      ),
      [
        'number 1,299.50 EUR',
        'number 1.299,50 EUR',
        'number 1.299,50 RUB',
        'number',
        'integer',
        'string (amounts in several currencies)',
        'string (amounts in several currencies)',
        'string',
        'number',
      ],
    );
  });

  it('tell thousands from decimals by all values of the column, else by those of the file', async () => {
    assert.deepEqual(await columnsOf(['1,299', '19.95']), ['number 1,299.50']);
    assert.deepEqual(await columnsOf(['1.299', '19,95'], ['1.200', '7'], ['5', '6']), [
      'number 1.299,50',
      'integer 1.299,50',
      'integer',
    ]);
    assert.deepEqual(await columnsOf(['1,299', '2,499'], ['1.250', '3.5']), ['integer 1,299.50', 'number']);
    assert.deepEqual(await columnsOf(['1,299', '2,499']), [
      'integer 1,299.50 ("1,299" is 1299, unless format says otherwise)',
    ]);
    assert.deepEqual(await columnsOf(['12.50', '12,50']), ['string (numbers are written with one decimal sign)']);
  });

  it('read times and days, and tell the day from the month by all values', async () => {
    assert.deepEqual(
      await columnsOf(
        ['2026-05-01 10:10:00', '2026-05-01T10:15:00+03:00'],
        ['01.05.2026', '1.6.2026'],
        ['05/01/2026', '25/01/2026'],
        ['05/01/2026', '05/25/2026'],
        ['05/01/2026', '05/02/2026'],
        ['20260501', '20260502'],
      ),
      ['date', 'date', 'date DD/MM/YYYY', 'date MM/DD/YYYY', 'string (days are written YYYY-MM-DD)', 'integer'],
    );
  });

  it('are attributes although a few of their texts are cut, and with any name', async () => {
    const found = await infer('names.csv', `id,title,价格,long\n1,a,5,${'x'.repeat(300)}\n2,b,6,y\n3,c,7,z\n`);
    assert.deepEqual(
      found.columns.map(({ name, type, unusable }) => [name, type, unusable]),
      [
        ['column_3', 'integer', undefined],
        ['long', 'string', undefined],
      ],
    );
  });

  it('hold several values where NDJSON has lists, with the type of their values', async () => {
    const many = JSON.stringify(Array.from({ length: 65 }, (_, index) => index));
    const found = await infer(
      'lists.ndjson',
      `{"id":1,"title":"a","sizes":[38,40,null],"tags":["x","y"],"deep":[[1]],"many":${many}}\n` +
        '{"id":2,"title":"b","sizes":38,"tags":[]}',
    );
    assert.deepEqual(
      found.columns.map(({ column, type, multiple, values, distinct, unusable }) => [
        column,
        unusable ?? [type, multiple, values, distinct],
      ]),
      [
        ['sizes', ['integer', true, 3, 2]],
        ['tags', ['string', true, 2, 2]],
        ['deep', 'it holds objects or lists of lists'],
        ['many', 'it holds lists of more than 64 values'],
      ],
    );
  });

  it('have advice where nearly every cell has a separator', async () => {
    const rows = Array.from(
      { length: 20 },
      (_, i) => `${i},a,${i === 7 ? 'S' : 'S|M'},"red, blue",${i < 15 ? 'a;b' : 'c'}`,
    );
    const found = await infer('cells.csv', ['id,title,sizes,colours,few', ...rows].join('\n'));
    assert.deepEqual(
      found.columns.map(({ multiple, advice }) => [multiple, advice]),
      [
        [false, 'are they several values? multiple: true, separator: "|"'],
        [false, 'are they several values? multiple: true, separator: ", "'],
        [false, undefined],
      ],
    );
  });

  it('are refused without rows, id or title, and above the maximum number', async () => {
    await assert.rejects(infer('none.csv', 'id,title\n'), catalogueError(undefined, undefined, /holds no rows/));
    await assert.rejects(infer('h.csv', 'id,price\n1,2\n'), catalogueError(1, 'title', /no such column/));
    await assert.rejects(infer('h.ndjson', '{"title":"a"}'), catalogueError(undefined, 'id', /no such column/));
    const wide = Array.from({ length: 300 }, (_, i) => `"f${i}":1`).join();
    await assert.rejects(infer('wide.ndjson', `{"id":"1","title":"a",${wide}}`), /more than 256 different columns/);
  });
});
