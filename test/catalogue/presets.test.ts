import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { inferCatalogue } from '../../src/catalogue/infer.ts';
import type { ReadOptions } from '../../src/catalogue/read.ts';
import type { Attribute, Document } from '../../src/search/domain.ts';
import { catalogueError, catalogueFiles } from './harness.ts';

const files = catalogueFiles();

interface Found {
  readonly preset: string | undefined;
  readonly documents: readonly Document[];
  readonly notes: readonly string[];
}

/** Infers the columns of a file and reads it with them, as `init` does. */
async function found(name: string, content: string | Buffer, form: ReadOptions['form'] = {}): Promise<Found> {
  await writeFile(files.path(name), content);
  const { preset, columns } = await inferCatalogue(files.path(name), { form });
  const attributes = columns
    .filter(({ unusable }) => unusable === undefined)
    .map(({ name, type, multiple = false }): Attribute => ({ name, type, multiple, facet: false, sort: false }));
  const notes: string[] = [];
  const documents = await files.read(name, content, { attributes, form, onNote: (note) => notes.push(note) });
  return { preset, documents, notes };
}

const ITEM = `<item><g:id>T1</g:id><g:title>Lamps &amp;amp; more</g:title><title>of RSS</title>
  <g:description>&lt;p&gt;A &lt;b&gt;good&lt;/b&gt; one&lt;/p&gt;</g:description><g:price>1,299.00 EUR</g:price>
  <g:product_type>Home &gt; Lamps</g:product_type><g:shipping><g:country>DE</g:country></g:shipping>
  <g:additional_image_link>a</g:additional_image_link><g:additional_image_link>b</g:additional_image_link></item>`;
const rss = (items: string): string =>
  `<?xml version="1.0"?>\n<rss xmlns:g="http://base.google.com/ns/1.0"><channel><title>Shop</title>${items}</channel></rss>`;

describe('a product feed of Google', () => {
  it('is read from RSS, with the fields of Google before those of RSS', async () => {
    const { preset, documents, notes } = await found(
      'feed.xml',
      rss(`${ITEM}<item><g:id>T2</g:id><g:title>Cup</g:title></item>`),
    );
    assert.equal(preset, 'google');
    assert.deepEqual(documents, [
      {
        id: 'T1',
        title: 'Lamps & more',
        description: 'A good one',
        attributes: { price: 1299, product_type: 'Home > Lamps', additional_image_link: ['a', 'b'] },
      },
      { id: 'T2', title: 'Cup', description: '', attributes: {} },
    ]);
    assert.ok(notes.includes('parts of the element "g:shipping" were left out'));
  });

  it('is read from Atom and from tab-separated text, packed too', async () => {
    const atom = `<feed xmlns:g="x"><title>S</title><entry><id>urn:1</id><title>Cup</title><link href="http://e.example/c"/>
      <summary>Blue</summary><g:id>C1</g:id></entry></feed>`;
    assert.deepEqual((await found('atom.xml.gz', gzipSync(atom))).documents, [
      { id: 'C1', title: 'Cup', description: 'Blue', attributes: { link: 'http://e.example/c' } },
    ]);
    const header = 'id\ttitle\tdescription\tlink\timage_link\tavailability\tprice';
    const text = await found(
      'feed.txt',
      `${header}\n1\tShoe\tred\thttp://e.example/1\thttp://e.example/i\tin stock\t19.95 EUR\n`,
    );
    assert.deepEqual([text.preset, text.documents[0]?.attributes['price']], ['google', 19.95]);
  });

  it('is refused with the line where it ends too early or a product is wrong, and by its root', async () => {
    const read = (content: string) => files.read('bad.xml', content, { attributes: [] });
    await assert.rejects(
      read(rss(ITEM).slice(0, 200)),
      catalogueError(3, undefined, /the file ends inside the element/),
    );
    await assert.rejects(read(rss('\n\n<item><g:title>x</g:title></item>')), catalogueError(4, 'id', /missing/));
    await assert.rejects(
      read('<html/>'),
      catalogueError(1, undefined, /root element is <html>; allowed: <rss>, <feed>, <yml_catalog>/),
    );
    for (const none of ['', 'a: 1\n']) await assert.rejects(read(none), /line [12]: no element; allowed: XML/);
    const long = rss(`<item><g:id>1</g:id><g:title>${'x'.repeat(2 ** 20)}</g:title></item>`);
    await files.refuses(['long.xml', long, { attributes: [] }], 2, undefined, /longer than 1048576 bytes/);
  });
});

