import assert from 'node:assert/strict';
import { test } from 'node:test';
import { purge, suppress } from '../../src/control/changes.ts';
import {
  type ControlDocument,
  emptyDocument,
  MAX_GENERATION,
  MAX_MERGED_SUPPRESSED,
  MAX_PURGES,
  tagOf,
} from '../../src/control/document.ts';
import { encodeDocument } from '../../src/control/document-codec.ts';
import { createHarness, type Harness, hides, kinds, type Process, storedTag } from './harness.ts';

const planted = (fields: Partial<ControlDocument>) =>
  encodeDocument({ ...emptyDocument, revision: 1, stamp: 'planted', ...fields });

/** A fleet in which one result is suppressed. */
async function fleetOf(harness: Harness, size = 2): Promise<readonly [Process, ...Process[]]> {
  const first = harness.join('first');
  const others = Array.from({ length: size - 1 }, (_, index) => harness.join(`other-${index}`));
  await harness.pass(1000);
  await harness.settle(first.control.change((one) => suppress(one, ['banned'], 1)));
  await harness.pass(1000);
  return [first, ...others];
}

const HOSTILE: Readonly<Record<string, ReturnType<typeof encodeDocument>>> = {
  'the highest numbers and no line': planted({ revision: Number.MAX_SAFE_INTEGER, generation: MAX_GENERATION }),
  'the highest generation': planted({ generation: MAX_GENERATION }),
  'the highest revision': planted({ revision: Number.MAX_SAFE_INTEGER, generation: 500_000_000 }),
  'no JSON': { tag: '9-x', value: Buffer.from('{') },
  'an empty value': { tag: '9-x', value: Buffer.alloc(0) },
  'another tag than its own': { tag: '9-x', value: planted({}).value },
};

for (const [name, value] of Object.entries(HOSTILE)) {
  test(`a planted document with ${name} changes nothing, is written over, and no newcomer starts with it`, async (t) => {
    const harness = createHarness(t);
    const fleet = await fleetOf(harness);
    const good = await storedTag(harness);
    const { revision, generation } = fleet[0].control.document();
    await harness.write(value);
    const newcomer = harness.join('newcomer');
    assert.ok((await harness.until(() => newcomer.control.hasSynced())) <= 5000);
    assert.ok(hides(newcomer), 'synced without the suppressions');
    assert.equal(await storedTag(harness), good);
    for (const { control } of fleet) {
      assert.deepEqual([control.document().revision, control.document().generation], [revision, generation]);
    }
    assert.ok(fleet.every((process) => hides(process)));
    const reasons = fleet.flatMap(kinds).filter((kind) => kind === 'control-corrupt');
    assert.ok(reasons.length > 0 && reasons.length <= fleet.length, 'each process reports it once');
    await harness.settle(fleet[0].control.change((one) => suppress(one, ['next'], 2)));
    assert.ok(hides(fleet[0], 'next'));
  });
}

test('an implausible step is refused by processes that know a document, and merged through one that knows none', async (t) => {
  const harness = createHarness(t);
  const fleet = await fleetOf(harness);
  const good = await storedTag(harness);
  const step = planted({ revision: 5_000_000, generation: 300_000_000 });
  await harness.write(step);
  await harness.pass(2000);
  assert.equal(await storedTag(harness), good);
  const newcomer = harness.join('newcomer');
  await harness.pass(1000);
  assert.ok(hides(newcomer));

  await harness.write(step);
  const early = harness.join('early');
  const all = [...fleet, newcomer, early];
  await harness.pass(10_000);
  assert.ok(all.every((process) => hides(process)));
  const settled = await storedTag(harness);
  assert.ok(all.every(({ control }) => tagOf(control.document()) === settled));
  await harness.pass(10_000);
  assert.equal(await storedTag(harness), settled, 'the processes no longer overwrite each other’s document');
});

