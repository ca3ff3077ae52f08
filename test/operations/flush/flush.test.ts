import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketsIn, MAX_SUPPRESSED } from '../../../src/control/document.ts';
import { beginOverlay, endOverlay } from '../../../src/control/overlay.ts';
import { isDocumentId, MAX_ID_BYTES } from '../../../src/search/domain.ts';
import { entryOf } from '../../fakes/entry.ts';
import { pluck } from '../../pluck.ts';
import { type FlushHarness, flushHarness, pagesOf } from './harness.ts';

const OVERLAY = {
  drill: 'd1',
  owner: 'p1',
  leaseMs: 3000,
  mode: 'drop',
  ranges: [],
  blackout: false,
  cohorts: [],
} as const;

/** The current verdict on an entry of the first generation, bucket by bucket. */
const judged = ({ control, clock }: FlushHarness, bucket: number, parts = {}): string =>
  control.rules.judge(entryOf(clock, { generation: 1, ...parts }), {
    storeName: 'sc1:goods:{x}',
    bucket,
    request: { text: 'кроссовки' },
  });

test('after a drop the range is a miss, and nothing else is', async (t) => {
  const harness = flushHarness(t);
  const { ranges, before, after } = await harness.flush.flush({ mode: 'drop', fraction: 0.25, from: 9000 });
  assert.deepEqual(ranges, [
    { from: 0, to: 1500 },
    { from: 9000, to: 10_000 },
  ]);
  const { generation } = after;
  assert.equal(before.generation, 1);
  assert.deepEqual(
    [0, 1499, 1500, 8999, 9000].map((bucket) => judged(harness, bucket)),
    ['flushed', 'flushed', 'whole', 'whole', 'flushed'],
  );
  assert.equal(judged(harness, 0, { generation }), 'whole');
  assert.deepEqual(harness.events, [{ kind: 'flushed', domain: 'goods', mode: 'drop', buckets: 2500, generation }]);
});

test('after a refresh the range is stale, and the document has the index version', async (t) => {
  const harness = flushHarness(t);
  const { after } = await harness.flush.flush({ mode: 'refresh', fraction: 1, indexVersion: 'goods-0042' });
  assert.equal(judged(harness, 77), 'outdated');
  assert.equal(after.indexVersion, 'goods-0042');
});

test('a flush begins at a random bucket', async (t) => {
  const places = [0.1, 0.7];
  const { flush } = flushHarness(t, { random: () => places.shift() ?? 0 });
  assert.deepEqual((await flush.flush({ mode: 'drop', fraction: 0.01 })).ranges, [{ from: 1000, to: 1100 }]);
  assert.deepEqual((await flush.flush({ mode: 'drop', fraction: 0.01 })).ranges, [{ from: 7000, to: 7100 }]);
});

test('a flush is refused while a drill runs; a purge and a suppression are not', async (t) => {
  const harness = flushHarness(t);
  const { flush, control } = harness;
  await control.change((document) => beginOverlay(document, OVERLAY));
  const before = control.document();
  for (const mode of ['refresh', 'drop', 'erase'] as const) {
    await assert.rejects(flush.flush({ mode, fraction: 1 }), { code: 'drill-running', message: /d1 runs in goods/ });
  }
  assert.deepEqual([control.document(), flush.erasure(), harness.events], [before, undefined, []]);
  await flush.purge(pagesOf('кроссовки'));
  await flush.suppress(['1']);
  assert.equal(judged(harness, 5), 'flushed');
  await control.change((document) => endOverlay(document, 'd1'));
  await flush.flush({ mode: 'drop', fraction: 1 });
});

test('an expired drill does not block a flush', async (t) => {
  const { flush, control, pass } = flushHarness(t);
  await control.change((document) => beginOverlay(document, OVERLAY));
  await pass(OVERLAY.leaseMs + 100);
  assert.equal(control.overlay(), undefined);
  const { after } = await flush.flush({ mode: 'drop', fraction: 1 });
  assert.equal(bucketsIn(after.ranges), 10_000);
});

