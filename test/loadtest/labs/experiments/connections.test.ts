import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConnectionsMeasured, connections } from '../../../../loadtest/labs/experiments/connections.ts';
import {
  awakeCores,
  type DrivenRow,
  drivenRow,
  pauseSeconds,
  rungsOf,
} from '../../../../loadtest/labs/experiments/many-clients.ts';
import { cellOf, type Found, figureOf } from './harness.ts';

test('the highest possible number beyond the last published rung is added only when it is clearly higher', () => {
  assert.deepEqual(rungsOf(19_900), [200, 2000, 10_000, 19_900]);
  assert.deepEqual(rungsOf(11_000), [200, 2000, 10_000]);
  assert.deepEqual(rungsOf(90), [90]);
});

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
const COUNTED = { ...DRIVEN, command: 'redis-benchmark' };
const BENCHMARK = {
  perSecond: 1,
  latencyMs: { mean: 1, p50: 1, p95: 1, p99: 1, max: 1 },
  requests: 1,
  seconds: 1,
  storeCores: 1,
  generatorCores: 1,
  limit: 'both' as const,
  command: 'redis-benchmark',
};
const FEW = { ...DRIVEN, connections: 200, bytesEach: 35_000 };
const MEASURED: ConnectionsMeasured = {
  oneRate: [FEW, { ...FEW, connections: 19_900 }],
  fullSpeed: [
    { ...COUNTED, clients: 200, perSecond: 60_000, limit: 'both' },
    { ...COUNTED, clients: 10_000, perSecond: 55_000, limit: 'both' },
  ],
  pools: [
    { ...DRIVEN, pipeline: 100, connections: 1, perSecond: 40_000, limit: 'generator' },
    { ...DRIVEN, pipeline: 10, connections: 10, perSecond: 76_000, limit: 'generator' },
    { ...DRIVEN, pipeline: 1, connections: 100, perSecond: 80_000, limit: 'generator' },
  ],
  threads: [
    { ...BENCHMARK, threads: 1, perSecond: 500_000 },
    { ...BENCHMARK, threads: 50, perSecond: 250_000 },
  ],
  cores: 1,
  whyNoMore: '',
};

function withMany(many: Partial<ConnectionsMeasured['oneRate'][number]>): Found {
  return connections.findingOf({ ...MEASURED, oneRate: [FEW, { ...FEW, connections: 19_900, ...many }] });
}

test('many connections that cost as little as few do no harm', () => {
  const found = connections.findingOf(MEASURED);
  assert.equal(found.verdict, 'no');
  assert.equal(figureOf(found, /numbers of connections that fell/), 0);
  assert.match(found.published, /fell at 2,000/);
});

test('a store that answers less while it is full, or loses some, was overloaded by the number of connections', () => {
  assert.equal(withMany({ perSecond: 6000, limit: 'store' }).verdict, 'yes');
  const lost = withMany({ errorShare: 0.05 });
  assert.equal(lost.verdict, 'yes');
  assert.equal(figureOf(lost, /numbers of connections that fell/), 1);
  const failed = withMany({ errorShare: 0.05, errors: 1000 });
  assert.equal(cellOf(failed, /at 10,000 commands a second in all$/, /^19,900 connections/, /^errors/), 1000);
});

test('a store that was not full when it answered less is not blamed', () => {
  const generator = withMany({ perSecond: 6000, limit: 'generator' });
  assert.equal(generator.verdict, 'partly');
  assert.equal(figureOf(generator, /the store full or with failures/), 0);
  assert.equal(generator.tables[0]?.rows.at(-1)?.limit, 'generator');
  const neither = withMany({ perSecond: 6000 });
  assert.equal(neither.verdict, 'partly');
  assert.equal(figureOf(neither, /the store full or with failures/), 0);
});

test('a number that overloads nothing, but costs more or adds latency, makes the statement hold in part, with the cost', () => {
  const dearer = withMany({ storeUs: 45 });
  assert.equal(dearer.verdict, 'partly');
  assert.equal(figureOf(dearer, /store time per command/), 2.5);
  assert.equal(withMany({ p99Ms: 80 }).verdict, 'partly');
  const slower = (limit: 'both' | 'generator') => {
    const rates = [60_000, 30_000].map((perSecond, at) => ({ ...COUNTED, clients: 200 + at, perSecond, limit }));
    return connections.findingOf({ ...MEASURED, fullSpeed: rates }).verdict;
  };
  assert.equal(slower('both'), 'partly');
  assert.equal(slower('generator'), 'no');
});

test('the time in which redis-benchmark opens connections is not counted as load time', () => {
  assert.equal(pauseSeconds(50), 0);
  assert.ok(Math.abs(pauseSeconds(10_000) - 7.65) < 1e-9);
});

test('cores are measured over the time in which redis-benchmark did not sleep', () => {
  const run = { clients: 650, seconds: 2.5, storeCores: 0.4, generatorCores: 0.6 };
  assert.deepEqual(awakeCores(run), { storeCores: 0.5, generatorCores: 0.75 });
});

test('processor time per command is cores divided by rate, and every kind of error counts', () => {
  const made = drivenRow({
    seconds: 2,
    answered: 19_990,
    perSecond: 10_000,
    connects: 0,
    unanswered: 7,
    receivedBytes: 1,
    latencyMs: { mean: 1, p50: 1, p95: 2, p99: 3, max: 4 },
    errors: { late: 1, broken: 2, refused: 3, unsent: 4, unconnected: 0 },
    processorSeconds: 1,
    watchedCores: [0.2],
    eachSecond: [],
    storeCores: 0.2,
    generatorCores: 0.5,
    limit: 'neither',
  });
  assert.deepEqual([made.storeUs, made.generatorUs, made.errors, made.errorShare], [20, 50, 10, 10 / 20_000]);
});
