import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FindingTable } from '../../../../loadtest/labs/kit/finding.ts';
import type { Outcome } from '../../../../loadtest/labs/peers/compare.ts';
import { SIZES } from '../../../../loadtest/labs/peers/peer.ts';
import type { PageFigures } from '../../../../loadtest/labs/peers/serving.ts';
import { chartsOf, PUBLISHED_WORDS, publishedOf, tablesOf } from '../../../../loadtest/labs/peers/tables.ts';
import { l1, l2, outcome } from './measure-outcome.ts';

const PAGE: PageFigures = {
  ...{ perSecond: 24_000, perCore: 25_000, serverCores: 0.96, clientCores: 0.7, storeCores: 0.2, storeUs: 8 },
  ...{ storeCommands: 1.5, storeCommandsAtRate: 2.5, p50Ms: 0.3, p99Ms: 4, limit: 'generator' },
  spreads: { perCore: 1, p50Ms: 1, p99Ms: 1 },
};
const STAMPEDED = { outcome: '200', purgeRefusals: 0 } as const;
/** Every figure is different. */
const VARNISH: Outcome = {
  peer: { name: 'Varnish', setUp: '', keeps: 'own' },
  page: PAGE,
  many: { ...PAGE, perCore: 6250, storeCommands: 3, storeCommandsAtRate: 4, limit: 'store' },
  memory: {
    ...{ pages: 4000, pageBytes: 4096, keptShare: 0.9, residentPerPage: 5000, storePerPage: 600, diskPerPage: 70 },
    residentBytes: 1e8,
  },
  stampede: {
    hot: { ...STAMPEDED, queriesPerKey: 3, p50Ms: 210, p99Ms: 250, failedShare: 0.01 },
    many: { ...STAMPEDED, queriesPerKey: 15, p50Ms: 1700, p99Ms: 2600, failedShare: 0.12 },
  },
  dead: {
    ...{ freshShare: 0.99, expiredShare: 0.98, expiredP99Ms: 15, unseenOutcome: '502', unseenP50Ms: 26 },
    recoveredSeconds: 0.05,
  },
  problems: [],
};
const ALL = [VARNISH, l1({ page: { perCore: 10_000 } }), l2({ many: { perCore: 5000 } })];

/** The values by column name, of the table whose title begins with the given text. */
function rowOf(title: string, name = 'Varnish'): Record<string, unknown> {
  const table = tablesOf(ALL, SIZES).find((one) => one.title.startsWith(title));
  assert.ok(table, title);
  const { columns, rows }: FindingTable = table;
  const row = rows.find((one) => one.name === name);
  assert.equal(row?.values.length, columns.length);
  return Object.fromEntries(columns.map((column, at) => [column.name, row?.values[at]]));
}

const SHOWN = {
  'requests per core': 25_000,
  'processor per request': 40,
  requests: 24_000,
  server: 0.96,
  'client and store': 0.7,
  full: 'client',
  'p50 at 1000/s': 0.3,
  p99: 4,
  'store per request': 8,
  'store commands per request': 1.5,
  'at 1000/s': 2.5,
};

test('a row of one page is compared with serpcache L1', () => {
  assert.deepEqual(rowOf('One cached page'), { ...SHOWN, '÷ serpcache L1': 2.5 });
  assert.equal(rowOf('One cached page', 'serpcache L1')['÷ serpcache L1'], 1);
});

test('a row of many pages is compared with serpcache L2', () => {
  assert.deepEqual(rowOf('1200 cached pages'), {
    ...SHOWN,
    ...{ 'requests per core': 6250, 'processor per request': 160, '÷ serpcache L2': 1.25, full: 'server' },
    ...{ 'store commands per request': 3, 'at 1000/s': 4 },
  });
});

test('a row of memory has process, store and files, separately and summed', () => {
  assert.deepEqual(rowOf('Memory: 4000 pages'), {
    'per page, process, store and files': 5670,
    process: 5000,
    store: 600,
    files: 70,
    'body of a page': 4096,
    kept: 0.9,
    'process in all, with garbage': 1e8,
  });
});