test('a flush above the maximum of ranges is refused, and nothing changes', async (t) => {
  const { flush, control } = flushHarness(t);
  for (let place = 0; place < 32; place += 1) {
    await flush.flush({ mode: 'drop', fraction: 0.0001, from: 2 * place });
  }
  const before = control.document();
  await assert.rejects(flush.flush({ mode: 'drop', fraction: 0.0001, from: 500 }), { code: 'control-full' });
  assert.equal(control.document(), before);
  await flush.flush({ mode: 'drop', fraction: 1 });
  assert.equal(control.document().ranges.length, 1);
});

test('a purge flushes every page of its text and no other', async (t) => {
  const harness = flushHarness(t);
  const { after } = await harness.flush.purge(pagesOf('кроссовки'));
  assert.equal(judged(harness, 3), 'flushed');
  assert.deepEqual([after.ranges, pluck(after.purges, 'text')], [[], ['кроссовки']]);
  await harness.flush.purge(pagesOf('кроссовки'));
  assert.equal(harness.control.document().purges.length, 1);
  await assert.rejects(harness.flush.purge(pagesOf('  ')), { code: 'invalid-request', parameter: 'q' });
});

test('a suppressed document hides its pages until it is lifted', async (t) => {
  const harness = flushHarness(t);
  const { after } = await harness.flush.suppress(['7', '8', '7']);
  assert.deepEqual(pluck(after.suppressed, 'id'), ['7', '8']);
  assert.equal(judged(harness, 3, { resultIds: ['6', '7'] }), 'suppressed');
  assert.equal(harness.control.rules.hides()?.('8'), true);
  await harness.flush.suppress(['7', '8', 'unknown'], true);
  assert.equal(harness.control.rules.hides(), undefined);
  assert.deepEqual(harness.events, [
    { kind: 'suppressed', domain: 'goods', ids: 2, lifted: false },
    { kind: 'suppressed', domain: 'goods', ids: 3, lifted: true },
  ]);
});

test('every id that can be indexed can be suppressed: 1 to 512 bytes in UTF-8', async (t) => {
  const harness = flushHarness(t);
  const longest = '🛋'.repeat(MAX_ID_BYTES / 4);
  const { after } = await harness.flush.suppress([longest]);
  assert.deepEqual(pluck(after.suppressed, 'id'), [longest]);
  for (const id of ['', `${longest}x`, 'a\0', '\ud83d']) {
    await assert.rejects(harness.flush.suppress([id]), { code: 'invalid-request' });
    assert.equal(isDocumentId(id), false);
  }
});

test('a list of suppressions that does not fit changes nothing', async (t) => {
  const { flush, control } = flushHarness(t);
  const ids = Array.from({ length: MAX_SUPPRESSED }, (_, id) => `${id}`);
  await flush.suppress(ids);
  const before = control.document();
  await assert.rejects(flush.suppress(['one more']), { code: 'control-full' });
  assert.equal(control.document(), before);
  await flush.suppress(['5']);
  assert.equal(control.document().suppressed.length, MAX_SUPPRESSED);
});

test('invalid ids are refused with the parameter', async (t) => {
  const { flush, control } = flushHarness(t);
  for (const ids of [[''], ['x'.repeat(MAX_ID_BYTES + 1)], ['\ud800']]) {
    await assert.rejects(flush.suppress(ids), { code: 'invalid-request', parameter: 'ids' });
  }
  assert.equal(control.document().revision, 0);
});

test('an index version is accepted with refresh only', async (t) => {
  const { flush, control } = flushHarness(t);
  const wrong = { code: 'invalid-request', parameter: 'indexVersion' };
  await assert.rejects(flush.flush({ mode: 'drop', fraction: 1, indexVersion: 'x' }), wrong);
  await assert.rejects(flush.flush({ mode: 'refresh', fraction: 1, indexVersion: '\ud800' }), wrong);
  assert.equal(control.document().revision, 0);
});
