import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type CostRow,
  closedLoopRow,
  EACH,
  KEPT,
  type ReconnectMeasured,
  reconnect,
  together,
} from '../../../../loadtest/labs/experiments/reconnect.ts';
import { inLab } from '../../../../loadtest/labs/kit/lab.ts';
import { figureOf, LAB } from './harness.ts';

const MOST_SECONDS = 20;

const ROW: Omit<CostRow, 'policy' | 'isTls'> = {
  perSecond: 8000,
  meanMs: 1,
  p50Ms: 1,
  p99Ms: 2,
  errors: 0,
  errorShare: 0,
  connects: 0,
  connectsPerSecond: 1,
  seconds: 2,
  answered: 20_000,
  storeCores: 0.2,
  generatorCores: 0.4,
  storeUs: 20,
  generatorUs: 40,
  limit: 'neither',
};

/** Mean latency and cores of the store with new connections, for 200 and for 2,000 clients; kept ones: 40 ms, 1 core. */
type Anew = readonly [meanMs: number, storeCores: number];

function measuredOf(few: Anew, many: Anew, limit: 'store' | 'generator'): ReconnectMeasured {
  return {
    rungs: [200, 2000],
    whyNoMore: '',
    closed: [few, many].flatMap(([meanMs, storeCores], at) => [
      { ...ROW, policy: KEPT, clients: [200, 2000][at] ?? 0, meanMs: 40, storeCores: 1, limit: 'both' as const },
      { ...ROW, policy: EACH, clients: [200, 2000][at] ?? 0, meanMs, storeCores, limit },
    ]),
    costs: [
      { ...ROW, policy: EACH, isTls: true, storeUs: 500 },
      { ...ROW, policy: KEPT, isTls: true, storeUs: 25 },
    ],
  };
}

// The geometric mean of 1.2 and 4 is 2.2; that of 0.7 and 1 is 0.84.
for (const [name, few, many, limit, verdict] of [
  ['clients wait while the store idles: it holds', [240, 0.45], [240, 0.45], 'generator', 'yes'],
  ['waiting for a store that stays busy holds in part', [240, 1], [240, 1], 'store', 'partly'],
  ['a store that idles while no client waits holds in part', [60, 0.4], [60, 0.4], 'generator', 'partly'],
  ['long waits of a single number of clients', [48, 1], [160, 1], 'generator', 'no'],
  ['a store that idles with a single number of clients', [40, 0.7], [40, 1], 'generator', 'no'],
  ['long waits in the mean', [80, 1], [160, 1], 'generator', 'partly'],
  ['a store that idles in the mean', [40, 0.6], [40, 1], 'generator', 'partly'],
] as const)
  test(name, () => {
    const found = reconnect.findingOf(measuredOf(few, many, limit));
    assert.equal(found.verdict, verdict);
    assert.equal(figureOf(found, /mean latency with 2,000 clients/), many[0] / 40);
    assert.equal(figureOf(found, /only the generator full/), limit === 'generator' ? 1 : 0);
    assert.equal(figureOf(found, /with the store full/), limit === 'store' ? 1 : 0);
    assert.equal(figureOf(found, /÷ kept, with TLS/), 20);
    assert.equal(figureOf(found, /one connect, with TLS/), 475);
  });

test('a cost is the mean over all rounds, weighted by their time', () => {
  const round: CostRow = {
    ...ROW,
    policy: EACH,
    isTls: false,
    seconds: 1,
    answered: 100,
    storeCores: 0.4,
    generatorCores: 0.8,
    connects: 30,
    errors: 1,
  };
  const longer = { ...round, seconds: 3, answered: 700, storeCores: 0.2, generatorCores: 0.4, connects: 50, errors: 2 };
  const price = Object.entries(together([round, longer])).map(([name, value]) => [name, Math.round(value * 1e6) / 1e6]);
  assert.deepEqual(Object.fromEntries(price), {
    perSecond: 200,
    storeCores: 0.25,
    generatorCores: 0.5,
    storeUs: 1250,
    generatorUs: 2500,
    connectsPerSecond: 20,
    errors: 3,
  });
});

test('a new connection for each request gives one connect per answer, and a kept one gives none', async () => {
  await inLab(LAB, async (lab) => {
    const store = await lab.startStore({ config: ['bind 127.0.0.1 127.0.0.2'] });
    const targets = ['127.0.0.1', '127.0.0.2'].map((host) => ({ host, port: store.port }));
    const wide = { store, targets };
    /** Longer and longer, until there are enough answers to compare: a busy machine gives few in a second. */
    const measured = async (policy: typeof EACH | typeof KEPT) => {
      for (let seconds = 0.4; ; seconds *= 4) {
        const row = await closedLoopRow(lab, wide, { clients: 8, policy, seconds });
        assert.equal(row.errors, 0);
        if (row.answered > 20) return row;
        assert.ok(seconds < MOST_SECONDS, `${row.answered} answers in ${seconds} s`);
      }
    };
    const { connects, answered } = await measured(EACH);
    // The first of each was opened before the measurement; the last may be open and unanswered.
    assert.ok(Math.abs(connects - answered) <= 8, `${connects} connects, ${answered} answers`);
    assert.equal((await measured(KEPT)).connects, 0);
  });
});
