import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HashRead } from '../../../../loadtest/labs/experiments/value-size/hash.ts';
import {
  readValues,
  storeValues,
  type Transfer,
  valueBytesPerSecond,
  writeValues,
} from '../../../../loadtest/labs/experiments/value-size/transfer.ts';
import { type ValueSizeMeasured, valueSize } from '../../../../loadtest/labs/experiments/value-size.ts';
import { inLab } from '../../../../loadtest/labs/kit/lab.ts';
import { claimOf, LAB } from './harness.ts';

const MIB = 2 ** 20;

function set(perSecond: number): Transfer {
  const bytes = 4 * MIB;
  const load = { way: 'SET', p99Ms: 1, generatorCores: 0.3, limit: 'neither', pipeline: 1, storeCores: 0.1 } as const;
  return { ...load, bytes, perSecond, bytesPerSecond: perSecond * bytes };
}

function read(fields: number, replyMs: number, executionUs: number, besideP99Ms = 1): HashRead {
  const alone = { replyMs, wholeMs: (replyMs * 20_000) / fields, replyBytes: fields * 100, executionUs };
  const crowd = { crowdP99Ms: 1, crowdCores: 1, limit: 'store' } as const;
  return { ...crowd, name: String(fields), publishedMs: undefined, fields, alone, besideP99Ms };
}

/** Processor time of the store per HSET for each hash. */
function writes(small: number, big: number): ValueSizeMeasured['writes'] {
  const times = { meanMs: 1, p50Ms: 1, p99Ms: 1, maxMs: 1, seconds: 1, processorSeconds: 1, generatorUs: 1 };
  const load = { ...times, perSecond: 1, storeCores: 1, generatorCores: 1 };
  return [
    { ...load, limit: 'store', pipeline: 1, fields: 30, storeUs: small },
    { ...load, limit: 'store', pipeline: 1, fields: 20_000, storeUs: big },
  ];
}

const MEASURED: ValueSizeMeasured = {
  near: [],
  link: [set(28)],
  reads: { quietP99Ms: 0.3, rows: [read(20_000, 30, 6000), read(3000, 3, 600), read(300, 0.3, 30), read(30, 0.03, 3)] },
  writes: writes(10, 10.5),
};
const DELAYING = [read(20_000, 30, 6000, 13.2), read(3000, 3, 600), read(30, 0.2, 3, 114)];
const UNANSWERED = [...DELAYING.slice(0, 2), { ...read(30, 1, 1), alone: undefined, besideP99Ms: undefined }];
const NONE = {
  link: [set(5)],
  reads: { quietP99Ms: 1, rows: [read(20_000, 9, 900), read(3000, 3, 600), read(30, 1, 6, 5)] },
  writes: writes(10, 20),
};

const REPLY = /time of a reply of 3,000 fields/;
const BESIDE = /p99 of small reads beside/;

for (const [name, own, verdict, claim, figure] of [
  ['a full link, an idle store, fast pieces, equal writes', {}, 'yes', /busy cores of the store/, [0.1, true]],
  ['pieces that delay others', { reads: { quietP99Ms: 17.4, rows: DELAYING } }, 'partly', BESIDE, [114 / 17.4, false]],
  [
    'a read without answers has no figures',
    { reads: { quietP99Ms: 1, rows: UNANSWERED } },
    'partly',
    REPLY,
    [undefined, undefined],
  ],
  ['no published effect is seen', NONE, 'no', REPLY, [3, false]],
] as const)
  test(name, () => {
    const found = valueSize.findingOf({ ...MEASURED, ...own });
    assert.equal(found.verdict, verdict);
    assert.deepEqual(claimOf(found, claim), figure);
  });

test('a rate of values counts the bytes that arrived, and replies smaller than the values give no measurement', () => {
  const ran = { answered: 100, seconds: 1 };
  assert.throws(() => valueBytesPerSecond(4096, { ...ran, receivedBytes: 500 }), /only 500 bytes received/);
  assert.equal(Math.round(valueBytesPerSecond(4096, { ...ran, receivedBytes: 100 * 4105 })), 409_600);
  const half = { answered: 0, receivedBytes: 2 * MIB, seconds: 0.5 };
  assert.ok(Math.abs(valueBytesPerSecond(4 * MIB, half) / (4 * MIB) - 1) < 0.001);
});

test('stored values come back whole', async () => {
  await inLab({ ...LAB, rowSeconds: 0.05 }, async (own) => {
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
