import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { readCatalogue } from '../../src/catalogue/read.ts';
import type { CatalogueError } from '../../src/catalogue/row.ts';
import { pluck } from '../pluck.ts';
import { ATTRIBUTES, catalogueError, catalogueFiles, LISTS, placeOf } from './harness.ts';

const files = catalogueFiles();

/** Two good rows, then the row under test, on line 4: line 2 is blank. */
const onLine4 = (row: string): string =>
  `{"id":"1","title":"a"}\n\n{"id":"2","title":"b"}\n${row}\n{"id":"5","title":"e"}\n`;

describe('a catalogue in NDJSON', () => {
  it('is read as documents: declared attributes are kept, others ignored, missing ones left out', async () => {
    const rows = [
      '{"id":"a-1","title":" Велосипед ","description":"Ёлка 😀","price":990,"area":12.5,"date":"2026-11-20","brand":"Stels","colour":"red"}',
      '{"id":12345678901,"title":"b","price":null,"brand":""}',
    ];
    assert.deepEqual(await files.read('good.ndjson', rows.join('\n')), [
      {
        id: 'a-1',
        title: 'Велосипед',
        description: 'Ёлка 😀',
        attributes: { brand: 'Stels', price: 990, area: 12.5, date: '2026-11-20' },
      },
      { id: '12345678901', title: 'b', description: '', attributes: {} },
    ]);
  });

  it('may be packed, start with a byte order mark, end its lines with CRLF, or lack the last line end', async () => {
    const text = '\ufeff{"id":"1","title":"a"}\r\n\r\n{"id":"2","title":"b"}';
    const plain = await files.read('marks.ndjson', text);
    assert.deepEqual(
      plain.map(({ id, title }) => id + title),
      ['1a', '2b'],
    );
    assert.deepEqual(await files.read('marks.ndjson.gz', gzipSync(text)), plain);
    assert.deepEqual(await files.read('marks.ndjson.zst', zstdCompressSync(text)), plain);
    const parts = [text.slice(0, 30), text.slice(30)].map((part) => zstdCompressSync(part));
    assert.deepEqual(
      await files.read('parts.ndjson.ZST', Buffer.concat(parts)),
      plain,
      'of several frames, as of pzstd',
    );
    assert.deepEqual(await files.read('marks.JSONL', text), plain);
  });

  it('may hold numbers in quotes, and numbers for an attribute of type string', async () => {
    const [document] = await files.read(
      'quoted.ndjson',
      '{"id":7,"title":"a","price":"7990","area":"12.50","brand":43}',
    );
    assert.deepEqual(document?.attributes, { brand: '43', price: 7990, area: 12.5 });
  });

  it('may hold lists for an attribute with several values: each typed as a single value is, and different', async () => {
    const rows = await files.read(
      'lists.ndjson',
      `{"id":1,"title":"a","tags":["Ёлка", null, " ", "ёлка", "a|b, c", 7, true],"years":["2020", 2019, 2020.0]}
       {"id":2,"title":"b","tags":"one","years":2021,"days":["2026-01-02","2026-01-01"]}
       {"id":3,"title":"c","tags":[],"years":[null]}`,
      { attributes: LISTS },
    );
    assert.deepEqual(pluck(rows, 'attributes'), [
      { tags: ['Ёлка', 'a|b, c', '7', 'true'], years: [2020, 2019] },
      { tags: ['one'], years: [2021], days: ['2026-01-02', '2026-01-01'] },
      {},
    ]);
  });

  it('are refused for wrong lists, with the reason', async () => {
    const wrong: readonly (readonly [row: string, field: string, says: RegExp])[] = [
      ['"tags":["a",["b"]]', 'tags', /\["b"\] in a list; allowed: plain values/],
      ['"tags":[{"a":1}]', 'tags', /\{"a":1\} in a list; allowed: plain values/],
      ['"years":[2020,"x"]', 'years', /"x" is not of type integer/],
      [`"years":[${Array.from({ length: 65 }, (_, i) => i)}]`, 'years', /65 different values; allowed: at most 64/],
    ];
    for (const [row, field, says] of wrong) {
      await files.refuses(['wrong.ndjson', `{"id":1,"title":"a",${row}}`, { attributes: LISTS }], 1, field, says);
    }
    const most = await files.read('most.ndjson', `{"id":1,"title":"a","years":[${[...Array(64).keys(), 0, 1]}]}`, {
      attributes: LISTS,
    });
    assert.equal([most[0]?.attributes['years']].flat().length, 64);
  });

  it('may have numbers as ids, titles and texts, with the digits of the file', async () => {
    const rows = await files.read(
      'ids.ndjson',
      '{"id":-5,"title":"a"}\n{"id":0,"title":1984}\n{"id":9007199254740993,"title":1.10,"brand":9007199254740993,"area":1.10}\n{"id":1.5,"title":"d","brand":1.10}',
    );
    assert.deepEqual(pluck(rows, 'id'), ['-5', '0', '9007199254740993', '1.5']);
    assert.deepEqual(pluck(rows, 'title'), ['a', '1984', '1.10', 'd']);
    assert.deepEqual(rows[2]?.attributes, { brand: '9007199254740993', area: 1.1 });
    assert.deepEqual(rows[3]?.attributes, { brand: '1.10' });
  });

  it('may be empty', async () => {
    assert.deepEqual(await files.read('empty.ndjson', ''), []);
    assert.deepEqual(await files.read('empty.ndjson.gz', gzipSync('')), []);
  });

  const faults: readonly (readonly [name: string, row: string, field: string | undefined, says: RegExp])[] = [
    ['text that is not JSON', '{"id":', undefined, /not JSON: .*one object per line/],
    ['an array', '[1]', undefined, /not an object/],
    ['a missing id', '{"title":"x"}', 'id', /missing; allowed: a text/],
    ['an empty id', '{"id":"  ","title":"x"}', 'id', /empty; allowed/],
    [
      'an id of 513 bytes',
      `{"id":"${'ё'.repeat(256)}x","title":"x"}`,
      'id',
      /513 bytes long; allowed: at most 512, in UTF-8/,
    ],
    ['a missing title', '{"id":"4"}', 'title', /missing/],
    ['an empty title', '{"id":"4","title":""}', 'title', /empty/],
    ['a title that is true', '{"id":"4","title":true}', 'title', /true is not text/],
    ['a title with NUL', '{"id":"4","title":"a\\u0000b"}', 'title', /NUL/],
    ['half a surrogate pair', '{"id":"4","title":"a\\ud83db"}', 'title', /surrogate/],
    ['a description that is a list', '{"id":"4","title":"x","description":[]}', 'description', /not text/],
    [
      'an integer written as no number',
      '{"id":"4","title":"x","price":"990 kg"}',
      'price',
      /"990 kg" is not of type integer/,
    ],
    [
      'a text that is a list',
      '{"id":"4","title":"x","brand":["Stels"]}',
      'brand',
      /\["Stels"\] is a list; allowed: one value, or declare multiple: true/,
    ],
    [
      'a fraction where an integer is declared',
      '{"id":"4","title":"x","price":9.5}',
      'price',
      /9\.5 is not of type integer; .*with fractions the attribute must be of type number/,
    ],
    [
      'an integer too large to be exact',
      '{"id":"4","title":"x","price":9007199254740993}',
      'price',
      /whole number between/,
    ],
    [
      'a number too large to be exact',
      '{"id":"4","title":"x","area":9007199254740993}',
      'area',
      /"9007199254740993" is not of type number/,
    ],
    ['a number that is true', '{"id":"4","title":"x","area":true}', 'area', /true is not of type number/],
    ['a number without end', '{"id":"4","title":"x","area":1e999}', 'area', /not of type number/],
    ['a date of two meanings', '{"id":"4","title":"x","date":"05/01/2026"}', 'date', /which day 05\/01\/2026 is/],
    ['a day no calendar has', '{"id":"4","title":"x","date":"2026-02-30"}', 'date', /"2026-02-30" is not of type date/],
    ['a time that no clock has', '{"id":"4","title":"x","date":"2026-02-03T25:00:00Z"}', 'date', /not of type date/],
  ];
  for (const [name, row, field, says] of faults) {
    it(`is refused for ${name}, with the line`, async () => {
      await files.refuses(['fault.ndjson', onLine4(row)], 4, field, says);
    });
  }

  it('yields the rows before a bad one', async () => {
    const seen: string[] = [];
    await files.read('before.ndjson', onLine4('{}'), { onBadRow: () => {} });
    await assert.rejects(
      async () => {
        for await (const { id } of readCatalogue(files.path('before.ndjson'), { attributes: ATTRIBUTES }))
          seen.push(id);
      },
      catalogueError(4, 'id', /missing/),
    );
    assert.deepEqual(seen, ['1', '2']);
  });

  it('is refused for bytes that are not UTF-8, with the line', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"id":"1","title":"a"}\n{"id":"2","title":"'),
      Buffer.from([0xcf, 0x22, 0x7d]),
    ]);
    await files.refuses(['latin.ndjson', bytes], 2, undefined, /not valid UTF-8/);
  });

  it('is refused for a line longer than the maximum, and continues after it when one bad row may be skipped', async () => {
    const text = onLine4(`{"id":"4","title":"${'x'.repeat(2 ** 20)}"}`);
    await files.refuses(['long.ndjson', text], 4, undefined, /longer than 1048576 bytes/);
    const rest = await files.read('long.ndjson', text, { onBadRow: () => {} });
    assert.deepEqual(pluck(rest, 'id'), ['1', '2', '5']);
  });

  it('skips and reports bad rows, until the function that takes them throws', async () => {
    const text = '{}\n{"id":"2","title":"b"}\nnope\n{"id":"4","title":"d"}\n[]\n';
    const skipped: (number | undefined)[] = [];
    const onBadRow = (error: CatalogueError): void => {
      if (skipped.length === 2) throw error;
      skipped.push(placeOf(error).line);
    };
    await files.refuses(['skip.ndjson', text, { onBadRow }], 5, undefined, /not an object/);
    assert.deepEqual(skipped, [1, 3]);
  });

  it('shows a value of the file shortened and on one line', async () => {
    const row = `{"id":"4","title":"x","price":"${'9\\n'.repeat(500)}"}`;
    await assert.rejects(files.read('shown.ndjson', onLine4(row)), (error: Error) => {
      assert.ok(error.message.length < 400 && !error.message.includes('\n'), error.message);
      return true;
    });
  });
});

