import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ConnectionsFigures,
  connectionsLesson,
} from '../../../../loadtest/labs/experiments/connections/lesson.ts';
import { POOLS, pipelineOf } from '../../../../loadtest/labs/experiments/connections/pool.ts';
import {
  fullSpeedTable,
  poolTable,
  rateTable,
  threadsTable,
} from '../../../../loadtest/labs/experiments/connections/tables.ts';
import { awakeCores, pauseSeconds } from '../../../../loadtest/labs/experiments/many-clients/counted-benchmark.ts';
import { type DrivenRow, drivenRow } from '../../../../loadtest/labs/experiments/many-clients/driven-row.ts';
import { roomOf, rungsOf } from '../../../../loadtest/labs/experiments/many-clients/room.ts';
import type { FindingTable } from '../../../../loadtest/labs/kit/finding.ts';

const ROOM = { fileLimit: 1e6, maxClients: 1e6, ports: 28_232, addresses: 8, freeBytes: 2 ** 36 };

test('the ladder ends at the last published rung, if no limit ends it earlier', () => {
  const { most, why } = roomOf(ROOM);
  assert.deepEqual(rungsOf(most), [200, 2000, 10_000, 30_000, 65_000]);
  assert.match(why, /where the published one does/);
});

test('each limit alone ends the ladder and is named', () => {
  const ends: readonly [Partial<typeof ROOM>, number, RegExp][] = [
    [{ fileLimit: 20_000 }, 19_900, /may open 20,000 files/],
    [{ maxClients: 4064 }, 4000, /maxclients down to 4,064/],
    [{ addresses: 1 }, 14_100, /28,232 local ports/],
    [{ freeBytes: 2 ** 30 }, 10_400, /1\sGiB of memory/],
  ];
  for (const [limited, expected, reason] of ends) {
    const { most, why } = roomOf({ ...ROOM, ...limited });
    assert.equal(most, expected);
    assert.match(why, reason);
    assert.doesNotMatch(why, / and the store| and there| and a process/);
  }
});

test('two limits at the same rung are both named', () => {
  assert.match(roomOf({ ...ROOM, fileLimit: 20_000, maxClients: 20_000 }).why, /20,000 files .*, and the store took/);
});

test('the highest possible number beyond the last published rung is added only when it is clearly higher', () => {
  assert.deepEqual(rungsOf(19_900), [200, 2000, 10_000, 19_900]);
  assert.deepEqual(rungsOf(11_000), [200, 2000, 10_000]);
  assert.deepEqual(rungsOf(90), [90]);
});

const row = { connections: 200, perSecond: 9990, errorShare: 0, p99Ms: 4, storeUs: 18, bytesEach: 35_000 };
const FIGURES: ConnectionsFigures = {
  askedPerSecond: 10_000,
  atOneRate: [
    { ...row, limit: 'neither' },
    { ...row, connections: 19_900, limit: 'neither' },
  ],
  fullSpeed: [
    { clients: 200, perSecond: 60_000, limit: 'both' },
    { clients: 10_000, perSecond: 55_000, limit: 'both' },
  ],
  pools: [
    { connections: 1, perSecond: 40_000, limit: 'generator' },
    { connections: 10, perSecond: 76_000, limit: 'generator' },
    { connections: 100, perSecond: 80_000, limit: 'generator' },
  ],
  threads: [
    { threads: 1, perSecond: 500_000, limit: 'both' },
    { threads: 50, perSecond: 250_000, limit: 'both' },
  ],
  cores: 1,
};

function withMany(many: Partial<ConnectionsFigures['atOneRate'][number]>) {
  const [few, last] = FIGURES.atOneRate;
  assert.ok(few && last);
  return connectionsLesson({ ...FIGURES, atOneRate: [few, { ...last, ...many }] });
}

test('many connections that cost as little as few do no harm', () => {
  const { holds, sentence } = connectionsLesson(FIGURES);
  assert.equal(holds, 'no');
  assert.match(sentence, /nothing fell, though a published shard did at 2,000/);
});

test('a store that answers less while it is full, or loses some, was overloaded by the number of connections', () => {
  assert.equal(withMany({ perSecond: 6000, limit: 'store' }).holds, 'yes');
  const lost = withMany({ errorShare: 0.05 });
  assert.equal(lost.holds, 'yes');
  assert.match(lost.sentence, /with 19,900 connections .* 5\s% failed/);
});

test('a store that was not full when it answered less is not blamed', () => {
  const generator = withMany({ perSecond: 6000, limit: 'generator' });
  assert.equal(generator.holds, 'partly');
  assert.match(generator.sentence, /the generator was full there/);
  assert.match(withMany({ perSecond: 6000 }).sentence, /neither the store nor the generator was full/);
});

