import assert from 'node:assert/strict';
import { test } from 'node:test';
import { purge, raiseFloors, suppress, withInitialGeneration } from '../../src/control/changes.ts';
import { emptyDocument, MAX_GENERATION } from '../../src/control/document.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';
import { plain } from '../plain.ts';
import { createHarness, type Process, WHOLE } from './harness.ts';

const HOUR_MS = 3_600_000;
const clock = createFakeClock();
const judge = ({ control }: Process, generation: number): string =>
  control.rules.judge(entryOf(clock, { generation, resultIds: ['banned'] }), {
    storeName: 'sc1:goods:{x}',
    bucket: 4711,
    request: { text: 'shoes' },
  });
const initial = (wallMs: number): number => withInitialGeneration(emptyDocument, wallMs).generation;

test('a history begins at the seconds since 2020, once', () => {
  assert.equal(initial(Date.UTC(2020, 0, 1) + 86_400_999), 86_400);
  const later = { ...emptyDocument, revision: 1, generation: 6 };
  assert.equal(withInitialGeneration(later, Date.now()), later);
});

test('with any wrong clock a history begins at 1 or above and leaves millions of generations', () => {
  for (const wallMs of [0, Date.UTC(1970, 0, 2), Date.UTC(2019, 11, 31)]) assert.equal(initial(wallMs), 1);
  for (const wallMs of [Date.UTC(2200, 0, 1), 8.64e15]) {
    const document = purge(withInitialGeneration(emptyDocument, wallMs), 'shoes', 1);
    assert.ok(document.generation + 10_000_000 < MAX_GENERATION);
  }
});

for (const change of ['suppress', 'purge', 'drop'] as const) {
  test(`after the document and every process were lost, a ${change} also applies to entries of the lost history`, async (t) => {
    const harness = createHarness(t);
    const restarted = harness.join('restarted');
    await harness.pass(1000);
    assert.equal(judge(restarted, 6), 'whole');
    const asked = {
      suppress: () => restarted.control.change((one) => suppress(one, ['banned'], 1)),
      purge: () => restarted.control.change((one) => purge(one, 'shoes', 1)),
      drop: () => restarted.control.change((one) => raiseFloors(one, WHOLE, 1)),
    }[change];
    const { before } = await harness.settle(asked());
    assert.equal(before, emptyDocument);
    const verdict = change === 'suppress' ? 'suppressed' : 'flushed';
    assert.deepEqual([judge(restarted, 6), judge(restarted, 1)], [verdict, verdict]);
    assert.equal(judge(restarted, restarted.control.rules.generation()), 'whole');
  });
}

test('a history begun now with a clock an hour behind is above one begun two hours ago', async (t) => {
  const harness = createHarness(t);
  const lost = harness.join('lost', -2 * HOUR_MS);
  for (let change = 0; change < 5; change += 1) {
    await harness.settle(lost.control.change((one) => suppress(one, [`sold-${change}`], 1)));
  }
  const generation = lost.control.rules.generation();
  lost.storeIs('down');
  harness.wipe();
  const restarted = harness.join('restarted', -HOUR_MS);
  await harness.settle(restarted.control.change((one) => suppress(one, ['banned'], 1)));
  assert.equal(judge(restarted, generation), 'suppressed');
  lost.storeIs('up');
  await harness.pass(2000);
  assert.deepEqual(plain(lost.control.document()), plain(restarted.control.document()));
  assert.equal(lost.control.document().suppressed.length, 6, 'and the two histories are merged as usual');
  for (const process of [lost, restarted]) assert.equal(judge(process, generation), 'suppressed');
});

test('when the clocks of processes differ by hours, one process begins the history and the others continue it', async (t) => {
  const harness = createHarness(t);
  const fleet = [0, HOUR_MS, -HOUR_MS].map((skewMs, index) => harness.join(`process-${index}`, skewMs));
  const changes = fleet.map(({ control }, index) => control.change((one) => suppress(one, [`sold-${index}`], 1)));
  const done = await harness.settle(Promise.all(changes));
  const numbers = done.map(({ after }) => after.generation).toSorted((a, b) => a - b);
  assert.deepEqual(
    numbers.map((number) => number - (numbers[0] ?? 0)),
    [0, 1, 2],
  );
});