describe('a catalogue in a JSON array', () => {
  const ids = async (text: string): Promise<string[]> => (await files.read('all.json', text)).map(({ id }) => id);

  it('is read object by object, however its lines end', async () => {
    const [one, two] = ['{"id":"1","title":"Mouse {big}","brand":"a\\"]"}', '{"id":"2","title":"Key"}'];
    for (const text of [`[${one},${two}]`, `[\n${one},\n${two}\n]\n`, `\ufeff [ ${one} ,\r\n ${two}]`]) {
      assert.deepEqual(await ids(text), ['1', '2'], text);
    }
    assert.deepEqual(await ids(JSON.stringify([{ id: '1', title: 'a' }], null, 2)), ['1']);
    const many = Array.from({ length: 5000 }, (_, at) => ({ id: String(at), title: `Товар {${at}}` }));
    assert.equal((await ids(JSON.stringify(many, null, 1))).length, 5000);
    assert.deepEqual(await ids('[]'), []);
  });

  it('has a bad row for each value that is no object, and for an object without an end', async () => {
    const said: string[] = [];
    const onBadRow = (error: Error): void => void said.push(error.message.replace(/^.*?, /, ''));
    const text = '[1, "a,{b",\n{"id":"1","title":"Mouse"},\n[2], {"id":"2"},\n{"id":"3"';
    const read = await files.read('some.json', text, { onBadRow });
    assert.deepEqual(pluck(read, 'id'), ['1']);
    assert.deepEqual(
      said.map((each) => each.slice(0, 6)),
      ['line 1', 'line 1', 'line 3', 'line 3', 'line 4'],
    );
  });
});

