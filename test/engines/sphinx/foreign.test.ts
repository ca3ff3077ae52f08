import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freePorts } from '../../../loadtest/stack/process.ts';
import { type RunningSearchd, startSearchd } from '../../../loadtest/stack/sphinx.ts';
import { describeIndex } from '../../../src/engines/sphinx/describe.ts';
import { createSphinxEngine } from '../../../src/engines/sphinx/engine.ts';
import type { Filter, SearchDomain, SearchRequest } from '../../../src/search/domain.ts';
import type { Engine, ResultPage } from '../../../src/search/engine.ts';
import { ask } from '../../contract/engine-truth.ts';
import { pluck } from '../../pluck.ts';
import { LIMIT_MS } from '../../until.ts';
import { eachServer, engineDefaults, temporaryDirectory } from './harness.ts';

const DOMAIN: SearchDomain = {
  name: 'foreign',
  attributes: [
    { name: 'city', type: 'string', facet: true, sort: true },
    { name: 'rooms', type: 'integer', facet: true, sort: true },
    { name: 'hits', type: 'integer', facet: false, sort: true },
    { name: 'price', type: 'number', facet: false, sort: true },
    { name: 'posted', type: 'date', facet: true, sort: true },
    { name: 'sizes', type: 'integer', facet: true, sort: false, multiple: true },
    { name: 'seen', type: 'date', facet: true, sort: false, multiple: true },
  ],
  context: [],
  answerProfile: '',
};

/**
 * id, title, description, city, rooms (uint), hits (float), price (float), posted (timestamp, any second of the day), sizes
 * (MVA), seen (MVA)
 */
const ROWS = [
  [9007199254740993n, 'Кот рыжий', 'живой', 'Орёл', 0, 5, 10.5, 86_399, '38,36', '0'],
  [12n, 'Кот чёрный', 'ждёт', 'ОРЕЛ', 3, 7, 81.53, 86_400, '38', ''],
  [13n, 'Кот белый', 'спит', 'Тула', 4_000_000_000, 9, 0, 1_700_000_001, '', '0,86400'],
] as const;

/** An index from before serpcache: no blended characters, infixes, own ids, values for missing, or server-wide collation. */
const configuration = (directory: string, port: number): string => `
source plain
{
  type = tsvpipe
  tsvpipe_command = cat '${directory}/rows.tsv'
  tsvpipe_field_string = title
  tsvpipe_field_string = description
  tsvpipe_attr_string = city
  tsvpipe_attr_uint = rooms
  tsvpipe_attr_float = hits
  tsvpipe_attr_float = price
  tsvpipe_attr_timestamp = posted
  tsvpipe_attr_multi = sizes
  tsvpipe_attr_multi = seen
}
index plain
{
  source = plain
  path = ${directory}/data/plain
  charset_table = 0..9, A..Z->a..z, a..z, U+410..U+42F->U+430..U+44F, U+430..U+44F, U+401->U+435, U+451->U+435
}
source strange
{
  type = tsvpipe
  tsvpipe_command = printf '1\\tЁлка\\t3\\n'
  tsvpipe_field_string = title
  tsvpipe_attr_uint = weight
}
index strange
{
  source = strange
  path = ${directory}/data/strange
  charset_table = 0..9, A..Z->a..z, a..z, U+410..U+42F->U+430..U+44F, U+430..U+44F, U+401->U+451, U+451
}
searchd
{
  listen = 127.0.0.1:${port}:mysql41
  log = ${directory}/searchd.log
  pid_file = ${directory}/searchd.pid
  binlog_path =
  workers = threads
}
`;