test('a row of a stampede has the hot page first, then many pages', () => {
  const table = tablesOf(ALL, SIZES).find(({ title }) => title.startsWith('Purged'));
  assert.deepEqual(
    table?.columns.map(({ name, unit }) => `${name}: ${unit}`),
    [
      ...['engine queries per page, 1 page × 150: text', 'p50: ms', 'p99: ms', 'failed: share'],
      ...['engine queries per page, 30 pages × 15: text', 'p50: ms', 'p99: ms', 'failed: share'],
    ],
  );
  assert.deepEqual(table?.rows[0]?.values, [3, 210, 250, 0.01, 15, 1700, 2600, 0.12]);
});

test('a row of a dead engine says whether the peer recovers or does not', () => {
  const title = 'The engine dies: pages live 3 s and may be served 60 s longer, one replica';
  const expected = {
    'fresh pages answered': 0.99,
    'expired pages answered': 0.98,
    'p99 of expired': 15,
    'an unknown page gets': '502',
    after: 26,
    'fresh again': 0.05,
  };
  assert.deepEqual(rowOf(title), expected);
  const tables = tablesOf([outcome('never', { dead: { recoveredSeconds: undefined } })], SIZES);
  assert.equal(tables.find((one) => one.title === title)?.rows[0]?.values.at(-1), 'not in 20 s');
});

test('published values are in the rows they belong to, and nowhere else', () => {
  const published = tablesOf([...ALL, outcome('Fastify + BentoCache', { page: {}, dead: {} })], SIZES).map(
    ({ title, rows }) =>
      rows.flatMap((row) => (row.published === undefined ? [] : `${title.slice(0, 8)} ${row.name}: ${row.published}`)),
  );
  const own = 'its own bench, in the process and without HTTP: get 1.25M/s, getOrSet 42k/s';
  assert.deepEqual(published.flat(), [
    'One cach Varnish: 23k/s per core (275k/s on 12 cores, 2010)',
    `One cach Fastify + BentoCache: ${own}`,
    '1200 cac Varnish: 23k/s per core (275k/s on 12 cores, 2010)',
    'The engi Varnish: origin dead for 12 min behind grace: 97 % hits, no 503',
  ]);
  assert.equal(publishedOf('bare Node server'), undefined);
});

test('a published value is the same figure in the text, in the row and in the plot', () => {
  assert.equal(publishedOf('Varnish')?.perCore, Math.round(275 / 12) * 1000);
  for (const figure of [
    '275k requests/s on 12 cores, about 23k/s per core',
    '97 % hits and no 503',
    '(1.25M/s)',
    '(42k/s)',
  ])
    assert.ok(PUBLISHED_WORDS.includes(figure), figure);
});

test('the plots show the values of the tables, and published values only at their own peer', () => {
  const plots = chartsOf([l1({ page: { perCore: 10_000 } }), VARNISH]).map(({ id, places, series }) => [
    id,
    places,
    series.map(({ name, values }) => [name, ...values]),
  ]);
  const places = ['serpcache L1', 'Varnish'];
  assert.deepEqual(plots, [
    [
      '',
      places,
      [
        ['one cached page', 10_000, 25_000],
        ['many cached pages', undefined, 6250],
        ['published', undefined, 23_000],
      ],
    ],
    [
      'stampede',
      places,
      [
        ['one hot page', undefined, 3],
        ['each of many pages', undefined, 15],
      ],
    ],
    [
      'memory',
      places,
      [
        ['process', undefined, 5000],
        ['store', undefined, 600],
        ['files', undefined, 70],
      ],
    ],
  ]);
  const [unpublished] = chartsOf([l1({ page: {} })]);
  assert.deepEqual(
    unpublished?.series.map(({ name }) => name),
    ['one cached page', 'many cached pages'],
  );
});
