import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ColumnUse, nameOfColumn } from '../../src/catalogue/columns.ts';
import { attributes, catalogueFiles } from './harness.ts';

const files = catalogueFiles();

describe('the columns of a catalogue', () => {
  it('have names that are made into attribute names, Russian ones too', () => {
    for (const [column, name] of [
      ['price', 'price'],
      ['Price, RUB', 'price_rub'],
      ['Год выпуска', 'god_vypuska'],
      ['Объём двигателя (л)', 'obyom_dvigatelya_l'],
      ['Größe', 'gro_e'],
      ['№', ''],
      ['2nd hand', 'nd_hand'],
      ['очень длинное название колонки каталога', 'ochen_dlinnoe_nazvanie_kolonki'],
    ] as const) {
      assert.equal(nameOfColumn(column), name, column);
      assert.match(name, /^([a-z][a-z0-9_]{0,30})?$/);
    }
  });

  it('are read as the declared attributes of their names, and the others are reported', async () => {
    let use: ColumnUse | undefined;
    const [document] = await files.read('own.csv', 'ID;Название;Цена;Цвет;weight;\n1;Диван;990;red;5;\n', {
      attributes: attributes({ tsena: 'integer', weight: 'integer' }),
      onColumns: (used) => {
        use = used;
      },
    });
    assert.deepEqual(document, { id: '1', title: 'Диван', description: '', attributes: { tsena: 990, weight: 5 } });
    assert.deepEqual(use?.ignored, ['Цвет', '']);
    assert.deepEqual(Object.fromEntries(use?.renamed ?? []), { ID: 'id', Название: 'title', Цена: 'tsena' });
  });

  it('are matched by exact name before a similar one, and by declared attribute before a usual name', async () => {
    let use: ColumnUse | undefined;
    const rows = [
      '{"sku":"a","id":"1","name":"n","Title":"T","title":"t","Price":1,"price":2}',
      '{"id":"2","name":"m"}',
    ];
    const own = { attributes: attributes({ price: 'integer', name: 'string' }), onBadRow: () => {} };
    const read = await files.read('names.ndjson', rows.join('\n'), {
      ...own,
      onColumns: (used) => {
        use = used;
      },
    });
    assert.deepEqual(read, [{ id: '1', title: 't', description: '', attributes: { price: 2, name: 'n' } }]);
    assert.deepEqual(use?.ignored.toSorted(), ['Price', 'Title', 'sku']);
  });

  it('take the first of two columns of one name', async () => {
    const own = { attributes: attributes({ price: 'integer' }) };
    const [document] = await files.read('two.csv', 'id,title,Price,PRICE\n1,t,1,2\n', own);
    assert.deepEqual(document?.attributes, { price: 1 });
  });

  it('name a fault by the column of the file', async () => {
    const own = { attributes: attributes({ tsena: 'integer' }) };
    await files.refuses(
      ['fault.csv', 'код,название,Цена\n1,a,дорого\n', own],
      2,
      'Цена',
      /"дорого" is not of type integer/,
    );
  });

  it('are reported up to a maximum number, whatever the file holds', async () => {
    let use: ColumnUse | undefined;
    const rows = Array.from({ length: 3000 }, (_, i) => `{"id":"${i}","title":"a","field-${i}":1}`);
    const onColumns = (used: ColumnUse): void => {
      use = used;
    };
    await files.read('many.ndjson', rows.join('\n'), { onColumns });
    assert.equal(use?.ignored.length, 100);
  });
});
