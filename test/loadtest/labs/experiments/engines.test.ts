import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownEngines, nameOf } from '../../../../loadtest/labs/experiments/engines/engine.ts';
import {
  type CounterRow,
  enginesLesson,
  type MixRow,
  threeStoresGain,
} from '../../../../loadtest/labs/experiments/engines/lesson.ts';
import { per100k } from '../../../../loadtest/labs/experiments/engines/load.ts';
import { counterTable, mixTable } from '../../../../loadtest/labs/experiments/engines/tables.ts';
import { coresOf, inLab } from '../../../../loadtest/labs/kit/lab.ts';
import { alternately, medianRun } from '../../../../loadtest/labs/kit/rounds.ts';

const REDIS = 'Redis 7.0.15';
const VALKEY = 'Valkey 8.0.1';

test('the lesson holds when all published results of all three engines are confirmed', () => {
  const { holds, sentence } = enginesLesson(
    rowsOf({ [REDIS]: [1.2, 2.4, 0.28], 'keydb-server 6.3': [1, 2, 0.26], 'Dragonfly 1.2': [1.5, 3, -0.19] }),
  );
  assert.equal(holds, 'yes');
  assert.match(sentence, /keydb-server 6\.3 is ahead of Redis 7\.0\.15 under the published mix \(1 against 1\.2/);
  assert.match(sentence, /Dragonfly 1\.2 \+19\s%/);
  assert.doesNotMatch(sentence, /not given/);
});

test('without KeyDB and Dragonfly it holds in part at most, and the sentence names the missing checks', () => {
  const { holds, sentence } = enginesLesson(rowsOf({ [REDIS]: [1.2, 2.4, 0.28], [VALKEY]: [1, 2, 0.2] }));
  assert.equal(holds, 'partly');
  assert.match(sentence, /KeyDB and Dragonfly were not given/);
});

test('Redis must have its published gain, and no other engine a larger one', () => {
  const others = { 'keydb 6.3': [1, 2, 0.26], 'Dragonfly 1.2': [1.5, 3, -0.19] } as const;
  assert.equal(
    enginesLesson(rowsOf({ [REDIS]: [1.2, 2.4, 0.05], ...others, 'keydb 6.3': [1, 2, 0.04] })).holds,
    'partly',
  );
  assert.equal(enginesLesson(rowsOf({ [REDIS]: [1.2, 2.4, 0.2], ...others })).holds, 'partly');
  assert.equal(enginesLesson(rowsOf({ [REDIS]: [1.2, 2.4, 0.28], ...others })).holds, 'yes');
});

test('an engine that uses more processor time is not ahead', () => {
  const { holds, sentence } = enginesLesson(rowsOf({ [REDIS]: [1, 2, 0.02], [VALKEY]: [1.2, 2.5, 0.3] }));
  assert.equal(holds, 'no');
  assert.match(sentence, /Redis 7\.0\.15 is ahead of Valkey 8\.0\.1 with TLS \(2 against 2\.5/);
});

test('the cost of a command is not compared between 53,000 and 17,000 commands a second', () => {
  const rows = rowsOf({ [REDIS]: [1.7, 3, 0.02], [VALKEY]: [1.4, 2.5, 0.02] });
  const asked = (perSecond: number, limit: MixRow['limit']) =>
    enginesLesson({
      ...rows,
      mix: rows.mix.map((row) =>
        row.engine === REDIS ? { ...row, perSecond: 1e5 / 3, limit } : { ...row, perSecond },
      ),
    });
  const { holds, sentence } = asked(1e5, 'neither');
  assert.equal(holds, 'unseen');
  assert.match(
    sentence,
    /^It could not be seen here: under the published mix Valkey.* cannot be compared: .*100,000\/s and 33,333/,
  );
  assert.doesNotMatch(sentence, /is ahead/);
  assert.equal(asked(39_000, 'neither').holds, 'partly');
  // Both were full, so the rate shows the cost.
  assert.equal(asked(1e5, 'store').holds, 'partly');
});

test('a server that does not serve has a row without figures, and the others keep theirs', () => {
  const { mix } = rowsOf({ [REDIS]: [1, 2, 0.3] });
  const { rows, columns } = mixTable([engine(REDIS), { ...engine('true'), problem: 'it ended at once' }], mix);
  assert.deepEqual(
    rows.map(({ name }) => name),
    [REDIS, `${REDIS}, TLS`, 'true'],
  );
  assert.deepEqual(
    rows.at(-1)?.values,
    columns.map(() => undefined),
  );
});

test('Redis and Valkey are measured even if another server exited at once, which is reported', async () => {
  const options = { cores: coresOf('0-1'), say: () => undefined, signal: new AbortController().signal };
  const engines = await inLab({ ...options, servers: ['/bin/true'] }, knownEngines);
  assert.deepEqual(
    engines.map(({ problem }) => problem === undefined),
    [true, true, false],
  );
  assert.match(engines.at(-1)?.problem ?? '', /ended \(0\)\.$/);
});

test('a difference of less than a twentieth is level', () => {
  assert.match(
    enginesLesson(rowsOf({ [REDIS]: [1, 2, 0.3], [VALKEY]: [0.97, 2.04, 0.3] })).sentence,
    /are level under the published mix .*are level with TLS/,
  );
});

test('three stores that take longer than one have a negative gain', () => {
  const { counters } = rowsOf({ 'Dragonfly 1.2': [1, 2, -0.19] });
  assert.equal(threeStoresGain(counters, 'Dragonfly 1.2')?.toFixed(2), '-0.19');
});

test('Valkey is identified by its own version, not by its Redis version; an unknown server by its file name', () => {
  assert.equal(nameOf('valkey', { redis_version: '7.2.4', valkey_version: '8.0.1' }), VALKEY);
  assert.equal(nameOf('redis', { redis_version: '7.0.15' }), REDIS);
  assert.equal(nameOf('/opt/keydb-server', { redis_version: '6.3.4' }), 'keydb-server 6.3.4');
  assert.equal(nameOf('/opt/other', {}), 'other');
});

test('half a core for 50,000 commands a second is one core for 100,000', () => {
  assert.equal(per100k(0.5, 50_000), 1);
});

test('a published value is shown beside the engine it was published for', () => {
  const { counters, mix } = rowsOf({ [REDIS]: [1, 2, 0.3], [VALKEY]: [1, 2, 0.3] });
  const engines = [engine(REDIS), engine(VALKEY)];
  const published = counterTable(engines, counters).rows.map((row) => row.published);
  assert.deepEqual(published, ['9.3 µs', '6.68 µs', undefined, undefined]);
  // A variant that a server does not support gets no row: one without figures would look like a failure.
  assert.equal(mixTable([engine('other')], mix).rows.length, 0);
});

test('variants alternate, forwards and backwards, and each keeps its median run', async () => {
  const order: string[] = [];
  const figures: Record<string, number[]> = { a: [9, 1, 5], b: [2, 3, 1] };
  const all = await alternately(
    ['a', 'b'],
    3,
    async (variant, before: readonly number[]) => {
      order.push(variant);
      return figures[variant]?.[before.length] ?? 0;
    },
    (run) => run,
  );
  assert.equal(order.join(''), 'abbaab');
  assert.deepEqual(
    all.map(({ run }) => run),
    [5, 2],
  );
  assert.equal(
    medianRun([4, 2], (run) => run),
    2,
  );
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
    command: '',
  } as const;
  const all = Object.entries(engines);
  return {
    reads: [],
    mix: all.flatMap(([name, [plain, tls]]): MixRow[] => [
      { ...load, engine: name, isTls: false, coresPer100k: plain },
      { ...load, engine: name, isTls: true, coresPer100k: tls },
    ]),
    counters: all.flatMap(([name, [, , gain]]): CounterRow[] => [
      { ...load, engine: name, stores: 1, usPerOp: 10, storeUsPerOp: 8 },
      { ...load, engine: name, stores: 3, usPerOp: 10 * (1 - gain), storeUsPerOp: 8 },
    ]),
  };
}

function engine(name: string) {
  return { name, flavour: name, isConfigurable: true };
}