test('a process that knows no document does not sync with a corrupt one, refuses changes with the reason, and goes on when it is deleted', async (t) => {
  const harness = createHarness(t);
  await harness.write({ tag: '9-x', value: Buffer.from('{') });
  const alone = harness.join('alone');
  assert.equal(alone.control.state().standing, 'unheard');
  await harness.pass(5000);
  assert.equal(alone.control.hasSynced(), false);
  assert.equal(alone.control.state().standing, 'corrupt');
  assert.deepEqual(kinds(alone), ['control-corrupt'], 'reported once');
  const change = alone.control.change((one) => suppress(one, ['banned'], 1));
  await assert.rejects(harness.settle(change), { code: 'control-unavailable', message: /no JSON.*deleted/ });
  assert.equal(await storedTag(harness), '9-x');
  harness.wipe();
  await harness.pass(1000);
  assert.equal(alone.control.state().standing, 'ok');
  await harness.settle(alone.control.change((one) => suppress(one, ['banned'], 1)));
  assert.ok(alone.control.hasSynced() && hides(alone));
});

test('a change made while a corrupt document is stored restores the known one first and is made once', async (t) => {
  const harness = createHarness(t);
  const [process, other] = await fleetOf(harness);
  assert.ok(other);
  await harness.write({ tag: '9-x', value: Buffer.from('{') });
  const { before, after } = await harness.settle(process.control.change((one) => suppress(one, ['more'], 1)));
  assert.equal(after.revision, before.revision + 1);
  await harness.pass(1000);
  assert.ok(hides(other) && hides(other, 'more'));
});

test('content that was changed under the known tag is found within seconds and written over', async (t) => {
  const harness = createHarness(t);
  const [process] = await fleetOf(harness, 1);
  const { suppressed: _, ...rest } = process.control.document();
  await harness.write(encodeDocument({ ...rest, suppressed: [] }));
  await harness.pass(15_000);
  const newcomer = harness.join('newcomer');
  await harness.until(() => newcomer.control.hasSynced());
  assert.ok(hides(newcomer) && hides(process));
});

test('a merge with an unrelated document drops no suppression and no purge, however many it holds', async (t) => {
  const harness = createHarness(t);
  const [process] = await fleetOf(harness, 1);
  await harness.settle(process.control.change((one) => purge(one, 'shoes', 1_800_000_000_000)));
  const { generation } = process.control.document();
  const higher = { generation: generation + 1000, atMs: 1_800_000_000_000 };
  await harness.write(
    planted({
      revision: 900,
      generation: generation + 1000,
      purges: Array.from({ length: MAX_PURGES }, (_, index) => ({ text: `junk ${index}`, ...higher })),
      suppressed: Array.from({ length: MAX_MERGED_SUPPRESSED - 1 }, (_, index) => ({ id: `junk ${index}`, ...higher })),
    }),
  );
  await harness.pass(2000);
  assert.ok(hides(process));
  const { purges, ranges } = process.control.document();
  assert.equal(purges.length, MAX_PURGES);
  const isPurged = purges.some(({ text }) => text === 'shoes') || ranges.every(({ floor }) => floor >= generation);
  assert.ok(isPurged && ranges.length > 0, 'the purge became part of a flush of everything');

  await harness.write(
    planted({
      revision: 2000,
      stamp: 'more',
      generation: generation + 1000,
      suppressed: Array.from({ length: MAX_MERGED_SUPPRESSED }, (_, index) => ({ id: `other ${index}`, ...higher })),
    }),
  );
  await harness.pass(2000);
  assert.ok(hides(process), 'a document that cannot be merged is corrupt');
  assert.equal(await storedTag(harness), tagOf(process.control.document()));
});

test('counters that were planted at their limit allow changes again as time passes', async (t) => {
  const harness = createHarness(t);
  await harness.write(planted({ revision: 1, generation: 1 }));
  const alone = harness.join('alone');
  await harness.pass(200);
  const limitOf = (message: string): number => Number(/above (\d+), the most/.exec(message)?.[1]);
  const refused = alone.control.change((one) => ({ ...one, generation: 2 ** 31 }));
  const limit = await harness.settle(
    refused.then(
      () => Number.NaN,
      (error: Error) => limitOf(error.message),
    ),
  );
  assert.ok(limit < MAX_GENERATION, String(limit));
  harness.wipe();
  await harness.write(planted({ revision: 1, stamp: 'limit', generation: limit }));
  const newcomer = harness.join('newcomer');
  assert.ok((await harness.until(() => newcomer.control.hasSynced())) <= 5000);
  for (let change = 0; change < 3; change += 1) {
    await harness.pass(2000);
    await harness.settle(newcomer.control.change((one) => suppress(one, [`sold-${change}`], 1)));
  }
  assert.ok(newcomer.control.document().generation > limit);
});
