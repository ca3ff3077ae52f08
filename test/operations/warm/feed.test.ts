import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createSettlements } from '../../../src/operations/warm/run.ts';
import { numbered, type WarmHarness, warmHarness } from './harness.ts';

const start = ({ warmUps }: WarmHarness, maxPerSecond = 1000): string =>
  warmUps.start({ domain: 'goods', from: 'queries', maxPerSecond }).id;

test('a warm-up takes queries until the last one, and then it is done', async (t) => {
  const harness = warmHarness(t);
  const id = start(harness);
  assert.equal(harness.warmUps.feed(id, numbered(10), false).taken, 10);
  await harness.pass(1000);
  assert.deepEqual([harness.look(id).settled, harness.look(id).state], [10, 'waiting']);
  const fed = harness.warmUps.feed(id, numbered(5, 'more'), true);
  assert.deepEqual([fed.taken, fed.warmUp.taken, fed.warmUp.state], [5, 15, 'running']);
  await harness.pass(1000);
  assert.deepEqual([harness.look(id).state, harness.look(id).computed], ['done', 15]);
  assert.deepEqual(harness.warmUps.feed(id, ['late'], true).taken, 0);
});

test('a warm-up takes as many queries as fit; `last` counts only when all are taken', async (t) => {
  const harness = warmHarness(t);
  const id = start(harness);
  const many = numbered(3000);
  assert.equal(harness.warmUps.feed(id, many, true).taken, 2000);
  assert.equal(harness.warmUps.feed(id, many.slice(2000), true).taken, 0);
  await harness.pass(1000);
  const { settled } = harness.look(id);
  assert.equal(harness.warmUps.feed(id, many.slice(2000), true).taken, settled);
  while (harness.look(id).taken < 3000) {
    await harness.pass(500);
    harness.warmUps.feed(id, many.slice(harness.look(id).taken), true);
  }
  await harness.pass(15_000);
  assert.deepEqual([harness.look(id).state, harness.look(id).settled], ['done', 3000]);
  assert.deepEqual(harness.asked.toSorted(), many.toSorted());
});

test('queries after the last one, or for a warm-up from popularity, are refused', (t) => {
  const harness = warmHarness(t, numbered(10));
  const id = start(harness);
  harness.warmUps.feed(id, ['one'], true);
  assert.throws(() => harness.warmUps.feed(id, ['two'], true), { code: 'invalid-request' });
  assert.equal(harness.warmUps.feed(id, [], true).taken, 0);
  const popular = harness.warmUps.start({ domain: 'auto', from: 'popular', maxPerSecond: 1 });
  assert.throws(() => harness.warmUps.feed(popular.id, ['x'], false), { code: 'invalid-request' });
});

test('a warm-up without any query is done at once', async (t) => {
  const harness = warmHarness(t);
  const id = start(harness);
  harness.warmUps.feed(id, [], true);
  await harness.pass(50);
  assert.deepEqual([harness.look(id).state, harness.look(id).taken], ['done', 0]);
});

test('an invalid query is counted and not sent to the engine', async (t) => {
  const harness = warmHarness(t);
  const id = start(harness);
  harness.warmUps.feed(id, ['one', 'what?', 'x'.repeat(5000), 'two'], true);
  await harness.pass(500);
  assert.deepEqual(harness.asked, ['one', 'two']);
  const { state, settled, computed, invalid } = harness.look(id);
  assert.deepEqual([state, settled, computed, invalid], ['done', 4, 2, 2]);
});

test('queries count as settled only without a gap, so that a file can be resumed there', async (t) => {
  const harness = warmHarness(t);
  const id = start(harness);
  harness.answer = (line) => (line === 'query 3' ? 'refused' : 'computed');
  harness.warmUps.feed(id, numbered(20), true);
  await harness.pass(1500);
  assert.ok(harness.asked.length >= 15, 'the other queries continued');
  assert.deepEqual([harness.look(id).settled, harness.look(id).computed, harness.look(id).failed], [3, 3, 0]);
  await harness.pass(1500);
  const { state, settled, computed, failed } = harness.look(id);
  assert.deepEqual([state, settled, computed, failed], ['done', 20, 19, 1]);
});