describe('a catalogue file', () => {
  it('is refused by name when its format is unknown', async () => {
    await files.refuses(
      ['a.pdf', ''],
      undefined,
      undefined,
      /\.ndjson, \.jsonl, \.json, \.csv, \.tsv, \.txt, \.xml, \.yml, each also with \.gz or \.zst/,
    );
    await files.refuses(['a.gz', ''], undefined, undefined, /unknown format/);
  });

  it('is refused when it is missing, or a directory', async () => {
    const read = (file: string) => Array.fromAsync(readCatalogue(file, { attributes: [] }));
    await assert.rejects(read(files.path('none.csv')), catalogueError(undefined, undefined, /no such file/));
  });

  it('is refused when it is packed and damaged or truncated, after the readable rows', async () => {
    await files.refuses(['a.csv.gz', 'id,title'], undefined, undefined, /damaged/);
    await files.refuses(['a.csv.zst', 'id,title'], undefined, undefined, /not packed with zstd/);
    const rows = '{"id":"1","title":"a"}\n'.repeat(5000);
    for (const [name, packed] of [
      ['a.ndjson.gz', gzipSync(rows).subarray(0, 200)],
      ['a.ndjson.zst', zstdCompressSync(rows).subarray(0, -1)],
    ] as const) {
      await files.refuses([name, packed], undefined, undefined, /ends too early/);
    }
  });

  it('stops being read when the signal aborts, with its reason', async () => {
    const text = '{"id":"1","title":"a"}\n'.repeat(10_000);
    const reason = new Error('enough');
    const stop = new AbortController();
    const onRow = ({ rows }: { readonly rows: number }) => rows === 10 && stop.abort(reason);
    await assert.rejects(files.read('stop.ndjson', text, { signal: stop.signal, onRow }), reason);
    await assert.rejects(files.read('stop.ndjson', text, { signal: AbortSignal.abort(reason) }), reason);
  });

  it('reports the progress after each row, to the last byte', async () => {
    const text = '{"id":"1","title":"a"}\n'.repeat(5000);
    const shares: number[] = [];
    await files.read('far.ndjson.gz', gzipSync(text), {
      onRow: ({ rows, bytesRead, totalBytes }) => {
        assert.equal(rows, shares.length + 1);
        shares.push(bytesRead / totalBytes);
      },
    });
    assert.equal(shares.length, 5000);
    assert.equal(shares.at(-1), 1);
  });
});
