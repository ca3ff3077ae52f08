import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownEngines, nameOf } from '../../../../loadtest/labs/experiments/engines/load.ts';
import { type CounterRow, engines, type LoadRow } from '../../../../loadtest/labs/experiments/engines.ts';
import { inLab } from '../../../../loadtest/labs/kit/lab.ts';
import { claimOf, type Found, LAB } from './harness.ts';

const REDIS = 'Redis 7.0.15';
const VALKEY = 'Valkey 8.0.1';
const LOAD = { perSecond: 1e5, p50Ms: 1, p99Ms: 2, storeCores: 1, generatorCores: 0.5, limit: 'store' } as const;

/** @param costs of each engine: cores for 100,000 commands, the same with TLS, the saving of three stores. */
function findingOf(
  costs: Readonly<Record<string, readonly [number, number, number]>>,
  change: (row: LoadRow) => LoadRow = (row) => row,
): Found {
  const all = Object.entries(costs);
  return engines.findingOf({
    known: all.map(([name]) => ({ name, flavour: name, isConfigurable: true })),
    settings: [],
    reads: [],
    mix: all
      .flatMap(([engine, [plain, tls]]): LoadRow[] => [
        { ...LOAD, engine, isTls: false, ioThreads: 1, storeUs: 10 * plain },
        { ...LOAD, engine, isTls: true, ioThreads: 1, storeUs: 10 * tls },
      ])
      .map(change),
    counters: all.flatMap(([engine, [, , gain]]): CounterRow[] => [
      { ...LOAD, engine, stores: 1, usPerOp: 10, storeUsPerOp: 8 },
      { ...LOAD, engine, stores: 3, usPerOp: 10 * (1 - gain), storeUsPerOp: 8 },
    ]),
    cores: { storeCount: 1 },
  });
}

test('the lesson holds when all published results of all three engines are confirmed', () => {
  const found = findingOf({
    [REDIS]: [1.2, 2.4, 0.28],
    'keydb-server 6.3': [1, 2, 0.26],
    'Dragonfly 1.2': [1.5, 3, -0.19],
  });
  assert.equal(found.verdict, 'yes');
  assert.equal(claimOf(found, /command saved by keydb-server 6\.3 against Redis 7\.0\.15, the mix;/)[0], 1 - 1 / 1.2);
  assert.equal(claimOf(found, /engines of the publication that were given/)[1], true);
});

test('Redis must have its published gain, and no other engine a larger one', () => {
  const others = { 'keydb 6.3': [1, 2, 0.26], 'Dragonfly 1.2': [1.5, 3, -0.19] } as const;
  assert.equal(findingOf({ [REDIS]: [1.2, 2.4, 0.05], ...others, 'keydb 6.3': [1, 2, 0.04] }).verdict, 'partly');
  assert.equal(findingOf({ [REDIS]: [1.2, 2.4, 0.2], ...others }).verdict, 'partly');
  assert.equal(findingOf({ [REDIS]: [1.2, 2.4, 0.28], ...others }).verdict, 'yes');
});

test('the cost of a command is compared only at about one rate, or where both stores were full', () => {
  const asked = (perSecond: number, limit: LoadRow['limit']) =>
    findingOf({ [REDIS]: [1.7, 3, 0.02], [VALKEY]: [1.4, 2.5, 0.02] }, (row) =>
      row.engine === REDIS ? { ...row, perSecond: 1e5 / 3, limit } : { ...row, perSecond },
    );
  const found = asked(1e5, 'neither');
  assert.equal(found.verdict, 'unseen');
  for (const mix of [/ the mix;/, / with TLS;/]) assert.equal(claimOf(found, mix)[0], undefined);
  assert.equal(asked(39_000, 'neither').verdict, 'partly');
  assert.equal(asked(1e5, 'store').verdict, 'partly');
});

test('Redis and Valkey are measured even if another server exited at once, which is reported', async () => {
  const known = await inLab({ ...LAB, servers: ['/bin/true'] }, knownEngines);
  assert.deepEqual(
    known.map(({ problem }) => problem === undefined),
    [true, true, false],
  );
  assert.match(known.at(-1)?.problem ?? '', /ended \(0\)\.$/);
});

test('Valkey is identified by its own version, not by its Redis version; an unknown server by its file name', () => {
  assert.equal(nameOf('valkey', { redis_version: '7.2.4', valkey_version: '8.0.1' }), VALKEY);
  assert.equal(nameOf('redis', { redis_version: '7.0.15' }), REDIS);
  assert.equal(nameOf('/opt/keydb-server', { redis_version: '6.3.4' }), 'keydb-server 6.3.4');
  assert.equal(nameOf('/opt/other', {}), 'other');
});
