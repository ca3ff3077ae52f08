import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addGrown,
  comparisonOf,
  createShadowTally,
  grownBetween,
  type Interval,
  type Reading,
  readReading,
} from '../../../src/operations/shadow/readings.ts';
import {
  parseInfo,
  readServers,
  serverFigures,
  serversBetween,
} from '../../../src/operations/shadow/server-figures.ts';
import { createFakeContent } from '../../fakes/content.ts';

const HIT = { kind: 'value', value: Buffer.from('v') } as const;

function readingOf(durations: readonly number[], shadow = 'one'): Reading {
  const tally = createShadowTally(shadow);
  for (const ms of durations) tally.read('primary', HIT, ms, true);
  return tally.reading();
}

const intervalOf = (grown: Interval['grown'], seconds = 2): Interval => ({
  ...{ atMs: 2000, seconds, processes: 1, servers: {} },
  grown,
});

test('percentiles are within a bucket of a fifth of the true ones', () => {
  const durations = Array.from({ length: 1000 }, (_, at) => 0.1 + at * 0.01);
  const { primary } = comparisonOf([intervalOf(grownBetween(undefined, readingOf(durations)))]);
  for (const [figure, exact] of [
    [primary.p50Ms, 5.1],
    [primary.p95Ms, 9.6],
    [primary.p99Ms, 10],
  ] as const) {
    assert.ok(figure !== undefined && Math.abs(figure / exact - 1) < 0.2, `${figure} for ${exact}`);
  }
});

test('percentiles of joined intervals are those of all their reads, not the mean of percentiles', () => {
  const fast = intervalOf(grownBetween(undefined, readingOf(Array.from({ length: 990 }, () => 0.3))));
  const slow = intervalOf(grownBetween(undefined, readingOf(Array.from({ length: 10 }, () => 40))));
  const { primary } = comparisonOf([fast, slow]);
  assert.ok((primary.p95Ms ?? 0) < 0.4 && (primary.p50Ms ?? 0) < 0.4);
  assert.equal(primary.reads, 1000);
  assert.equal(primary.readsPerSecond, 250);
});

test('a process that was restarted counts from zero, and never below it', () => {
  const [before, after] = [readingOf([1, 1, 1]), readingOf([1])];
  assert.equal(grownBetween(before, after).primary.reads, 0);
  assert.equal(grownBetween(undefined, after).primary.reads, 1);
  assert.equal(addGrown([grownBetween(undefined, before), grownBetween(undefined, after)]).primary.reads, 4);
});

test('a reading survives the way through the control store, and a damaged or foreign one is refused', () => {
  const reading = readingOf([0.2, 3, 10_000]);
  const sent = JSON.parse(JSON.stringify(reading));
  assert.deepEqual(readReading(sent, 'one'), reading);
  assert.equal(readReading(sent, 'two'), undefined);
  const damages: readonly Record<string, unknown>[] = [
    { primary: null },
    { candidate: { ...reading.candidate, durations: [1] } },
    { candidate: { ...reading.candidate, reads: 1e300 } },
    { agreement: { ...reading.agreement, wrong: -1 } },
    { copying: {} },
    { wrongKeys: Array.from({ length: 21 }, () => 'k') },
    { wrongKeys: [1] },
    { lifeDriftSumMs: 'NaN' },
  ];
  for (const damage of damages)
    assert.equal(readReading({ ...sent, ...damage }, 'one'), undefined, JSON.stringify(damage));
});

test('server rates are of the interval, and a server that was restarted lowers none', async () => {
  const content = createFakeContent({ domain: 'goods', nodes: ['a:1', 'b:1'] });
  const infos = new Map([
    ['a:1', infoOf({ used_memory: 100, connected_clients: 3, evicted_keys: 10, used_cpu_user: 1.5 })],
    ['b:1', infoOf({ used_memory: 50, connected_clients: 4, evicted_keys: 100, used_cpu_sys: 2 })],
  ]);
  const source = { nodes: content.nodes, info: async (node: string) => infos.get(node) ?? '' };
  const before = await readServers(source);
  infos.set('a:1', infoOf({ used_memory: 120, connected_clients: 3, evicted_keys: 30, used_cpu_user: 2.5 }));
  infos.set('b:1', infoOf({ used_memory: 20, connected_clients: 1, evicted_keys: 0 }));
  const after = await readServers(source);
  const figures = serverFigures([serversBetween(undefined, before, 2), serversBetween(before, after, 2)]);
  assert.deepEqual(figures, {
    ...{ nodes: 2, missing: 0, connections: 4, memoryBytes: 140, maxMemoryBytes: 0 },
    ...{ evictedPerSecond: 10, expiredPerSecond: 0, bytesInPerSecond: 0, bytesOutPerSecond: 0, cpu: 0.5 },
  });
});

test('a node that does not answer INFO is missing from the sums', async () => {
  const content = createFakeContent({ domain: 'goods', nodes: ['a:1', 'b:1'] });
  content.refuse('b:1', 'b:1 did not answer.');
  const { nodes, missing } = await readServers(content);
  assert.deepEqual([nodes, missing], [1, 1]);
});

test('fields of INFO are numbers, and an unknown field is 0', () => {
  const field = parseInfo('# Memory\r\nused_memory:12\r\nredis_version:7.0.15\r\n');
  assert.deepEqual([field('used_memory'), field('redis_version'), field('absent')], [12, 0, 0]);
});

function infoOf(fields: Readonly<Record<string, number>>): string {
  return `# All\r\n${Object.entries(fields)
    .map(([name, value]) => `${name}:${value}`)
    .join('\r\n')}\r\n`;
}
