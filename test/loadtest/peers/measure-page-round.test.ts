import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PEERS } from '../../../loadtest/peers/all-peers.ts';
import { type Looked, type PageRound, pageFigures, roundOf } from '../../../loadtest/peers/measure/cached-page.ts';
import { reportOf } from '../../../loadtest/peers/measure/full-speed.ts';
import { coresFor } from '../../../loadtest/peers/measure/serving.ts';

/** wrk for two seconds, then 1000/s for two; the store does a fifth of a thing for each request and is asked for each once. */
const LOOKED: Looked = {
  looks: [
    { atMs: 1000, serverSeconds: 10, storeMs: 500, commands: 100 },
    { atMs: 3000, serverSeconds: 11.5, storeMs: 980, commands: 24_102 },
    { atMs: 6000, serverSeconds: 14, storeMs: 3000, commands: 29_504 },
  ],
  fast: { requests: 24_000, perSecond: 12_100, errors: 0, clientCores: 0.375 },
  calm: {
    ...{ requests: 2000, seconds: 2.7, outcomes: { 200: 2000 }, hung: 0, pathsServed: 1, bodyBytes: 8_192_000 },
    servedMs: { p50: 0.4, p99: 2, max: 7 },
  },
  perSecond: 1000,
};

test('a round is what server, store and wrk used while wrk ran, and the times and commands of the rate after it', () => {
  const { clientCores, ...exact } = roundOf(LOOKED);
  assert.deepEqual(exact, {
    perSecond: 12_100,
    perCore: 16_000,
    serverCores: 0.75,
    storeCores: 0.24,
    storeUs: 20,
    storeCommands: 1,
    // 5400 of 2000 that are timed and of 700 that lead.
    storeCommandsAtRate: 2,
    p50Ms: 0.4,
    p99Ms: 2,
  });
  assert.equal(clientCores.toFixed(6), '0.615000');
});

test('asking what the store got is no command of the page', () => {
  const [first, , last] = LOOKED.looks;
  const quiet = {
    ...LOOKED,
    looks: [first, { ...first, atMs: 3000, commands: 102 }, { ...last, commands: 103 }],
  } as const;
  const { storeCommands, storeCommandsAtRate } = roundOf(quiet);
  assert.deepEqual([storeCommands, storeCommandsAtRate], [0, 0]);
});

test('one error of a thousand is chance, more is no cached page: at full speed and at the rate', () => {
  const { fast, calm } = LOOKED;
  const atRate = (served: number) => ({ ...LOOKED, calm: { ...calm, outcomes: { 200: served, 503: 2000 - served } } });
  roundOf({ ...LOOKED, fast: { ...fast, errors: 24 } });
  assert.throws(
    () => roundOf({ ...LOOKED, fast: { ...fast, errors: 25 } }),
    /^Error: 25 of 24000 answers were errors$/,
  );
  roundOf(atRate(1998));
  assert.throws(() => roundOf(atRate(1997)), /^Error: at 1000\/s: \{"200":1997,"503":3\}, 0 hung$/);
  const { servedMs: _, ...none } = calm;
  assert.throws(() => roundOf({ ...LOOKED, calm: { ...none, outcomes: {}, hung: 2000 } }), /2000 hung/);
});

const ROUNDS: readonly PageRound[] = [
  {
    ...{ perSecond: 9000, perCore: 12_000, serverCores: 0.75, clientCores: 0.5, storeCores: 0.125 },
    ...{ storeUs: 14, storeCommands: 1, storeCommandsAtRate: 2, p50Ms: 0.5, p99Ms: 2 },
  },
  {
    ...{ perSecond: 10_000, perCore: 10_000, serverCores: 1, clientCores: 0.75, storeCores: 0.25 },
    ...{ storeUs: 25, storeCommands: 1.5, storeCommandsAtRate: 2.5, p50Ms: 0.25, p99Ms: 6 },
  },
];

test('of two rounds: who was fastest, the best of each figure they are compared by, and how far apart these were', () => {
  const expected = {
    ...ROUNDS[1],
    ...{ perSecond: 10_000, perCore: 12_000, p50Ms: 0.25, p99Ms: 2, limit: 'store' },
    spreads: { perCore: 1.2, p50Ms: 2, p99Ms: 3 },
  };
  assert.deepEqual(pageFigures(ROUNDS, { server: 1, client: 1 }), expected);
  assert.deepEqual(pageFigures(ROUNDS.toReversed(), { server: 1, client: 1 }), expected);
});

/** Half of so many processors for the servers, the other half for who asks. */
function fullOn(processors: number, mostCores: number | undefined, busy: Partial<PageRound>): string {
  const half = { storeCount: processors / 2, generatorCount: processors / 2 };
  const [round] = ROUNDS;
  assert.ok(round);
  const rounds = [{ ...round, serverCores: 0.5, clientCores: 0.5, storeCores: 0, ...busy }];
  return pageFigures(rounds, coresFor({ ...(mostCores && { mostCores }) }, half)).limit;
}

test('a server of one thread is full at one core, however many there are, and one of many only at all of them', () => {
  for (const processors of [2, 4, 16]) assert.equal(fullOn(processors, undefined, { serverCores: 0.98 }), 'store');
  assert.equal(fullOn(4, Number.POSITIVE_INFINITY, { serverCores: 0.98 }), 'neither');
  assert.equal(fullOn(4, Number.POSITIVE_INFINITY, { serverCores: 1.9 }), 'store');
  assert.equal(fullOn(2, Number.POSITIVE_INFINITY, { serverCores: 0.98 }), 'store');
  assert.equal(fullOn(16, undefined, {}), 'neither');
});

test('wrk is full at one core and the store at another; where they share one, when both together fill it', () => {
  assert.equal(fullOn(4, undefined, { clientCores: 0.98 }), 'generator');
  assert.equal(fullOn(4, undefined, { clientCores: 1.4, storeCores: 0.9 }), 'generator');
  const both = { clientCores: 0.95, storeCores: 0.45 };
  assert.equal(fullOn(4, undefined, both), 'neither');
  assert.equal(fullOn(2, undefined, both), 'generator');
});

test('of all peers only the threads of Varnish take more than one core', () => {
  const many = PEERS.filter(({ mostCores = 1 }) => mostCores !== 1).map(({ name }) => name);
  assert.deepEqual(many, ['Varnish']);
});

test('each kind of error that wrk tells of is one, alone and with the others', () => {
  const errors = (lines: string): number =>
    reportOf(`  9 requests in 2.00s, 1MB read\n${lines}Requests/sec:  4.5\n`).errors;
  assert.equal(errors(''), 0);
  assert.equal(errors('  Non-2xx or 3xx responses: 7\n'), 7);
  assert.equal(errors('  Socket errors: connect 1, read 20, write 300, timeout 4000\n'), 4321);
  assert.equal(
    errors('  Socket errors: connect 1, read 20, write 300, timeout 4000\n  Non-2xx or 3xx responses: 50000\n'),
    54_321,
  );
});
