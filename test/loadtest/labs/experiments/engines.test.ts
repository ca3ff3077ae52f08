import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Engine, knownEngines, nameOf } from '../../../../loadtest/labs/experiments/engines/load.ts';
import { type CounterRow, engines, type LoadRow } from '../../../../loadtest/labs/experiments/engines.ts';
import { coresOf, inLab } from '../../../../loadtest/labs/kit/lab.ts';
import { claimOf, columnOf, type Found, tableOf } from './harness.ts';

const REDIS = 'Redis 7.0.15';
const VALKEY = 'Valkey 8.0.1';

const AHEAD = /processor time of a command saved .* the mix;/;
const AHEAD_TLS = /processor time of a command saved .* with TLS;/;
const [MIX, COUNTERS] = [/^The published mix/, /^INCR by three clients/];
const GIVEN = /engines of the publication that were given/;

test('the lesson holds when all published results of all three engines are confirmed', () => {
  const found = findingOf(
    rowsOf({ [REDIS]: [1.2, 2.4, 0.28], 'keydb-server 6.3': [1, 2, 0.26], 'Dragonfly 1.2': [1.5, 3, -0.19] }),
  );
  assert.equal(found.verdict, 'yes');
  const [saved] = claimOf(
    found,
    /processor time of a command saved by keydb-server 6\.3 against Redis 7\.0\.15, the mix;/,
  );
  assert.equal(saved, 1 - 1 / 1.2);
  const dragonfly = columnOf(tableOf(found, COUNTERS), /^against one store$/)[5];
  assert.equal(Number(dragonfly).toFixed(2), '0.19');
  assert.equal(claimOf(found, GIVEN)[1], true);
});

test('Redis must have its published gain, and no other engine a larger one', () => {
  const others = { 'keydb 6.3': [1, 2, 0.26], 'Dragonfly 1.2': [1.5, 3, -0.19] } as const;
  const verdict = (rows: Parameters<typeof rowsOf>[0]) => findingOf(rowsOf(rows)).verdict;
  assert.equal(verdict({ [REDIS]: [1.2, 2.4, 0.05], ...others, 'keydb 6.3': [1, 2, 0.04] }), 'partly');
  assert.equal(verdict({ [REDIS]: [1.2, 2.4, 0.2], ...others }), 'partly');
  assert.equal(verdict({ [REDIS]: [1.2, 2.4, 0.28], ...others }), 'yes');
});

test('the cost of a command is not compared between 53,000 and 17,000 commands a second', () => {
  const rows = rowsOf({ [REDIS]: [1.7, 3, 0.02], [VALKEY]: [1.4, 2.5, 0.02] });
  const asked = (perSecond: number, limit: LoadRow['limit']) =>
    findingOf({
      ...rows,
      mix: rows.mix.map((row) =>
        row.engine === REDIS ? { ...row, perSecond: 1e5 / 3, limit } : { ...row, perSecond },
      ),
    });
  const found = asked(1e5, 'neither');
  assert.equal(found.verdict, 'unseen');
  for (const claim of [AHEAD, AHEAD_TLS]) assert.equal(claimOf(found, claim)[0], undefined);
  assert.deepEqual(
    columnOf(tableOf(found, MIX), /^commands$/).map((rate) => Math.round(Number(rate))),
    [33_333, 33_333, 100_000, 100_000],
  );
  assert.match(found.notes.join(' '), /compared only between rates that differ by less than a factor of 1\.2/);
  assert.equal(asked(39_000, 'neither').verdict, 'partly');
  // Both were full, so the rate shows the cost.
  assert.equal(asked(1e5, 'store').verdict, 'partly');
});

test('Redis and Valkey are measured even if another server exited at once, which is reported', async () => {
  const options = { cores: coresOf('0-1'), say: () => undefined, signal: new AbortController().signal };
  const known = await inLab({ ...options, servers: ['/bin/true'] }, knownEngines);
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

/** For each engine: cores for 100,000 commands, the same with TLS, the saving of three stores. */
function rowsOf(engines: Readonly<Record<string, readonly [number, number, number]>>) {
  const load = {
    perSecond: 1e5,
    p50Ms: 1,
    p99Ms: 2,
    storeCores: 1,
    generatorCores: 0.5,
    limit: 'store',
  } as const;
  const all = Object.entries(engines);
  return {
    reads: [],
    mix: all.flatMap(([name, [plain, tls]]): LoadRow[] => [
      { ...load, engine: name, isTls: false, ioThreads: 1, coresPer100k: plain },
      { ...load, engine: name, isTls: true, ioThreads: 1, coresPer100k: tls },
    ]),
    counters: all.flatMap(([name, [, , gain]]): CounterRow[] => [
      { ...load, engine: name, stores: 1, usPerOp: 10, storeUsPerOp: 8 },
      { ...load, engine: name, stores: 3, usPerOp: 10 * (1 - gain), storeUsPerOp: 8 },
    ]),
  };
}

function engine(name: string): Engine {
  return { name, flavour: name, isConfigurable: true };
}

function findingOf(
  rows: Pick<Parameters<typeof engines.findingOf>[0], 'mix' | 'reads' | 'counters'>,
  known = [...new Set(rows.mix.map((row) => row.engine))].map(engine),
): Found {
  return engines.findingOf({ ...rows, known, settings: [], cores: { storeCount: 1 } });
}
