import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DrivenRow } from '../../../../loadtest/labs/experiments/many-clients.ts';
import {
  CLIENTS,
  type CostRow,
  closedLoopRow,
  EACH,
  KEPT,
  KEPT_PUBLISHED_MS,
  POLICIES,
  type ReconnectMeasured,
  reconnect,
  together,
} from '../../../../loadtest/labs/experiments/reconnect.ts';
import { closedLoop } from '../../../../loadtest/labs/kit/driver/drive.ts';
import { coresOf, inLab } from '../../../../loadtest/labs/kit/lab.ts';
import { cellOf, figureOf } from './harness.ts';

const AFTER_5 = POLICIES.find(({ every }) => every === 5) ?? EACH;

const DRIVEN: DrivenRow = {
  perSecond: 8000,
  meanMs: 1,
  p50Ms: 1,
  p99Ms: 2,
  errors: 0,
  errorShare: 0,
  connects: 0,
  seconds: 2,
  answered: 20_000,
  storeCores: 0.2,
  generatorCores: 0.4,
  storeUs: 20,
  generatorUs: 40,
  limit: 'neither',
};
const ROW = { ...DRIVEN, connectsPerSecond: 1 };

/** Rows of new connections like `each`, beside kept ones with 40 ms and 0.9 cores. */
function measuredOf(each: Partial<DrivenRow>): ReconnectMeasured {
  const limit = 'generator' as const;
  return {
    rungs: CLIENTS,
    whyNoMore: '',
    closed: [200, 2000].flatMap((clients) => [
      { ...ROW, policy: KEPT, clients, meanMs: 40, storeCores: 0.9, limit: 'both' as const },
      { ...ROW, policy: AFTER_5, clients, meanMs: 1, storeCores: 0, limit },
      { ...ROW, limit, ...each, policy: EACH, clients },
    ]),
    costs: costsOf(true, 500, 25),
  };
}

function costsOf(isTls: boolean, anewUs: number, keptUs: number): readonly CostRow[] {
  return [
    { ...ROW, policy: EACH, isTls, storeUs: anewUs },
    { ...ROW, policy: KEPT, isTls, storeUs: keptUs },
  ];
}

// Copied from the publication, not from the code: the published values beside a measurement must not drift.
test('new connections: 60 to 190 ms kept, about 600 ms after every 5th request, more than a second after each', () => {
  assert.deepEqual(
    POLICIES.map(({ every, published }) => [every, published]),
    [
      [undefined, { 200: '60 ms, 100 % CPU', 2000: '190 ms, 100 % CPU' }],
      [70, {}],
      [5, { 2000: '~600 ms, ~60 % CPU' }],
      [1, { 2000: '> 1000 ms, 40–50 % CPU' }],
    ],
  );
  assert.deepEqual(KEPT_PUBLISHED_MS, { 200: 60, 2000: 190 });
  assert.deepEqual(CLIENTS, [200, 800, 2000]);
});

test('the statement holds when clients wait while the store idles, and the full part is named', () => {
  const found = reconnect.findingOf(measuredOf({ meanMs: 240, storeCores: 0.45 }));
  assert.equal(found.verdict, 'yes');
  assert.equal(figureOf(found, /mean latency with 2,000 clients/), 6);
  assert.equal(found.tables[0]?.rows.at(-1)?.values[1], 240);
  const busy = (row: RegExp) => cellOf(found, /^Each client asks again/, row, /^store cores/);
  assert.equal(busy(/^2,000 clients, new each time/), 0.45);
  assert.equal(busy(/^2,000 clients, kept/), 0.9);
  assert.equal(figureOf(found, /only the generator full/), 1);
  assert.equal(figureOf(found, /÷ kept, with TLS/), 20);
  assert.equal(figureOf(found, /one connect, with TLS/), 475);
});

