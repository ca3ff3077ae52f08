import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { buildIndexes, type RunningSearchd, startSearchd } from '../../../loadtest/stack/sphinx.ts';
import { createSphinxEngine } from '../../../src/engines/sphinx/engine.ts';
import { numericId, writeSphinxSource } from '../../../src/engines/sphinx/source.ts';
import type { AttributeType, Document, SearchDomain, SearchRequest } from '../../../src/search/domain.ts';
import { ask } from '../../contract/engine-truth.ts';
import { LIMIT_MS } from '../../until.ts';
import { eachServer, engineDefaults, temporaryDirectory } from './harness.ts';

const SHOP: SearchDomain = {
  name: 'shop',
  attributes: [
    { name: 'brand', type: 'string', facet: true, sort: true },
    { name: 'stock', type: 'integer', facet: true, sort: true },
    { name: 'price', type: 'number', facet: true, sort: true },
    { name: 'added', type: 'date', facet: true, sort: true },
  ],
  context: [],
  answerProfile: '',
};

const document = (id: string, rest: Partial<Document> = {}): Document => ({
  id,
  title: `Товар ${id}`,
  description: '',
  attributes: {},
  ...rest,
});

const SEARCHD = { dialect: 'sphinx', host: '127.0.0.1', port: 9306, maxConnections: 64 } as const;

describe('the numeric id of a document', () => {
  it('is the id where that is a decimal number below 2^63', () => {
    for (const id of ['1', '7', '9007199254740993', '9223372036854775807']) assert.equal(numericId(id), BigInt(id));
  });

  it('is 63 bits of a hash of any other id', () => {
    for (const id of ['0', '007', '-1', '9223372036854775808', '1e3', '12a', ' 1', 'icecat-1']) {
      const number = numericId(id);
      assert.ok(number > 0n && number < 2n ** 63n, id);
      assert.notEqual(String(number), id);
    }
  });
});