test('a query that was shed is tried once more, and then it has failed', async (t) => {
  const harness = warmHarness(t);
  const refusals = new Map([
    ['query 1', 1],
    ['query 2', 9],
  ]);
  harness.answer = (line) => {
    const left = refusals.get(line) ?? 0;
    refusals.set(line, left - 1);
    return left > 0 ? 'refused' : 'computed';
  };
  const id = start(harness);
  harness.warmUps.feed(id, numbered(4), true);
  await harness.pass(6000);
  const times = (line: string): number => harness.asked.filter((each) => each === line).length;
  assert.deepEqual(numbered(4).map(times), [1, 2, 2, 1]);
  const { state, computed, failed } = harness.look(id);
  assert.deepEqual([state, computed, failed], ['done', 3, 1]);
});

test('an engine that refuses everything gets fewer and fewer calls', async (t) => {
  const harness = warmHarness(t);
  harness.answer = () => 'refused';
  const id = start(harness);
  harness.warmUps.feed(id, numbered(500), true);
  await harness.pass(2000);
  assert.equal(harness.look(id).state, 'waiting');
  await harness.pass(18_000);
  assert.ok(harness.asked.length < 30, `${harness.asked.length} in 20 s`);
  harness.answer = () => 'computed';
  await harness.pass(20_000);
  const { state, settled, failed } = harness.look(id);
  assert.deepEqual([state, settled], ['done', 500]);
  assert.ok(failed < 30, `${failed} given up`);
});

test('a warm-up without new queries stops by itself after five minutes', async (t) => {
  const harness = warmHarness(t);
  const id = start(harness);
  harness.warmUps.feed(id, numbered(3), false);
  await harness.pass(299_000);
  assert.equal(harness.look(id).state, 'waiting');
  harness.warmUps.feed(id, [], false);
  await harness.pass(299_000);
  assert.equal(harness.look(id).state, 'waiting');
  await harness.pass(1500);
  assert.equal(harness.look(id).state, 'stopped');
  const said = harness.events.at(-1);
  assert.ok(said?.kind === 'warm-up-ended' && /5 minutes/.test(said.detail ?? ''));
});

test('a slow warm-up is not stopped as one without new queries', async (t) => {
  const harness = warmHarness(t);
  harness.interactive = 8;
  const id = start(harness);
  harness.warmUps.feed(id, numbered(3), false);
  await harness.pass(301_000);
  assert.deepEqual([harness.look(id).state, harness.asked.length], ['waiting', 0]);
  harness.interactive = 0;
  await harness.pass(1000);
  assert.equal(harness.look(id).settled, 3);
});

test('queries that end in any order are settled in the order of the file, each with its result', () => {
  const settlements = fc.array(fc.constantFrom('cached', 'computed', 'invalid', 'failed'), { maxLength: 40 });
  const orders = settlements.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray([...all.keys()], { minLength: all.length })),
  );
  fc.assert(
    fc.property(orders, ([all, order]) => {
      const progress = createSettlements();
      progress.take(all.length);
      const ended = new Set<number>();
      for (const place of order) {
        progress.settle(place, all[place] ?? 'failed');
        ended.add(place);
        let prefix = 0;
        while (ended.has(prefix)) prefix += 1;
        const { settled, ...counts } = progress.counts();
        assert.equal(settled, prefix);
        for (const kind of ['cached', 'computed', 'invalid', 'failed'] as const) {
          assert.equal(counts[kind], all.slice(0, prefix).filter((one) => one === kind).length);
        }
      }
      assert.equal(progress.taken(), all.length);
    }),
  );
});
