import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aloneRead } from '../../../../loadtest/labs/experiments/value-size/hash-reads.ts';
import { type ValueSizeRows, valueSizeLesson } from '../../../../loadtest/labs/experiments/value-size/lesson.ts';
import { clientsOf, depthOf, SIZES } from '../../../../loadtest/labs/experiments/value-size/sizes.ts';
import { linkTable } from '../../../../loadtest/labs/experiments/value-size/tables.ts';
import {
  readValues,
  storeValues,
  type Transfer,
  valueBytesPerSecond,
  writeValues,
} from '../../../../loadtest/labs/experiments/value-size/transfer.ts';
import { unsizedGets } from '../../../../loadtest/labs/experiments/value-size/unsized-get.ts';
import { coresOf, inLab } from '../../../../loadtest/labs/kit/lab.ts';
import { wholeRounds } from '../../../../loadtest/labs/kit/rounds.ts';

const MIB = 2 ** 20;
const lab = { cores: coresOf('0-1'), say: () => undefined, signal: new AbortController().signal };

function set(bytes: number, pipeline: number, perSecond: number, storeCores: number): Transfer {
  const fixed = { way: 'SET', p99Ms: 1, generatorCores: 0.3, limit: 'neither', command: '' } as const;
  return { ...fixed, bytes, pipeline, perSecond, bytesPerSecond: perSecond * bytes, storeCores };
}

function read(fields: number, replyMs: number, executionUs: number, besideP99Ms = 1) {
  const alone = { replyMs, wholeMs: (replyMs * 20_000) / fields, replyBytes: fields * 100, executionUs };
  return { fields, alone, besideP99Ms };
}

function rows(): ValueSizeRows {
  return {
    near: [set(4 * MIB, 1, 300, 0.9), set(4096, 1, 50_000, 0.8), set(4096, 5000, 400_000, 1)],
    link: [set(4 * MIB, 1, 28, 0.1)],
    reads: {
      quietP99Ms: 0.3,
      rows: [read(20_000, 30, 6000), read(3000, 3, 600), read(300, 0.3, 30), read(30, 0.03, 3)],
    },
    writes: writes(10, 10.5),
  };
}

/** Processor time of the store per HSET for each hash; ten per batch save nine tenths. */
function writes(small: number, big: number): ValueSizeRows['writes'] {
  return [1, 10].flatMap((pipeline) => [
    { fields: 30, pipeline, storeUs: small / pipeline },
    { fields: 20_000, pipeline, storeUs: big / pipeline },
  ]);
}

test('a full link, an idle store, fast chunked reads and equal writes: the lesson of large values holds', () => {
  const { holds, sentence } = valueSizeLesson(rows());
  assert.equal(holds, 'yes');
  assert.match(sentence, /94.% of the link, with 0\.1 of a core busy in the store: low rate, full network, idle/);
  assert.match(sentence, /from 50,000\/s to 400,000\/s with 5,000 at once/);
});

test('a full link beside a busy store differs from the published result', () => {
  const { holds, sentence } = valueSizeLesson({ ...rows(), link: [set(4 * MIB, 1, 28, 0.9)] });
  assert.equal(holds, 'partly');
  assert.match(sentence, /the network is full, but the store is not idle/);
});

test('a store that is busy for at most half of the time counts as idle beside a full link', () => {
  const holds = (storeCores: number) => valueSizeLesson({ ...rows(), link: [set(4 * MIB, 1, 28, storeCores)] }).holds;
  assert.deepEqual([holds(0.45), holds(0.55)], ['yes', 'partly']);
});

test('without a link nothing is claimed about an idle processor, and the reason is given', () => {
  const { holds, sentence } = valueSizeLesson({ ...rows(), link: 'needs root for network namespaces' });
  assert.equal(holds, 'partly');
  assert.match(sentence, /could not be seen \(needs root for network namespaces\)/);
});

test('chunked reads that delay others more than whole reads do make the lesson hold in part, and the time for the whole hash is given', () => {
  const reads = { quietP99Ms: 17.4, rows: [read(20_000, 30, 6000, 13.2), read(3000, 3, 600), read(30, 0.2, 3, 114)] };
  const { holds, sentence } = valueSizeLesson({ ...rows(), reads });
  assert.equal(holds, 'partly');
  assert.match(sentence, /pieces do not spare others: .* 13\.2.ms beside whole reads and 114.ms beside pieces/);
  assert.match(sentence, /yet the whole hash takes 133.ms in pieces of 30 and 20.ms in pieces of 3,000/);
});

test('short replies with a longer total time to read the hash make the lesson hold in part', () => {
  const reads = { quietP99Ms: 1, rows: [read(20_000, 30, 6000), read(3000, 3, 600), read(30, 0.2, 3)] };
  assert.equal(valueSizeLesson({ ...rows(), reads }).holds, 'partly');
});