test('a number that overloads nothing, but costs more or adds latency, makes the lesson hold in part, with the cost', () => {
  const dearer = withMany({ storeUs: 45 });
  assert.equal(dearer.holds, 'partly');
  assert.match(dearer.sentence, /2\.5\s× the processor time \(45 µs instead of 18\)/);
  assert.equal(withMany({ p99Ms: 80 }).holds, 'partly');
  const slower = [
    { clients: 200, perSecond: 60_000, limit: 'both' as const },
    { clients: 10_000, perSecond: 30_000, limit: 'both' as const },
  ];
  assert.equal(connectionsLesson({ ...FIGURES, fullSpeed: slower }).holds, 'partly');
  const generator = slower.map((one) => ({ ...one, limit: 'generator' as const }));
  assert.equal(connectionsLesson({ ...FIGURES, fullSpeed: generator }).holds, 'no');
});

test('latency measured with a full generator is attributed to the generator', () => {
  const { holds, sentence } = withMany({ p99Ms: 80, limit: 'generator' });
  assert.equal(holds, 'no');
  assert.match(sentence, /80\sms, with the generator full/);
  assert.match(withMany({ p99Ms: 80, limit: 'both' }).sentence, /with both full/);
});

test('the smallest pool with nearly the best rate is named, and the best number of threads', () => {
  const { sentence } = connectionsLesson(FIGURES);
  assert.match(sentence, /a pool of 10 reached 95\s% of the best rate of any, one of 100 100\s%/);
  assert.match(sentence, /best at 1 on one core; 50 had 0\.5\s× that rate, and on so few cores/);
  const { sentence: wide } = connectionsLesson({ ...FIGURES, cores: 16 });
  assert.doesNotMatch(wide, /so few cores/);
});

test('the time in which redis-benchmark opens connections is not counted as load time', () => {
  assert.equal(pauseSeconds(50), 0);
  assert.ok(Math.abs(pauseSeconds(10_000) - 7.65) < 1e-9);
});

test('cores are measured over the time in which redis-benchmark did not sleep', () => {
  const run = { clients: 650, seconds: 2.5, storeCores: 0.4, processorSeconds: 1.5 };
  assert.deepEqual(awakeCores(run), { storeCores: 0.5, generatorCores: 0.75 });
});

test('the connections of a pool have about a hundred commands in flight altogether', () => {
  assert.deepEqual(POOLS.map(pipelineOf), [100, 33, 10, 3, 1]);
});

test('processor time per command is cores divided by rate, and every kind of error counts', () => {
  const made = drivenRow({
    ...{ seconds: 2, answered: 19_990, perSecond: 10_000, connects: 0, unanswered: 7, receivedBytes: 1, sentBytes: 1 },
    latencyMs: { mean: 1, p50: 1, p95: 2, p99: 3, max: 4 },
    errors: { late: 1, broken: 2, refused: 3, unsent: 4, unconnected: 0 },
    ...{ processorSeconds: 1, watchedCores: [0.2], eachSecond: [], storeCores: 0.2, generatorCores: 0.5 },
    limit: 'neither',
  });
  assert.deepEqual([made.storeUs, made.generatorUs, made.errors, made.errorShare], [20, 50, 10, 10 / 20_000]);
});

test('every row has a value for each column, a limit and a command', () => {
  const driven: DrivenRow = {
    ...{ perSecond: 10_000, meanMs: 1, p50Ms: 1, p99Ms: 2, errors: 0, errorShare: 0, connects: 0, seconds: 2 },
    ...{ answered: 20_000, storeCores: 0.2, generatorCores: 0.4, storeUs: 20, generatorUs: 40, limit: 'neither' },
  };
  const counted = { clients: 200, perSecond: 1, p50Ms: 1, p99Ms: 1, storeCores: 1, generatorCores: 1, storeUs: 1 };
  const benchmark = {
    ...{ perSecond: 1, latencyMs: { mean: 1, p50: 1, p95: 1, p99: 1, max: 1 }, requests: 1, seconds: 1 },
    ...{ storeCores: 1, generatorCores: 1, limit: 'both' as const, command: 'redis-benchmark' },
  };
  checkTable(rateTable([{ ...driven, connections: 2000, bytesEach: 1 }]), /the shard fell/);
  checkTable(fullSpeedTable([{ ...counted, limit: 'store', command: 'redis-benchmark' }]));
  checkTable(poolTable([{ ...driven, connections: 100, pipeline: 1 }], 'full'), /pool of 100/);
  checkTable(threadsTable([{ ...benchmark, threads: 50 }]), /1 s/);
});

test('a plain store gets a higher connection limit, which is restored afterwards', () => {
  const commandOf = (clients: number) =>
    fullSpeedTable([
      {
        clients,
        perSecond: 1,
        p50Ms: 1,
        p99Ms: 1,
        storeCores: 1,
        generatorCores: 1,
        storeUs: 1,
        limit: 'store',
        command: 'ask',
      },
    ]).rows[0]?.command;
  assert.equal(commandOf(2000), 'ask');
  const set = 'redis-cli -p 6379 CONFIG SET maxclients';
  assert.equal(commandOf(19_900), `${set} 19932 && ask; ${set} 10000`);
});

function checkTable({ columns, rows }: FindingTable, published?: RegExp): void {
  for (const one of rows) {
    assert.equal(one.values.length, columns.length);
    assert.ok(one.limit && one.command);
    if (published !== undefined) assert.match(one.published ?? '', published);
  }
}
