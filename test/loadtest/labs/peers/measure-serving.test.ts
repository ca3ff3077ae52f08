import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrkReport } from '../../../../loadtest/http-driver/wrk.ts';
import { pagesOf } from '../../../../loadtest/labs/peers/replicas.ts';
import { type PageRound, pageFigures } from '../../../../loadtest/labs/peers/serving.ts';
import { fakeBackend } from '../../../fakes/peer.ts';

const REPORT = `Running 2s test @ http://127.0.0.1:8080/search
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     4.86ms    1.50ms  33.11ms   92.15%
  26671 requests in 2.00s, 111.79MB read
`;

test('a report of wrk gives its rate, its requests and the sum of all kinds of errors', () => {
  const calm = `${REPORT}Requests/sec:  13333.21\nTransfer/sec:     55.88MB\n`;
  assert.deepEqual(wrkReport(calm), { requests: 26_671, perSecond: 13_333.21, errors: 0 });
  const broken = `${REPORT}  Socket errors: connect 1, read 20, write 0, timeout 300\n  Non-2xx or 3xx responses: 4000\n`;
  assert.equal(wrkReport(`${broken}Requests/sec:  13333.21\n`).errors, 4321);
  assert.throws(() => wrkReport('unable to connect to 127.0.0.1:8080\n'), /wrk reported no rate: unable to connect/);
});

function round(more: Partial<PageRound>): PageRound {
  return {
    perSecond: 10_000,
    perCore: 11_000,
    serverCores: 0.95,
    clientCores: 0.4,
    storeCores: 0,
    storeUs: 0,
    storeCommands: 0,
    storeCommandsAtRate: 0,
    p50Ms: 0.4,
    p99Ms: 2,
    ...more,
  };
}

test('each figure is the best of its rounds', () => {
  const rounds = [round({ perSecond: 9000, perCore: 12_000, p99Ms: 3 }), round({ p50Ms: 0.5 })];
  const { perSecond, perCore, p50Ms, p99Ms } = pageFigures(rounds, { server: 1, client: 1 });
  assert.deepEqual([perSecond, perCore, p50Ms, p99Ms], [10_000, 12_000, 0.4, 2]);
});

test('the spread of a server is its largest round over its smallest', () => {
  const rounds = [round({ perCore: 12_000, p99Ms: 3 }), round({ perCore: 10_000 }), round({ perCore: 11_000 })];
  assert.deepEqual(pageFigures(rounds, { server: 1, client: 1 }).spreads, { perCore: 1.2, p50Ms: 1, p99Ms: 1.5 });
});

test('the full part is the one that was full in the fastest round', () => {
  const one = { server: 1, client: 1 };
  assert.equal(pageFigures([round({})], one).limit, 'store');
  const byClient = round({ perSecond: 30_000, serverCores: 0.5, clientCores: 0.9 });
  assert.equal(pageFigures([round({}), byClient], one).limit, 'generator');
  assert.equal(pageFigures([round({})], { server: 2, client: 2 }).limit, 'neither');
  assert.throws(() => pageFigures([], one), /no round/);
});

test('all pages are different and about 4 KB', async (t) => {
  const backend = await fakeBackend();
  t.after(backend.stop);
  const paths = await pagesOf(backend, 2100);
  assert.equal(new Set(paths).size, 2100);
  const small = await fakeBackend(2000);
  t.after(small.stop);
  const few = { ...small, texts: () => small.texts(20) };
  await assert.rejects(pagesOf(few, 10), /has 0 pages of about 4 KB, 10 are wanted/);
});