describe('the indexer’s input', () => {
  let directory: string;
  before(async () => {
    directory = await temporaryDirectory();
  });
  after(() => rm(directory, { recursive: true, force: true }));

  const write = (documents: Iterable<Document>, domain = SHOP) =>
    writeSphinxSource({
      directory,
      domains: [{ domain, index: 'shop', documents }],
      searchd: SEARCHD,
    });

  it('has a list of texts as JSON and as codes, one of numbers or dates as multi-value attribute', async () => {
    const list = (name: string, type: AttributeType) =>
      ({ name, type, facet: true, sort: false, multiple: true }) as const;
    const domain = { ...SHOP, attributes: [list('sizes', 'string'), list('years', 'integer'), list('days', 'date')] };
    const { configFile } = await write(
      [
        document('1', {
          attributes: { sizes: ['a,b\t', 'Ёж "x"'], years: [-2, 1], days: ['1969-12-31', '1970-01-02'] },
        }),
        document('2', { attributes: { sizes: ['еж "X"'] } }),
        document('3'),
      ],
      domain,
    );
    const lines = (await readFile(join(directory, 'shop.tsv'), 'utf8')).trim().split('\n');
    const [first = [], second = [], third = []] = lines.map((line) => line.split('\t').slice(4));
    assert.deepEqual([first[0], ...first.slice(2)], ['["a,b ","Ёж \\"x\\""]', '-2,1', '-86400,86400', '1']);
    assert.equal(second[1], first[1]?.split(',')[1], 'one code for spellings that a filter cannot tell apart');
    assert.deepEqual(third, ['', '', '', '', '3']);
    assert.match(
      await readFile(configFile, 'utf8'),
      /attr_string = sizes\n +tsvpipe_attr_multi_64 = _codes_sizes\n +tsvpipe_attr_multi_64 = years\n +tsvpipe_attr_multi_64 = days\n/,
    );
    const widths = { ...SHOP, attributes: [list('widths', 'number')] };
    await assert.rejects(write([document('1')], widths), /attribute widths: searchd has no lists of fractions/);
    await assert.rejects(
      write([document('1', { attributes: { brand: ['a'] } })]),
      /document 1: brand is string, not \["a"\]/,
    );
  });

  it('has one line per document for any text', async () => {
    const nasty = 'tab\tnew\nline\r\0nul \\ "quote" \u2028 end\\';
    const { configFile, domains } = await write([
      document('a', {
        title: nasty,
        description: nasty,
        attributes: { brand: nasty, price: 1e-7, added: '1969-12-31' },
      }),
      document('5', { attributes: { stock: 0, price: 16_777_217 } }),
    ]);
    const lines = (await readFile(join(directory, 'shop.tsv'), 'utf8')).split('\n');
    assert.equal(lines.length, 3);
    const text = 'tab new line nul \\ "quote"   end\\';
    const cells = lines.map((line) => line.split('\t').map((text) => text.trimEnd()));
    assert.deepEqual(cells[0], [
      String(numericId('a')),
      text,
      text,
      'a',
      text,
      '-4611686018427387904',
      '0.0000001000',
      '-86400',
      'a',
    ]);
    assert.deepEqual(cells[1]?.slice(3), ['5', '', '0', '16777217', '-4611686018427387904', '5']);
    assert.deepEqual(domains, [{ domain: 'shop', documents: 2, rounded: { price: 2 } }]);
    assert.match(await readFile(configFile, 'utf8'), /^# Written by: serpcache sphinx-source --out .*\n/);
  });

  it('colliding ids are an error that names both', async () => {
    const twin = String(numericId('icecat-1'));
    await assert.rejects(write([document('icecat-1'), document(twin)]), (error) => {
      assert.ok(error instanceof Error && error.message.includes('icecat-1') && error.message.includes(twin));
      return true;
    });
    await assert.rejects(write([document('a'), document('a')]), /id a occurs twice/);
  });

  it('a value that does not fit its attribute is an error that names document, attribute and value', async () => {
    for (const [attribute, value] of [
      ['stock', 1.5],
      ['stock', 2 ** 60],
      ['stock', 'many'],
      ['price', 'free'],
      ['price', Number.NaN],
      ['price', -5e18],
      ['added', '2020-13-45'],
      ['added', 18_000],
      ['added', 'yesterday'],
    ] as const) {
      await assert.rejects(
        write([document('x9', { attributes: { [attribute]: value } })]),
        new RegExp(`x9: ${attribute} is`),
      );
    }
  });

  it('names that Sphinx cannot hold are refused before a file is written', async () => {
    for (const name of ['order', 'weight', 'doc_id', 'title', 'a b']) {
      const domain = { ...SHOP, attributes: [{ name, type: 'integer' as const, facet: true, sort: true }] };
      await assert.rejects(write([], domain), /Sphinx (keeps|takes)|attribute .* of its own/, name);
    }
    const twice = { domain: SHOP, index: 'same', documents: [] };
    await assert.rejects(writeSphinxSource({ directory, domains: [twice, twice], searchd: SEARCHD }), /share an index/);
  });

  it('a domain without documents is an error: searchd would not serve its index', async () => {
    await assert.rejects(write([]), /domain shop: no documents/);
  });

  it('a document source that fails half-way fails with its own error', async () => {
    const broken = (function* () {
      yield document('1');
      throw new Error('line 2: not JSON');
    })();
    await assert.rejects(write(broken), /line 2: not JSON/);
  });
});

eachServer((name, server) => {
  describe(`the generated index of ${name}`, () => {
    let directory: string;
    let searchd: RunningSearchd;
    before(async () => {
      directory = await temporaryDirectory();
      searchd = await startSearchd({
        directory,
        server,
        from: {
          domains: [
            {
              domain: SHOP,
              index: 'shop',
              documents: [
                document('9007199254740992', { title: 'Кабель-мышь', description: 'C++ и AT&T' }),
                document('9007199254740993', { title: 'Кабель и мышь', description: 'язык C, ASP.NET' }),
                document('9007199254740994', { title: 'İstanbul Straße Łódź', description: 'cafe\u0301 naïve' }),
                document('9007199254740995', { title: '東京タワー', description: 'снимок foo_bar' }),
                document('big', {
                  title: 'ЁЛКИ',
                  attributes: { brand: 'Ёж', stock: -(2 ** 53) + 1, price: 12_500_000 },
                }),
                document('small', { title: 'ёлка', attributes: { brand: 'ЕЖ', stock: 2 ** 53 - 1, price: 0 } }),
              ],
            },
            { domain: { ...SHOP, name: 'bare', attributes: [] }, index: 'bare', documents: [document('1')] },
          ],
        },
      });
    });
    after(async () => {
      await searchd?.stop();
      await rm(directory, { recursive: true, force: true });
    });

    async function found(text: string, rest: Partial<SearchRequest> = {}, index = 'shop'): Promise<string[]> {
      const domain = index === 'shop' ? SHOP : { ...SHOP, attributes: [] };
      const engine = createSphinxEngine({ ...engineDefaults(searchd.port, server), domain, index });
      const page = await engine.search(ask(text, { domain: 'shop', ...rest }), AbortSignal.timeout(LIMIT_MS));
      await engine.close();
      assert.equal(page.partial, undefined);
      return page.results.map(({ id }) => id).sort();
    }

    it('is served from a configuration without warnings of the server', async () => {
      const said = await readFile(searchd.process.logFile, 'utf8');
      assert.match(said, /accepting connections/);
      assert.doesNotMatch(said, /deprecated|removed|unknown key/);
    });

    it('distinguishes ids beyond 2^53', async () => {
      assert.deepEqual(await found('кабель'), ['9007199254740992', '9007199254740993']);
    });

    it('finds hyphenated and punctuated words as written and by their parts', async () => {
      assert.deepEqual(await found('кабель-мышь'), ['9007199254740992', '9007199254740993']);
      assert.deepEqual(await found('мышь-кабель'), ['9007199254740992', '9007199254740993']);
      assert.deepEqual(await found('c++'), ['9007199254740992']);
      assert.deepEqual(await found('at&t'), ['9007199254740992']);
      assert.deepEqual(await found('.net'), ['9007199254740993']);
      assert.deepEqual(await found('foo_bar'), ['9007199254740995']);
      assert.deepEqual(await found('bar'), ['9007199254740995']);
    });

    it('folds letters beyond Russian and English, and scripts without spaces', async () => {
      for (const text of ['i\u0307stanbul', 'straße', 'łódź', 'café', 'naïve']) {
        assert.deepEqual(await found(text), ['9007199254740994'], text);
      }
      for (const text of ['東京', 'タワー', '京']) assert.deepEqual(await found(text), ['9007199254740995'], text);
    });

    it('holds extreme values, and finds text attributes without case and with ё as е', async () => {
      const exact = (values: number[]) => ({ filters: [{ kind: 'numbers' as const, attribute: 'stock', values }] });
      assert.deepEqual(await found('елка', exact([2 ** 53 - 1])), ['small']);
      assert.deepEqual(await found('елка', exact([-(2 ** 53) + 1])), ['big']);
      assert.deepEqual(await found('елка', { filters: [{ kind: 'strings', attribute: 'brand', values: ['еж'] }] }), [
        'big',
        'small',
      ]);
      assert.deepEqual(await found('елка', { filters: [{ kind: 'numbers', attribute: 'price', values: [0] }] }), [
        'small',
      ]);
    });

    it('answers also without attributes', async () => {
      assert.deepEqual(await found('елка', {}, 'bare'), []);
      assert.deepEqual(await found('товар', {}, 'bare'), ['1']);
    });
  });

  it(`an error of the indexer of ${name} is reported with its own message`, async () => {
    const directory = await temporaryDirectory();
    await assert.rejects(buildIndexes(join(directory, 'nosuch.conf'), { server }), /indexer failed: .*nosuch\.conf/s);
    await rm(directory, { recursive: true });
  });
});
