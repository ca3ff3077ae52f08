import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrkReport } from '../../../../loadtest/http-driver/wrk.ts';
import {
  bytesPerPage,
  coresFor,
  type Looked,
  type MemoryLooked,
  memoryFiguresOf,
  type PageRound,
  pageFigures,
  roundOf,
} from '../../../../loadtest/labs/peers/serving.ts';

/** wrk for 2 s, then 1000/s for 2 s; the store does 0.2 operations a request, and its counters are read once each. */
const LOOKED: Looked = {
  looks: [
    { atMs: 1000, serverSeconds: 10, storeMs: 500, commands: 100 },
    { atMs: 3000, serverSeconds: 11.5, storeMs: 980, commands: 24_102 },
    { atMs: 6000, serverSeconds: 14, storeMs: 3000, commands: 29_504 },
  ],
  fast: { requests: 24_000, perSecond: 12_100, errors: 0, clientCores: 0.375 },
  calm: {
    requests: 2000,
    seconds: 2.7,
    outcomes: { 200: 2000 },
    hung: 0,
    pathsServed: 1,
    bodyBytes: 8_192_000,
    servedMs: { p50: 0.4, p99: 2, p999: 2, max: 7 },
  },
  perSecond: 1000,
};

test('a round has the processor use of server, store and wrk while wrk ran, and the times and commands of the rate after it', () => {
  const { clientCores, ...exact } = roundOf(LOOKED);
  assert.deepEqual(exact, {
    perSecond: 12_100,
    perCore: 16_000,
    serverCores: 0.75,
    storeCores: 0.24,
    storeUs: 20,
    storeCommands: 1,
    // 5400 commands over 2000 timed requests and 700 lead-in requests.
    storeCommandsAtRate: 2,
    p50Ms: 0.4,
    p99Ms: 2,
  });
  assert.equal(clientCores.toFixed(6), '0.615000');
});

test("the command that reads the store's counters is not counted as a command of the page", () => {
  const [first, , last] = LOOKED.looks;
  const quiet = {
    ...LOOKED,
    looks: [first, { ...first, atMs: 3000, commands: 102 }, { ...last, commands: 103 }],
  } as const;
  const { storeCommands, storeCommandsAtRate } = roundOf(quiet);
  assert.deepEqual([storeCommands, storeCommandsAtRate], [0, 0]);
});

test('one error in a thousand is tolerated; more means the page is not cached: at full speed and at the rate', () => {
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

const ROUND: PageRound = {
  perSecond: 9000,
  perCore: 12_000,
  serverCores: 0.75,
  clientCores: 0.5,
  storeCores: 0.125,
  storeUs: 14,
  storeCommands: 1,
  storeCommandsAtRate: 2,
  p50Ms: 0.5,
  p99Ms: 2,
};
const FASTEST = { perSecond: 10_000, serverCores: 1, clientCores: 0.75, storeCores: 0.25, storeUs: 25 };
const ROUNDS = [ROUND, { ...ROUND, ...FASTEST, perCore: 10_000, p50Ms: 0.25, p99Ms: 6 }];

test('the result of two rounds has the limit of the fastest one, the best of each compared figure, and the spread of each', () => {
  const expected = {
    ...ROUND,
    ...FASTEST,
    p50Ms: 0.25,
    limit: 'store',
    spreads: { perCore: 1.2, p50Ms: 2, p99Ms: 3 },
  };
  assert.deepEqual(pageFigures(ROUNDS, { server: 1, client: 1 }), expected);
  assert.deepEqual(pageFigures(ROUNDS.toReversed(), { server: 1, client: 1 }), expected);
});

/** Half of the given number of processors is for the servers, the other half for the load generators. */
function fullOn(processors: number, mostCores: number | undefined, busy: Partial<PageRound>): string {
  const half = { storeCount: processors / 2, generatorCount: processors / 2 };
  const rounds = [{ ...ROUND, serverCores: 0.5, storeCores: 0, ...busy }];
  return pageFigures(rounds, coresFor({ mostCores }, half)).limit;
}

test('a single-threaded server is full at one core however many there are; a multi-threaded one only at all of them', () => {
  for (const processors of [2, 4, 16]) assert.equal(fullOn(processors, undefined, { serverCores: 0.98 }), 'store');
  assert.equal(fullOn(4, Number.POSITIVE_INFINITY, { serverCores: 0.98 }), 'neither');
  assert.equal(fullOn(4, Number.POSITIVE_INFINITY, { serverCores: 1.9 }), 'store');
  assert.equal(fullOn(2, Number.POSITIVE_INFINITY, { serverCores: 0.98 }), 'store');
  assert.equal(fullOn(16, undefined, {}), 'neither');
});

const SOCKETS = '  Socket errors: connect 1, read 20, write 300, timeout 4000\n';
for (const [name, lines, errors] of [
  ['nothing', '', 0],
  ['other answers', '  Non-2xx or 3xx responses: 7\n', 7],
  ['socket errors', SOCKETS, 4321],
  ['both', `${SOCKETS}  Non-2xx or 3xx responses: 50000\n`, 54_321],
] as const)
  test(`a report of wrk with ${name} has ${errors} errors`, () => {
    const report = `  26671 requests in 2.00s, 111.79MB read\n${lines}Requests/sec:  13333.21\nTransfer/sec:     55.88MB\n`;
    assert.deepEqual(wrkReport(report), { requests: 26_671, perSecond: 13_333.21, errors });
  });

test('a report of wrk without a rate is refused', () => {
  assert.throws(() => wrkReport('unable to connect to 127.0.0.1:8080\n'), /wrk reported no rate: unable to connect/);
});

/** 400 pages, of which a quarter was evicted again. */
const FILLED: MemoryLooked = {
  before: { whole: 9_000_000, resident: 5_000_000, store: 700_000, disk: 10_000 },
  after: { whole: 12_000_000, resident: 8_000_000, store: 1_300_000, disk: 1_210_000 },
  pages: 400,
  filled: { bodyBytes: 1_638_400, requests: 400 },
  missedShare: 0.25,
};

test('memory of a page is the growth of process, store and files over the number of pages still there', () => {
  assert.deepEqual(memoryFiguresOf(FILLED), {
    pageBytes: 4096,
    keptShare: 0.75,
    residentPerPage: 10_000,
    storePerPage: 2000,
    diskPerPage: 4000,
    residentBytes: 12_000_000,
  });
  assert.equal(bytesPerPage(memoryFiguresOf(FILLED)), 16_000);
});

test('a peer that keeps one page of twenty is measured; a peer that keeps fewer is not', () => {
  assert.equal(memoryFiguresOf({ ...FILLED, missedShare: 0.9 }).keptShare.toFixed(6), '0.100000');
  assert.throws(() => memoryFiguresOf({ ...FILLED, missedShare: 0.96 }), /^Error: of 400 pages it keeps 16$/);
  // A background refresh is a search too.
  assert.throws(() => memoryFiguresOf({ ...FILLED, missedShare: 1.5 }), /keeps 0$/);
});
