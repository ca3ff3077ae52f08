import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareAll, FIGURES, type Outcome } from '../../../../loadtest/labs/peers/compare.ts';
import { type Given, l1, l2, outcome } from './measure-outcome.ts';

const compared = (all: readonly Outcome[]): string[] =>
  compareAll(all).map(({ figure, oursName, peer }) => `${figure.what}: ${peer}, ${oursName}`);

const STAMPEDED = { outcome: '200', purgeRefusals: 0 } as const;

test('each figure has the right value, and the right direction for "better"', () => {
  const peer: Outcome = {
    ...outcome('peer', {
      page: { perCore: 1000, p50Ms: 2, p99Ms: 3 },
      many: { perCore: 4000, p50Ms: 5, p99Ms: 6 },
      memory: { residentPerPage: 5000, storePerPage: 600, diskPerPage: 70 },
      dead: { freshShare: 0.99, expiredShare: 0.98, expiredP99Ms: 15, unseenP50Ms: 26, recoveredSeconds: 0.05 },
    }),
    stampede: {
      hot: { ...STAMPEDED, queriesPerKey: 3, p50Ms: 210, p99Ms: 250, failedShare: 0.01 },
      many: { ...STAMPEDED, queriesPerKey: 15, p50Ms: 1700, p99Ms: 2600, failedShare: 0.02 },
    },
  };
  assert.deepEqual(
    FIGURES.map(({ what, better, unit, of }) => `${what}: ${of(peer)}, ${better}, ${unit}`),
    [
      'requests per core, one page: 1000, more, per-second',
      'requests per core, many pages: 4000, more, per-second',
      'p50, one page: 2, less, ms',
      'p99, one page: 3, less, ms',
      'p50, many pages: 5, less, ms',
      'p99, many pages: 6, less, ms',
      'memory and files of a page, process and store: 5670, less, bytes',
      'engine queries for the hot page after a purge: 3, less, text',
      'engine queries for each of many pages after a purge: 15, less, text',
      'p99 of the hot page after a purge: 250, less, ms',
      'p99 of many pages after a purge: 2600, less, ms',
      'failed after a purge, hot page: 0.01, less, share',
      'failed after a purge, many pages: 0.02, less, share',
      'fresh pages answered without an engine: 0.99, more, share',
      'expired pages answered without an engine: 0.98, more, share',
      'p99 of expired pages without an engine: 15, less, ms',
      'time to refuse an unknown page without an engine: 26, less, ms',
      'until an answer is fresh after the engine is back: 0.05, less, seconds',
    ],
  );
});

const FROM_STORE = { storeCommands: 1, storeCommandsAtRate: 1 };

test('pages are from the store from 0.5 commands a page on, and those are compared only with serpcache L2', () => {
  const ours = [l1({ many: {} }), l2({ many: FROM_STORE })];
  const like = (each: number) =>
    compareAll([outcome('peer', { many: { storeCommands: each, storeCommandsAtRate: each } }), ...ours]).map(
      ({ oursName }) => oursName,
    );
  assert.deepEqual(like(0.4), Array(3).fill('serpcache L1'));
  assert.deepEqual(like(0.6), Array(3).fill('serpcache L2'));
  // An L2 that had its pages in memory after all is not comparable with those peers.
  assert.deepEqual(compared([outcome('peer', { many: FROM_STORE }), l1({ many: {} }), l2({ many: {} })]), []);
});

test('a peer that refuses up to one request in twenty is compared by times and queries; one that refuses more is not', () => {
  const queries = (failedShare: number) =>
    compared([outcome('peer', { queries: 3, failedShare }), l1({ queries: 1 })]).filter((one) =>
      /queries|p99/.test(one),
    );
  assert.equal(queries(0.04).length, 4);
  assert.equal(queries(0.06).length, 0);
  const expired = (expiredShare: number) =>
    compared([outcome('peer', { dead: { expiredShare } }), l1({ dead: {} })]).filter((one) => /p99/.test(one));
  assert.equal(expired(0.96).length, 1);
  assert.equal(expired(0.94).length, 0);
});

/** Both directions from the figure of serpcache: a difference within the noise, and a larger one. */
const APART: readonly (readonly [what: string, ours: Given, near: Given, far: Given])[] = [
  ['p50, one page', { page: { p50Ms: 0.1 } }, { page: { p50Ms: 0.115 } }, { page: { p50Ms: 0.125 } }],
  ['p99, one page', { page: { p99Ms: 1 } }, { page: { p99Ms: 1.45 } }, { page: { p99Ms: 1.55 } }],
  [
    'memory and files of a page, process and store',
    { memory: { residentPerPage: 1000 } },
    { memory: { residentPerPage: 1500 } },
    { memory: { residentPerPage: 1550 } },
  ],
  [
    'fresh pages answered without an engine',
    { dead: { freshShare: 0.9 } },
    { dead: { freshShare: 0.904 } },
    { dead: { freshShare: 0.91 } },
  ],
  [
    'time to refuse an unknown page without an engine',
    { dead: { unseenP50Ms: 1 } },
    { dead: { unseenP50Ms: 1.45 } },
    { dead: { unseenP50Ms: 1.55 } },
  ],
  [
    'until an answer is fresh after the engine is back',
    { dead: { recoveredSeconds: 0.05 } },
    { dead: { recoveredSeconds: 0.16 } },
    { dead: { recoveredSeconds: 0.18 } },
  ],
];

for (const [what, ours, near, far] of APART) {
  test(`${what}: a difference within the noise is level, a larger one is a lead`, () => {
    const ahead = (given: Given, own: Given) =>
      compareAll([outcome('peer', given), l1(own)]).find(({ figure }) => figure.what === what)?.ahead;
    assert.equal(ahead(near, ours), 'neither');
    assert.equal(ahead(ours, near), 'neither');
    assert.deepEqual([ahead(far, ours), ahead(ours, far)].toSorted(), ['peer', 'serpcache']);
  });
}
