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
      ...{ year: 'integer', price: 'number', added: 'date', size: 'string', code7: 'string', phone: 'string' },
      ...{ empty: 'it has no values', share: 'number', atoms: 'number' },
    });
  });

  it('are inferred from every row of NDJSON, whose numbers may stand in quotes', async () => {
    const found = await infer(
      'types.ndjson',
      '{"артикул":"1","title":"a","price":"7990","used":true,"tags":{"a":1}}\n{"артикул":"2","title":"b","price":12.5,"late":1}',
    );
    assert.deepEqual(found.texts, { id: 'артикул', title: 'title' });
    assert.deepEqual(typesOf(found), {
      ...{ price: 'number', used: 'string', tags: 'it holds objects or lists of lists', late: 'integer' },
    });
  });

  it('have advice for values that are nearly numbers or nearly dates', async () => {
    const found = await infer(
      'near.csv',
      'id;title;цена;дата;город\n1;a;12,50;20.11.2026;Москва\n2;b;1 990;01.02.2026;Казань\n',
    );
    assert.deepEqual(
      found.columns.map(({ type, advice }) => [type, advice]),
      [
        ['string', 'numbers are written like 1990 or 12.50'],
        ['string', 'days are written YYYY-MM-DD'],
        ['string', undefined],
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
