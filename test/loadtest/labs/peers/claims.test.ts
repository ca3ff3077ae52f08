import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verdictOf } from '../../../../loadtest/labs/kit/claims.ts';
import { compareAll, type Outcome } from '../../../../loadtest/labs/peers/compare.ts';
import { claimsOf, leadTables } from '../../../../loadtest/labs/peers/tables.ts';
import { l1, l2, outcome } from './measure-outcome.ts';

/** The compared figures, in a few words each. */
const ahead = (outcomes: readonly Outcome[]): string[] =>
  compareAll(outcomes)
    .filter((one) => one.ahead !== 'neither')
    .map((one) => `${one.ahead === 'peer' ? one.peer : 'serpcache'}: ${one.figure.what}`);

/** The verdict, and the figures of the claims: comparisons, peers ahead, serpcache ahead, level. */
const compared = (outcomes: readonly Outcome[]) => {
  const claims = claimsOf(outcomes);
  return [verdictOf(claims), ...claims.map(({ figure }) => figure)];
};

test('the claims count the comparisons in which a peer is ahead; a table lists all of them, the furthest first', () => {
  const outcomes = [
    outcome('nginx', { page: { perCore: 30_000 }, queries: 3 }),
    outcome('Varnish', { page: { perCore: 50_000 }, queries: 3 }),
    l1({ page: {}, queries: 1 }),
  ];
  assert.deepEqual(compared(outcomes), ['partly', 18, 2, 2, 14]);
  const rows = leadTables(outcomes).map((table) => table.rows.map(({ name, values }) => [name, ...values].join(' | ')));
  assert.deepEqual(
    rows.map((some) => some.map((row) => row.replaceAll('\u00a0', ' '))),
    [
      ['requests per core, one page | L1 20,000/s | Varnish 2.5 ×, nginx 1.5 ×'],
      ['engine queries for the hot page after a purge | L1 1 | nginx 3 ×, Varnish 3 ×'],
    ],
  );
});

test('the claim does not hold when serpcache is ahead in no figure', () => {
  const found = compared([outcome('fast', { page: { perCore: 40_000 } }), l1({ page: {} })]);
  assert.deepEqual([found[0], found[3]], ['no', 0]);
});

const spread = (perCore: number) => ({ spreads: { perCore, p50Ms: 1, p99Ms: 1 } });

test('a lead within the spread between rounds of either server is no lead; a larger one is', () => {
  const ours = (factor: number) => l1({ page: spread(factor) });
  const peer = (factor: number) => outcome('peer', { page: { perCore: 24_000, ...spread(factor) } });
  assert.deepEqual(ahead([peer(1.3), ours(1)]), []);
  assert.deepEqual(ahead([peer(1), ours(1.3)]), []);
  assert.deepEqual(ahead([peer(1.1), ours(1.15)]), ['peer: requests per core, one page']);
});

test('a lead within the difference of the two serpcaches, where both do the same work, is no lead', () => {
  const peer = outcome('peer', { page: { perCore: 24_000 } });
  assert.deepEqual(ahead([peer, l1({ page: {} }), l2({ page: { perCore: 16_000 } })]), []);
  assert.deepEqual(ahead([peer, l1({ page: {} }), l2({ page: { perCore: 19_000 } })]), [
    'peer: requests per core, one page',
  ]);
  // With pages from a store the two do different work.
  assert.deepEqual(ahead([peer, l1({ page: {} }), l2({ page: { perCore: 9000, storeCommands: 1 } })]), [
    'peer: requests per core, one page',
  ]);
  const dead = outcome('peer', { dead: { freshShare: 0.9 } });
  const ours = (freshShare: number) => [l1({ dead: {} }), l2({ dead: { freshShare } })];
  assert.deepEqual(ahead([dead, ...ours(0.8)]), []);
  assert.deepEqual(ahead([dead, ...ours(0.95)]), ['serpcache: fresh pages answered without an engine']);
});

test('pages from a store are compared with pages from a store, and pages in memory with pages in memory', () => {
  const ours = [l1({ many: { perCore: 20_000 } }), l2({ many: { perCore: 8000, storeCommands: 1 } })];
  const names = (storeCommands: number) =>
    compareAll([outcome('peer', { keeps: 'shared', many: { storeCommands } }), ...ours]).map((one) => one.oursName);
  assert.equal(names(1.4)[0], 'serpcache L2');
  assert.equal(names(0.01)[0], 'serpcache L1');
});

test('memory of a page is that of process and store, compared with the serpcache that stores it the same way', () => {
  const ours = [l1({ memory: { storePerPage: 5000 } }), l2({ memory: { residentPerPage: 500, storePerPage: 5000 } })];
  const one = (keeps: 'own' | 'shared') => compareAll([outcome('peer', { keeps, memory: {} }), ...ours])[0];
  assert.deepEqual([one('own')?.theirs, one('own')?.ours], [8192, 13_192]);
  assert.deepEqual([one('shared')?.ours, one('shared')?.ahead], [5500, 'serpcache']);
});

test('the two serpcaches are not compared with each other, nor in a figure that one of them lacks', () => {
  assert.deepEqual(compareAll([l1({ page: {} }), l2({ page: { perCore: 1 } })]), []);
  assert.deepEqual(compareAll([outcome('peer', { page: {} }), l1({ queries: 1 })]), []);
  assert.equal(compared([outcome('peer', { page: {} })])[0], 'no');
});

test('a peer that refuses most requests is compared by its refusals, not by the cost of the few it admitted', () => {
  const refusing = compareAll([outcome('peer', { queries: 3 }), l1({ queries: 1, failedShare: 0.8 })]);
  assert.deepEqual(
    refusing.map(({ figure, ahead }) => `${figure.what}: ${ahead}`),
    ['failed after a purge, hot page: peer', 'failed after a purge, many pages: peer'],
  );
  const dead = compareAll([outcome('peer', { dead: {} }), l1({ dead: { expiredShare: 0.2, expiredP99Ms: 0.1 } })]);
  assert.deepEqual(
    dead.filter(({ ahead }) => ahead !== 'neither').map(({ figure }) => figure.what),
    ['expired pages answered without an engine'],
  );
});