eachServer((name, server) => {
  describe(`an index made by others for ${name}`, () => {
    let directory: string;
    let searchd: RunningSearchd;
    let engine: Engine;

    before(async () => {
      directory = await temporaryDirectory();
      await mkdir(join(directory, 'data'));
      const [port = 0] = await freePorts(1);
      const configFile = join(directory, 'their.conf');
      await writeFile(configFile, configuration(directory, port));
      await writeFile(join(directory, 'rows.tsv'), ROWS.map((row) => `${row.join('\t')}\n`).join(''));
      searchd = await startSearchd({ directory, from: { configFile, port }, server });
      const { idAttribute: _, ...defaults } = engineDefaults(port, server);
      engine = createSphinxEngine({ ...defaults, domain: DOMAIN, index: 'plain' });
    });
    after(async () => {
      await engine?.close();
      await searchd?.stop();
      await rm(directory, { recursive: true, force: true });
    });

    const search = (text: string, rest: Partial<SearchRequest> = {}): Promise<ResultPage> =>
      engine.search(ask(text, { domain: 'foreign', ...rest }), AbortSignal.timeout(LIMIT_MS));
    const ids = async (...filters: Filter[]): Promise<string[]> =>
      (await search('кот', { filters })).results.map(({ id }) => id).sort();

    it('is described with the attributes that a domain can declare', async () => {
      const { index, documents, attributes, notes, missing, idAttribute } = await describeIndex(
        { host: '127.0.0.1', port: searchd.port },
        'plain',
        AbortSignal.timeout(LIMIT_MS),
      );
      assert.deepEqual([index, documents, notes, missing, idAttribute], ['plain', 3, [], [], undefined]);
      const described = attributes.map(({ name, type, multiple }) => `${name} ${type}${multiple ? ' list' : ''}`);
      assert.deepEqual(described.toSorted(), [
        'city string',
        'hits number',
        'posted date',
        'price number',
        'rooms integer',
        'seen integer list',
        'sizes integer list',
      ]);
    });

    it('is described with a name that searches cannot use, a missing text, and a letter that they fold', async () => {
      const server = { host: '127.0.0.1', port: searchd.port };
      const { attributes, notes, missing } = await describeIndex(server, 'strange', AbortSignal.timeout(LIMIT_MS));
      assert.deepEqual([attributes, missing], [[], ['description']]);
      assert.equal(notes.length, 2);
      assert.match(notes[0] ?? '', /^weight: Sphinx keeps the name "weight" for itself/);
      assert.match(notes[1] ?? '', /keeps ё, and searches are folded to е/);
    });

    it('gives its numeric ids exactly, and its attributes, zero included', async () => {
      const { results } = await search('рыжий');
      assert.deepEqual(
        results.map(({ id, title, attributes }) => ({ id, title, attributes })),
        [
          {
            id: '9007199254740993',
            title: 'Кот рыжий',
            attributes: {
              city: 'Орёл',
              rooms: 0,
              hits: 5,
              price: 10.5,
              posted: '1970-01-01',
              sizes: [36, 38],
              seen: ['1970-01-01'],
            },
          },
        ],
      );
    });

    it('is filtered without folded copies of its texts, and by whole numbers of any type', async () => {
      assert.deepEqual(await ids({ kind: 'strings', attribute: 'city', values: ['орел'] }), ['12', '9007199254740993']);
      assert.deepEqual(await ids({ kind: 'numbers', attribute: 'rooms', values: [0, 4_000_000_000] }), [
        '13',
        '9007199254740993',
      ]);
      assert.deepEqual(await ids({ kind: 'range', attribute: 'rooms', from: -5, to: 3 }), ['12', '9007199254740993']);
      assert.deepEqual(await ids({ kind: 'range', attribute: 'hits', from: 6.5, to: 8 }), ['12']);
      assert.deepEqual(await ids({ kind: 'numbers', attribute: 'hits', values: [7] }), ['12']);
      assert.deepEqual(await ids({ kind: 'numbers', attribute: 'hits', values: [5, 9] }), ['13', '9007199254740993']);
      assert.deepEqual(await ids({ kind: 'range', attribute: 'price', to: 10.5 }), ['13', '9007199254740993']);
    });

    it('takes any second of a day as that day', async () => {
      assert.deepEqual(await ids({ kind: 'numbers', attribute: 'posted', values: [0] }), ['9007199254740993']);
      assert.deepEqual(await ids({ kind: 'range', attribute: 'posted', from: 1, to: 1 }), ['12']);
      const { facets } = await search('кот', { facets: ['posted', 'rooms'] });
      assert.deepEqual(pluck(facets['posted'], 'value'), ['1970-01-01', '1970-01-02', '2023-11-14']);
      assert.deepEqual(pluck(facets['rooms'], 'value'), [0, 3, 4_000_000_000]);
    });

    it('is filtered and counted by each value of a multi-value attribute of 32 bits', async () => {
      assert.deepEqual(await ids({ kind: 'numbers', attribute: 'sizes', values: [36, -1] }), ['9007199254740993']);
      assert.deepEqual(await ids({ kind: 'range', attribute: 'sizes', from: 37 }), ['12', '9007199254740993']);
      assert.deepEqual(await ids({ kind: 'range', attribute: 'sizes', from: -5, to: 36.5 }), ['9007199254740993']);
      assert.deepEqual(await ids({ kind: 'numbers', attribute: 'seen', values: [1] }), ['13']);
      const { facets } = await search('кот', { facets: ['seen', 'sizes'] });
      assert.deepEqual(facets, {
        seen: [
          { value: '1970-01-01', count: 2 },
          { value: '1970-01-02', count: 1 },
        ],
        sizes: [
          { value: 38, count: 2 },
          { value: 36, count: 1 },
        ],
      });
    });

    it('is sorted by every attribute', async () => {
      for (const { name: attribute } of DOMAIN.attributes.filter(({ sort }) => sort)) {
        const { results } = await search('кот', { sort: { by: 'attribute', attribute, descending: false } });
        assert.equal(results.length, 3, attribute);
      }
    });
  });
});
