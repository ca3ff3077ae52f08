import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aloneRead, type HashRead } from '../../../../loadtest/labs/experiments/value-size/hash.ts';
import {
  readValues,
  storeValues,
  type Transfer,
  valueBytesPerSecond,
  writeValues,
} from '../../../../loadtest/labs/experiments/value-size/transfer.ts';
import { type ValueSizeMeasured, valueSize } from '../../../../loadtest/labs/experiments/value-size.ts';
import { coresOf, inLab } from '../../../../loadtest/labs/kit/lab.ts';
import { claimOf, columnOf, type Found, tableOf } from './harness.ts';

const MIB = 2 ** 20;
const lab = { cores: coresOf('0-1'), say: () => undefined, signal: new AbortController().signal };

const LATENCY = { mean: 1, p50: 1, p95: 1, p99: 1, max: 1 };

function findingOf(own: Partial<ValueSizeMeasured> = {}): Found {
  return valueSize.findingOf({ ...rows(), ...own });
}

function set(bytes: number, pipeline: number, perSecond: number, storeCores: number): Transfer {
  const fixed = { way: 'SET', p99Ms: 1, generatorCores: 0.3, limit: 'neither' } as const;
  return { ...fixed, bytes, pipeline, perSecond, bytesPerSecond: perSecond * bytes, storeCores };
}

function read(fields: number, replyMs: number, executionUs: number, besideP99Ms = 1): HashRead {
  const alone = { replyMs, wholeMs: (replyMs * 20_000) / fields, replyBytes: fields * 100, executionUs };
  const fixed = {
    name: String(fields),
    publishedMs: undefined,
    crowdP99Ms: 1,
    crowdCores: 1,
    limit: 'store',
  } as const;
  return { ...fixed, fields, alone, besideP99Ms };
}

function rows(): ValueSizeMeasured {
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
function writes(small: number, big: number): ValueSizeMeasured['writes'] {
  const fixed = { perSecond: 1, latencyMs: LATENCY, requests: 1, seconds: 1, storeCores: 1, generatorCores: 1 };
  return [1, 10].flatMap((pipeline) =>
    [
      { fields: 30, pipeline, storeUs: small / pipeline },
      { fields: 20_000, pipeline, storeUs: big / pipeline },
    ].map((own) => ({ ...fixed, limit: 'store' as const, ...own })),
  );
}

const LINK_SHARE = /share of a link/;
const LINK_STORE = /busy cores of the store/;
const REPLY = /time of a reply of 3,000 fields/;
const WHOLE = /time of the whole hash/;
const BESIDE = /p99 of small reads beside/;

test('a full link, an idle store, fast chunked reads and equal writes: the lesson of large values holds', () => {
  const found = findingOf();
  assert.equal(found.verdict, 'yes');
  assert.equal(claimOf(found, LINK_SHARE)[0]?.toFixed(2), '0.94');
  assert.deepEqual(claimOf(found, LINK_STORE), [0.1, true]);
  assert.deepEqual(columnOf(tableOf(found, /loopback/), /^rate/).slice(1), [50_000, 400_000]);
  assert.deepEqual(found.tables[0]?.rows.at(-1)?.name, 'SET of 4 KiB, 5,000 at once'.replace('4 KiB', '4\u00a0KiB'));
});

test('chunked reads that delay others more than whole reads do make the lesson hold in part, and the time for the whole hash is given', () => {
  const found = findingOf({
    reads: { quietP99Ms: 17.4, rows: [read(20_000, 30, 6000, 13.2), read(3000, 3, 600), read(30, 0.2, 3, 114)] },
  });
  assert.equal(found.verdict, 'partly');
  assert.deepEqual(claimOf(found, BESIDE), [114 / 17.4, false]);
  assert.deepEqual(columnOf(tableOf(found, /^Reading a hash/), /small reads/), [17.4, 13.2, 1, 114]);
  const [, , many, few] = columnOf(tableOf(found, /^Reading a hash/), /whole hash/).map((ms) => Math.round(Number(ms)));
  assert.deepEqual([few, many], [133, 20]);
  assert.equal(claimOf(found, WHOLE)[1], false);
});

test('a read without answers has no figures, and the lesson is drawn from the others', () => {
  const latencyMs = { mean: 0, p50: 0, p95: 0, p99: 0, max: 0 };
  assert.equal(aloneRead({ answered: 0, receivedBytes: 12, latencyMs }, 30, 0), undefined);
  const unanswered = { ...read(30, 1, 1), name: 'HMGET, 30', alone: undefined, besideP99Ms: undefined };
  const found = findingOf({
    reads: { quietP99Ms: 1, rows: [read(20_000, 30, 6000), read(3000, 3, 600), unanswered] },
  });
  assert.equal(found.verdict, 'partly');
  assert.deepEqual(claimOf(found, REPLY), [undefined, undefined]);
  assert.match(found.notes.join(' '), /HMGET, 30: not answered once/);
});

test('no lesson without a published effect, and a small gain of chunks is attributed to the round trip only with figures', () => {
  const figures = (fewUs: number) =>
    findingOf({
      link: [set(4 * MIB, 1, 5, 0.1)],
      reads: { quietP99Ms: 1, rows: [read(20_000, 9, 900), read(3000, 3, 600), read(30, 1, fewUs, 5)] },
      writes: writes(10, 20),
    });
  assert.equal(figures(6).verdict, 'no');
  assert.deepEqual(claimOf(figures(6), REPLY), [3, false]);
  assert.equal(claimOf(figures(6), /store's own time/)[0], 100);
  assert.equal(claimOf(figures(300), /store's own time/)[0], 2);
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

test('stored values come back whole', async () => {
  await inLab({ ...lab, rowSeconds: 0.05 }, async (own) => {
    const store = await own.startStore();
    await storeValues(own, store, 65_536);
    const load = { store, bytes: 65_536, pipeline: 4, seconds: 0.2 };
    let read = await readValues(own, load);
    // Other tests load the machine: 0.2 s may pass without one complete reply.
    for (let again = 0; read.p99Ms === undefined && again < 20; again += 1) read = await readValues(own, load);
    assert.ok(read.bytesPerSecond > 65_536, `${read.bytesPerSecond} B/s`);
    assert.equal(read.perSecond * 65_536, read.bytesPerSecond);
    const written = await writeValues(own, { ...load, seconds: 0.1 });
    assert.ok(written.perSecond > 0 && written.bytesPerSecond === written.perSecond * 65_536);
  });
});