describe('a YML catalogue', () => {
  const YML = `<?xml version="1.0" encoding="windows-1251"?>
<yml_catalog date="2026-05-01 10:00"><shop><name>Магазин</name>
<categories><category id="1">Техника</category><category id="2" parentId="1">Телефоны</category></categories>
<offers><offer id="12" available="true"><name>Телефон «Луч»</name><price>1500</price><currencyId>RUB</currencyId>
<categoryId>2</categoryId><picture>a</picture><picture>b</picture><param name="Цвет">красный</param><param name="price">1</param>
<description><![CDATA[<p>Хороший &amp; крепкий</p>]]></description></offer>
<offer id="13" type="vendor.model"><typePrefix>Пылесос</typePrefix><vendor>Заря</vendor><model>П-2</model>
<price>2990.50</price><categoryId>1</categoryId></offer></offers></shop></yml_catalog>`;

  it('is read in the encoding that it declares, with names of categories and parameters', async () => {
    const bytes = Buffer.from(
      Array.from(YML, (sign) => {
        if (sign === '«' || sign === '»') return sign === '«' ? 0xab : 0xbb;
        const code = sign.charCodeAt(0);
        return code < 128 ? code : code - 0x410 + 0xc0;
      }),
    );
    const { preset, documents } = await found('shop.yml', bytes);
    assert.equal(preset, 'yml');
    assert.deepEqual(documents, [
      {
        id: '12',
        title: 'Телефон «Луч»',
        description: 'Хороший & крепкий',
        attributes: {
          available: 'true',
          price: 1500,
          currency: 'RUB',
          category: 'Телефоны',
          picture: ['a', 'b'],
          tsvet: 'красный',
          param_price: 1,
        },
      },
      {
        id: '13',
        title: 'Пылесос Заря П-2',
        description: '',
        attributes: {
          type: 'vendor.model',
          typeprefix: 'Пылесос',
          brand: 'Заря',
          model: 'П-2',
          price: 2990.5,
          category: 'Техника',
        },
      },
    ]);
  });
});

describe('the products of Shopify', () => {
  const HEADER =
    'Handle,Title,Body (HTML),Vendor,Tags,Published,Option1 Name,Option1 Value,Variant SKU,Variant Price,Image Src,Status';

  it('are one document each, with the values of their variants and the least price', async () => {
    const { preset, documents, notes } = await found(
      'products.csv',
      `${HEADER}
tee,Tee,<p>Soft &amp; light</p>,Acme,"cotton, summer",true,Size,S,T-S,19.00,http://i.example/1,active
tee,,,,,,,M,T-M,18.00,http://i.example/2,
tee,,,,,,,L,T-L,121.00,,
mug,Mug,,Acme,,true,Title,Default Title,M-1,7.50,,active
hat,Hat,,Acme,,false,Title,Default Title,H-1,9.00,,draft
`,
    );
    assert.equal(preset, 'shopify');
    assert.deepEqual(documents, [
      {
        id: 'tee',
        title: 'Tee',
        description: 'Soft & light',
        attributes: {
          brand: 'Acme',
          tags: ['cotton', 'summer'],
          sku: ['T-S', 'T-M', 'T-L'],
          price: 18,
          image: 'http://i.example/1',
          size: ['S', 'M', 'L'],
        },
      },
      { id: 'mug', title: 'Mug', description: '', attributes: { brand: 'Acme', sku: ['M-1'], price: 7.5 } },
    ]);
    assert.ok(notes.includes('products and variants that are not published were left out'));
  });

  it('are refused where the rows of one stand apart', async () => {
    const text = `${HEADER}\ntee,Tee,,,,,,,a,1,,\nmug,Mug,,,,,,,b,1,,\ntee,,,,,,,,c,1,,\n`;
    await files.refuses(['apart.csv', text], 4, 'Title', /no row of the product "tee" with a title stands before it/);
  });
});

describe('the products of WooCommerce', () => {
  const HEADER =
    'ID,Type,SKU,Name,Published,Short description,Description,Regular price,Sale price,Categories,Parent,Attribute 1 name,Attribute 1 value(s)';

  it('are one document each, with variations that stand anywhere behind', async () => {
    const { preset, documents } = await found(
      'woo.csv',
      `${HEADER}
44,variable,vneck,Tee,1,short,<p>Long\\ntext</p>,,,"Clothing > Tees, Sale\\, all",,Color,"Blue, Red"
45,simple,cap,Cap,1,Nice,,18,16,Hats,,,
46,simple,hid,Hidden,0,,,18,,Hats,,,
58,"variation, virtual",vneck-red,Tee - Red,1,,,120,,,vneck,Color,Red
59,variation,vneck-blue,Tee - Blue,1,,,17.5,15,,id:44,Color,Blue
`,
    );
    assert.equal(preset, 'woocommerce');
    assert.deepEqual(
      documents.toSorted((one, other) => one.id.localeCompare(other.id)),
      [
        {
          id: '44',
          title: 'Tee',
          description: 'Long text',
          attributes: {
            sku: ['vneck', 'vneck-red', 'vneck-blue'],
            price: 17.5,
            sale_price: 15,
            category: ['Clothing > Tees', 'Sale, all'],
            color: ['Blue', 'Red'],
          },
        },
        {
          id: '45',
          title: 'Cap',
          description: 'Nice',
          attributes: { sku: ['cap'], price: 18, sale_price: 16, category: ['Hats'] },
        },
      ],
    );
  });

  it('are refused where a variation has no product before it', async () => {
    const text = `${HEADER}\n58,variation,red,Tee - Red,1,,,20,,,vneck,Color,Red\n`;
    await files.refuses(['lost.csv', text], 2, 'Name', /no row of the product "vneck"/);
  });
});

it('a form that the operator names must have its columns', async () => {
  await files.refuses(
    ['none.csv', 'id,Name\n1,a\n', { form: { preset: 'shopify' } }],
    1,
    'id',
    /no column "Handle" in the header; the header has: id, Name/,
  );
});

it('a form is read as another one where the operator says so', async () => {
  const header = 'Handle,Title,Variant Price';
  const named = await found('plain.csv', `${header}\na,A,5\n`, { preset: 'spreadsheet', columns: { id: 'Handle' } });
  assert.deepEqual(named.documents, [{ id: 'a', title: 'A', description: '', attributes: { variant_price: 5 } }]);
});