test('waiting for a store that stays busy makes the statement hold in part, and so does a store that idles while no client waits', () => {
  const busy = reconnect.findingOf(measuredOf({ meanMs: 240, storeCores: 0.9, limit: 'store' }));
  assert.equal(busy.verdict, 'partly');
  assert.equal(figureOf(busy, /^busy cores .*numbers of clients/), 1);
  assert.equal(figureOf(busy, /with the store full/), 1);
  const idle = reconnect.findingOf(measuredOf({ meanMs: 60, storeCores: 0.4 }));
  assert.equal(idle.verdict, 'partly');
  assert.equal(figureOf(idle, /^mean latency, .*numbers of clients/)?.toFixed(6), '1.500000');
});

test('a single number of clients with long waits, or with an idle store, is not enough for the whole answer', () => {
  const pairs = (few: readonly [number, number], many: readonly [number, number]) => {
    const closed = ([few, many] as const).flatMap(([meanMs, storeCores], at) => [
      { ...ROW, policy: KEPT, clients: [200, 2000][at] ?? 0, meanMs: 40, storeCores: 1 },
      { ...ROW, policy: EACH, clients: [200, 2000][at] ?? 0, meanMs, storeCores },
    ]);
    return reconnect.findingOf({ ...measuredOf({}), closed }).verdict;
  };
  // The geometric mean of 1.2 and 4 is 2.2; that of 0.7 and 1 is 0.84.
  assert.equal(pairs([48, 1], [160, 1]), 'no');
  assert.equal(pairs([40, 0.7], [40, 1]), 'no');
  assert.equal(pairs([80, 1], [160, 1]), 'partly');
  assert.equal(pairs([40, 0.6], [40, 1]), 'partly');
});

test('a cost is the mean over all rounds, weighted by their time', () => {
  const load = { answered: 100, storeCores: 0.4, generatorCores: 0.8, connects: 30, errors: 1, seconds: 1 };
  const round: DrivenRow = { ...DRIVEN, ...load };
  const longer = { ...round, seconds: 3, answered: 700, storeCores: 0.2, generatorCores: 0.4, connects: 50, errors: 2 };
  const of = { policy: EACH, isTls: false, connectsPerSecond: 0 };
  const price = together([round, longer].map((one) => ({ ...one, ...of })));
  const near = Object.fromEntries(Object.entries(price).map(([name, value]) => [name, Math.round(value * 1e6) / 1e6]));
  assert.deepEqual(near, {
    perSecond: 200,
    storeCores: 0.25,
    generatorCores: 0.5,
    storeUs: 1250,
    generatorUs: 2500,
    connectsPerSecond: 20,
    errors: 3,
  });
});

test('a connection that starts in the middle of its life is closed after its remaining commands', () => {
  const seen: string[] = [];
  const connection = {
    waiting: () => 0,
    pending: () => 0,
    open: async () => true,
    sweep: () => undefined,
    send: () => undefined,
    close: () => seen.push('close'),
  };
  const loop = closedLoop({ connection, most: 5, sentBefore: 3, send: () => seen.push('send') });
  loop.start();
  for (let answered = 0; answered < 7; answered += 1) loop.onIdle('answered');
  assert.equal(seen.join(' '), 'send send close send send send send send close send');
});

test('a new connection for each request gives one connect per answer, and a kept one gives none', async () => {
  const options = { cores: coresOf('0-1'), say: () => undefined, signal: new AbortController().signal };
  await inLab(options, async (lab) => {
    const store = await lab.startStore({ config: ['bind 127.0.0.1 127.0.0.2'] });
    const targets = ['127.0.0.1', '127.0.0.2'].map((host) => ({ host, port: store.port }));
    const wide = { store, targets };
    const anew = await closedLoopRow(lab, wide, { clients: 8, policy: EACH, seconds: 0.4 });
    assert.ok(anew.answered > 20, `${anew.answered}`);
    // The first of each was opened before the measurement; the last may be open and unanswered.
    const { connects, answered } = anew;
    assert.ok(Math.abs(connects - answered) <= 8, `${connects} connects, ${answered} answers`);
    assert.equal(anew.errors, 0);
    const kept = await closedLoopRow(lab, wide, { clients: 8, policy: KEPT, seconds: 0.4 });
    assert.ok(kept.answered > 20 && kept.connects === 0 && kept.errors === 0, JSON.stringify(kept));
  });
});
