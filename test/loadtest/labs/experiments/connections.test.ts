import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConnectionsMeasured, connections } from '../../../../loadtest/labs/experiments/connections.ts';
import type { DrivenRow } from '../../../../loadtest/labs/experiments/many-clients.ts';
import { figureOf } from './harness.ts';

const DRIVEN: DrivenRow = {
  perSecond: 9990,
  meanMs: 1,
  p50Ms: 1,
  p99Ms: 4,
  errors: 0,
  errorShare: 0,
  connects: 0,
  seconds: 2,
  answered: 20_000,
  storeCores: 0.2,
  generatorCores: 0.4,
  storeUs: 18,
  generatorUs: 40,
  limit: 'neither',
};
const FEW = { ...DRIVEN, connections: 200, bytesEach: 35_000 };

const fullSpeed = (perSecond: number, limit: 'both' | 'generator') => [
  { ...DRIVEN, clients: 200, perSecond: 60_000, limit },
  { ...DRIVEN, clients: 10_000, perSecond, limit },
];

/** @param many changes of the row with the most connections at one rate. */
const findingOf = (many: Partial<ConnectionsMeasured['oneRate'][number]>, fast = fullSpeed(55_000, 'both')) =>
  connections.findingOf({
    oneRate: [FEW, { ...FEW, connections: 19_900, ...many }],
    fullSpeed: fast,
    pools: [],
    threads: [],
    cores: 1,
    whyNoMore: '',
  });

const FELL = /numbers of connections that fell/;
const BY_STORE = /the store full or with failures/;

for (const [name, many, verdict, claim, figure] of [
  ['many connections that cost as little as few do no harm', {}, 'no', FELL, 0],
  ['a full store that answers less has fallen', { perSecond: 6000, limit: 'store' }, 'yes', FELL, 1],
  ['a store that loses some has fallen', { errorShare: 0.05 }, 'yes', FELL, 1],
  ['a full generator is not the fault of the store', { perSecond: 6000, limit: 'generator' }, 'partly', BY_STORE, 0],
  ['a store that waited for a core is not blamed', { perSecond: 6000 }, 'partly', BY_STORE, 0],
  ['connections that cost more hold in part', { storeUs: 45 }, 'partly', /store time per command/, 2.5],
  ['connections that add latency hold in part', { p99Ms: 80 }, 'partly', /^p99, most connections/, 20],
] as const)
  test(name, () => {
    const found = findingOf(many);
    assert.equal(found.verdict, verdict);
    assert.equal(figureOf(found, claim), figure);
  });

test('a lower rate at full speed holds in part, unless only the generator was full', () => {
  assert.equal(findingOf({}, fullSpeed(30_000, 'both')).verdict, 'partly');
  assert.equal(findingOf({}, fullSpeed(30_000, 'generator')).verdict, 'no');
});