test('latency of others while no hash is read is not attributed to chunked reads', () => {
  const reads = { quietP99Ms: 16, rows: [read(20_000, 30, 6000, 13), read(3000, 3, 600), read(30, 0.03, 3, 19)] };
  assert.equal(valueSizeLesson({ ...rows(), reads }).holds, 'yes');
});

test('a read without answers has no figures, and the lesson is drawn from the others', () => {
  const latencyMs = { mean: 0, p50: 0, p95: 0, p99: 0, max: 0 };
  assert.equal(aloneRead({ answered: 0, receivedBytes: 12, latencyMs }, 30, 0), undefined);
  const unanswered = { fields: 30, alone: undefined, besideP99Ms: undefined };
  const reads = { quietP99Ms: 1, rows: [read(20_000, 30, 6000), read(3000, 3, 600), unanswered] };
  const { holds, sentence } = valueSizeLesson({ ...rows(), reads });
  assert.equal(holds, 'partly');
  assert.match(sentence, /fewer fields saves could not be seen/);
});

test('a hash whose fields take twice as long to write because there are many is reported to slow writes', () => {
  const { holds, sentence } = valueSizeLesson({ ...rows(), writes: writes(2, 4) });
  assert.equal(holds, 'partly');
  assert.match(sentence, /does slow writes: a field of 20,000 takes 4 µs instead of 2 .* and 0\.4 µs instead of 0\.2/);
});

test('no lesson without a published effect, and a small gain of chunks is attributed to the round trip only with figures', () => {
  const figures = (fewUs: number): ValueSizeRows => ({
    ...rows(),
    link: [set(4 * MIB, 1, 5, 0.1)],
    reads: { quietP99Ms: 1, rows: [read(20_000, 9, 900), read(3000, 3, 600), read(30, 1, fewUs, 5)] },
    writes: writes(10, 20),
  });
  assert.equal(valueSizeLesson(figures(6)).holds, 'no');
  assert.match(
    valueSizeLesson(figures(6)).sentence,
    /3.× less \(100.× less of the store's own time\) where .* is the round trip of a reply/,
  );
  assert.doesNotMatch(valueSizeLesson(figures(300)).sentence, /round trip/);
});

test('replies smaller than the requested values give no measurement', () => {
  const ran = { bytes: 4096, answered: 100, seconds: 1 };
  assert.throws(() => valueBytesPerSecond({ ...ran, receivedBytes: 500 }), /only 500 bytes received/);
  assert.equal(Math.round(valueBytesPerSecond({ ...ran, receivedBytes: 100 * 4105 })), 409_600);
});

test('a rate of values of megabytes counts the part of a reply that arrived within the time', () => {
  const half = { bytes: 4 * MIB, answered: 0, receivedBytes: 2 * MIB, seconds: 0.5 };
  assert.ok(Math.abs(valueBytesPerSecond(half) / (4 * MIB) - 1) < 0.001);
});

test('a pipeline is as deep as published for small values, and never carries more bytes for large ones', () => {
  assert.deepEqual(SIZES.map(depthOf), [5000, 5000, 1250, 312, 78, 19, 4]);
  assert.ok(SIZES.every((bytes) => depthOf(bytes) * bytes * clientsOf(depthOf(bytes)) <= 64 * MIB));
});

test('at least two rounds of the requests in flight are sent', () => {
  assert.equal(wholeRounds({ clients: 2, pipeline: 5000, perSecond: 10_000, seconds: 0.3 }), 20_000);
  assert.equal(wholeRounds({ clients: 2, pipeline: 4, perSecond: 1000, seconds: 0.5 }), 500);
});

test('without a link its rows have no figures', () => {
  const table = linkTable('needs root');
  assert.equal(table.rows.length, 2 * SIZES.length);
  assert.ok(table.rows.every(({ values }) => values.length === table.columns.length && !values.some(Boolean)));
});

test('stored values come back whole; values that redis-benchmark only sizes do not', async () => {
  await inLab({ ...lab, rowSeconds: 0.05 }, async (own) => {
    const store = await own.startStore();
    const [small, large] = await unsizedGets(own, store);
    assert.ok(small && large && small.replyBytes < 10 && large.replyBytes < 10);
    await storeValues(own, store, 65_536);
    const load = { store, bytes: 65_536, pipeline: 4, seconds: 0.2 };
    let read = await readValues(own, load);
    // Other tests load the machine: 0.2 s may pass without one complete reply.
    for (let again = 0; read.p99Ms === undefined && again < 20; again += 1) read = await readValues(own, load);
    assert.ok(read.bytesPerSecond > 65_536, `${read.bytesPerSecond} B/s`);
    assert.equal(read.perSecond * 65_536, read.bytesPerSecond);
    const written = await writeValues(own, { ...load, seconds: 0.1 });
    assert.match(written.command, /-P 4 -d 65536 -r 1024 -t set$/);
  });
});
