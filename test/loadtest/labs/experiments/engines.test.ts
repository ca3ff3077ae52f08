import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Engine, knownEngines, nameOf, per100k } from '../../../../loadtest/labs/experiments/engines/load.ts';
import {
  type CounterRow,
  type EnginesMeasured,
  engines,
  type MixRow,
  threeStoresGain,
} from '../../../../loadtest/labs/experiments/engines.ts';
import { holds } from '../../../../loadtest/labs/kit/claims.ts';
import type { Finding, FindingTable } from '../../../../loadtest/labs/kit/finding.ts';
import { coresOf, inLab } from '../../../../loadtest/labs/kit/lab.ts';
import { alternately, medianRun } from '../../../../loadtest/labs/kit/rounds.ts';

const REDIS = 'Redis 7.0.15';
const VALKEY = 'Valkey 8.0.1';

const AHEAD = /processor time of a command saved .* the mix;/;
const AHEAD_TLS = /processor time of a command saved .* with TLS;/;
const GIVEN = /engines of the publication that were given/;

test('the lesson holds when all published results of all three engines are confirmed', () => {
  const found = findingOf(
    rowsOf({ [REDIS]: [1.2, 2.4, 0.28], 'keydb-server 6.3': [1, 2, 0.26], 'Dragonfly 1.2': [1.5, 3, -0.19] }),
  );
  assert.equal(found.verdict, 'yes');
  const { text, figure } = claimOf(found, AHEAD);
  assert.match(text, /saved by keydb-server 6\.3 against Redis 7\.0\.15, the mix/);
  assert.equal(figure, 1 - 1 / 1.2);
  const [, , , , , dragonfly] = tableAt(found, 2).rows.map(({ values }) => values[1]);
  assert.equal(Number(dragonfly).toFixed(2), '0.19');
  assert.equal(holds(claimOf(found, GIVEN)), true);
});

test('without KeyDB and Dragonfly it holds in part at most, and the sentence names the missing checks', () => {
  const found = findingOf(rowsOf({ [REDIS]: [1.2, 2.4, 0.28], [VALKEY]: [1, 2, 0.2] }));
  assert.equal(found.verdict, 'partly');
  const given = claimOf(found, /given beside Redis: KeyDB, Dragonfly/);
  assert.deepEqual([given.figure, holds(given)], [0, false]);
});

test('Redis must have its published gain, and no other engine a larger one', () => {
  const others = { 'keydb 6.3': [1, 2, 0.26], 'Dragonfly 1.2': [1.5, 3, -0.19] } as const;
  const verdict = (rows: Parameters<typeof rowsOf>[0]) => findingOf(rowsOf(rows)).verdict;
  assert.equal(verdict({ [REDIS]: [1.2, 2.4, 0.05], ...others, 'keydb 6.3': [1, 2, 0.04] }), 'partly');
  assert.equal(verdict({ [REDIS]: [1.2, 2.4, 0.2], ...others }), 'partly');
  assert.equal(verdict({ [REDIS]: [1.2, 2.4, 0.28], ...others }), 'yes');
});

test('an engine that uses more processor time is not ahead', () => {
  const found = findingOf(rowsOf({ [REDIS]: [1, 2, 0.02], [VALKEY]: [1.2, 2.5, 0.3] }));
  assert.equal(found.verdict, 'no');
  const { text, figure } = claimOf(found, AHEAD_TLS);
  assert.match(text, /saved by Valkey 8\.0\.1 against Redis 7\.0\.15/);
  assert.equal(figure, 1 - 2.5 / 2);
});

test('the cost of a command is not compared between 53,000 and 17,000 commands a second', () => {
  const rows = rowsOf({ [REDIS]: [1.7, 3, 0.02], [VALKEY]: [1.4, 2.5, 0.02] });
  const asked = (perSecond: number, limit: MixRow['limit']) =>
    findingOf({
      ...rows,
      mix: rows.mix.map((row) =>
        row.engine === REDIS ? { ...row, perSecond: 1e5 / 3, limit } : { ...row, perSecond },
      ),
    });
  const found = asked(1e5, 'neither');
  assert.equal(found.verdict, 'unseen');
  for (const claim of [AHEAD, AHEAD_TLS]) assert.equal(claimOf(found, claim).figure, undefined);
  assert.deepEqual(
    tableAt(found, 0).rows.map(({ values }) => Math.round(Number(values[1]))),
    [33_333, 33_333, 100_000, 100_000],
  );
  assert.match(found.notes.join(' '), /compared only between rates that differ by less than a factor of 1\.2/);
  assert.equal(asked(39_000, 'neither').verdict, 'partly');
  // Both were full, so the rate shows the cost.
  assert.equal(asked(1e5, 'store').verdict, 'partly');
});

test('a server that does not serve has a row without figures, and the others keep theirs', () => {
  const known = [engine(REDIS), { ...engine('true'), problem: 'it ended at once' }];
  const { rows, columns } = tableAt(findingOf(rowsOf({ [REDIS]: [1, 2, 0.3] }), known), 0);
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
  const known = await inLab({ ...options, servers: ['/bin/true'] }, knownEngines);
  assert.deepEqual(
    known.map(({ problem }) => problem === undefined),
    [true, true, false],
  );
  assert.match(known.at(-1)?.problem ?? '', /ended \(0\)\.$/);
});

test('a difference of less than a twentieth is level', () => {
  const found = findingOf(rowsOf({ [REDIS]: [1, 2, 0.3], [VALKEY]: [0.97, 2.04, 0.3] }));
  for (const text of [AHEAD, AHEAD_TLS]) {
    const claim = claimOf(found, text);
    assert.ok(Math.abs(claim.figure ?? 1) < 0.05);
    assert.equal(holds(claim), false);
  }
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
  const rows = rowsOf({ [REDIS]: [1, 2, 0.3], [VALKEY]: [1, 2, 0.3] });
  const published = tableAt(findingOf(rows, [engine(REDIS), engine(VALKEY)]), 2).rows.map((row) => row.published);
  assert.deepEqual(published, ['9.3 µs', '6.68 µs', undefined, undefined]);
  // A variant that a server does not support gets no row: one without figures would look like a failure.
  assert.equal(tableAt(findingOf(rows, [engine('other')]), 0).rows.length, 0);
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
  assert.deepEqual(all, [5, 2]);
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

function engine(name: string): Engine {
  return { name, flavour: name, isConfigurable: true };
}

type Found = Omit<Finding, 'name'>;

function findingOf(
  rows: Pick<EnginesMeasured, 'mix' | 'reads' | 'counters'>,
  known = [...new Set(rows.mix.map((row) => row.engine))].map(engine),
): Found {
  return engines.findingOf({ ...rows, known, settings: [], cores: { storeCount: 1 } });
}

function claimOf({ claims }: Found, text: RegExp) {
  const claim = claims.find((one) => text.test(one.text));
  assert.ok(claim, String(text));
  return claim;
}

function tableAt({ tables }: Found, at: number): FindingTable {
  const table = tables[at];
  assert.ok(table);
  return table;
}
