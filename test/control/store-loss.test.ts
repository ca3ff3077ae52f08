import assert from 'node:assert/strict';
import { test } from 'node:test';
import { purge, raiseFloors, suppress } from '../../src/control/changes.ts';
import { beginOverlay } from '../../src/control/overlay.ts';
import { plain } from '../plain.ts';
import { ASKED, createHarness, type Harness, hides, kinds, type Process, storedTag, WHOLE } from './harness.ts';

/** Roughly the time on the processes' wall clocks. */
const WALL_MS = 1_800_000_000_000;
const revisions = (fleet: readonly Process[]): number[] => fleet.map(({ control }) => control.document().revision);

async function fleetOf(harness: Harness, size: number): Promise<Process[]> {
  const fleet = Array.from({ length: size }, (_, index) => harness.join(`process-${index}`));
  await harness.pass(1000);
  for (let change = 0; change < 5; change += 1) {
    await harness.settle(fleet[0]?.control.change((one) => suppress(one, [`sold-${change}`], 1)) ?? Promise.reject());
  }
  await harness.pass(1000);
  assert.deepEqual(new Set(revisions(fleet)), new Set([5]));
  return fleet;
}

test('a change applies in its own process at once and in all others within a second', async (t) => {
  const harness = createHarness(t);
  const fleet = Array.from({ length: 6 }, (_, index) => harness.join(`process-${index}`));
  const [first] = fleet;
  assert.ok(first);
  await harness.pass(1000);
  assert.ok(fleet.every(({ control }) => control.hasSynced() && control.rules.hides() === undefined));
  const { before, after } = await harness.settle(first.control.change((one) => suppress(one, ['sold'], 1)));
  assert.deepEqual([before.revision, after.revision], [0, 1]);
  assert.equal(first.control.rules.generation(), after.generation);
  assert.ok(hides(first, 'sold') && !hides(first, 'other'));
  assert.ok((await harness.until(() => fleet.every((process) => hides(process, 'sold')))) < 800);
  assert.deepEqual(first.control.state().shared, true);
});

test('a domain without changes is not written, and an empty change writes nothing', async (t) => {
  const harness = createHarness(t);
  const process = harness.join('alone');
  await harness.pass(3000);
  const { before, after } = await harness.settle(process.control.change((one) => one));
  assert.equal(before, after);
  assert.equal(await storedTag(harness), 'absent');
  assert.deepEqual(process.events, []);
});

test('a wiped store gets back the document of the fleet, and no process loses it meanwhile', async (t) => {
  const harness = createHarness(t);
  const fleet = await fleetOf(harness, 5);
  const tag = await storedTag(harness);
  harness.wipe();
  for (let turn = 0; turn < 100; turn += 1) {
    await harness.pass(10);
    assert.ok(fleet.every((process) => hides(process, 'sold-4')));
  }
  assert.equal(await storedTag(harness), tag);
  assert.equal(
    fleet.flatMap(kinds).filter((kind) => kind === 'control-restored').length,
    1,
    'one of them writes it back',
  );
});

test('a drill survives a wiped store while its owner renews it, and not otherwise', async (t) => {
  const harness = createHarness(t);
  const fleet = await fleetOf(harness, 3);
  const [owner] = fleet;
  assert.ok(owner);
  const asked = { ...ASKED, drill: 'd', leaseMs: 2000, blackout: true };
  await harness.settle(owner.control.change((one) => beginOverlay(one, asked)));
  const renewed = async (seconds: number): Promise<void> => {
    for (let turn = 0; turn < seconds * 2; turn += 1) {
      await harness.settle(owner.control.renew());
      await harness.pass(490);
      assert.ok(owner.control.overlay()?.blackout);
    }
  };
  await renewed(5);
  harness.wipe();
  await renewed(5);
  assert.ok(fleet.every(({ control }) => control.overlay()?.drill === 'd'));
  harness.wipe();
  const tookMs = await harness.until(() => fleet.every(({ control }) => control.overlay() === undefined));
  assert.ok(tookMs <= 3000, `${tookMs} ms`);
  await harness.pass(1000);
  assert.ok(fleet.every(({ control }) => control.document().overlay === undefined));
});

test('a store that was restored to an earlier document gets the newer one back', async (t) => {
  const harness = createHarness(t);
  const fleet = await fleetOf(harness, 3);
  const earlier = await harness.settle(harness.store.read('goods', undefined, 0));
  assert.ok(earlier.kind === 'value');
  const [first] = fleet;
  await harness.settle(first?.control.change((one) => raiseFloors(one, WHOLE, 1)) ?? Promise.reject());
  await harness.pass(1000);
  const newest = await storedTag(harness);
  await harness.write({ tag: earlier.tag, value: earlier.value });
  await harness.pass(1000);
  assert.equal(await storedTag(harness), newest);
  assert.deepEqual(revisions(fleet), [6, 6, 6]);
});

test('a change of a newcomer in a wiped store is merged with the document of the others', async (t) => {
  const harness = createHarness(t);
  const fleet = await fleetOf(harness, 3);
  for (const process of fleet) process.storeIs('down');
  harness.wipe();
  const newcomer = harness.join('newcomer');
  await harness.settle(newcomer.control.change((one) => purge(one, 'shoes', WALL_MS)));
  await harness.settle(newcomer.control.change((one) => suppress(one, ['banned'], 2)));
  await harness.pass(5000);
  for (const process of fleet) process.storeIs('up');
  await harness.pass(2000);
  const all = [...fleet, newcomer];
  for (const process of all) {
    assert.ok(hides(process, 'sold-0') && hides(process, 'sold-4') && hides(process, 'banned'));
    assert.deepEqual(plain(process.control.document()), plain(newcomer.control.document()));
    assert.equal(process.control.document().purges[0]?.text, 'shoes');
  }
  const generation = newcomer.control.rules.generation();
  assert.equal(
    newcomer.control.document().purges[0]?.generation,
    generation,
    'it holds for entries of the other history',
  );
});

test('while the store is away the last document stays, the absence is reported once, and changes are refused', async (t) => {
  const harness = createHarness(t);
  const [process] = await fleetOf(harness, 1);
  assert.ok(process);
  process.events.length = 0;
  process.storeIs('down');
  await harness.pass(5000);
  assert.ok(hides(process, 'sold-0'));
  assert.ok(process.control.state().heardMsAgo >= 4000);
  const change = process.control.change((one) => suppress(one, ['more'], 1));
  await assert.rejects(harness.settle(change), { code: 'control-unavailable' });
  assert.ok(!hides(process, 'more'));
  assert.equal(await harness.settle(process.control.renew()), false);
  assert.equal(await harness.settle(process.control.reports()), undefined);
  process.storeIs('up');
  await harness.pass(1000);
  assert.deepEqual(kinds(process), ['control-away', 'control-back']);
  assert.ok(process.control.state().heardMsAgo < 1000);
});

test('a change without any reply is reported as unknown, and adopted when it is found', async (t) => {
  const harness = createHarness(t);
  const [process, other] = await fleetOf(harness, 2);
  assert.ok(process && other);
  const change = process.control.change((one) => {
    process.storeIs('silent');
    return suppress(one, ['more'], 1);
  });
  await assert.rejects(harness.settle(change), { code: 'control-unavailable', message: /made or not/ });
  assert.ok(!hides(process, 'more'));
  process.storeIs('up');
  await harness.pass(1000);
  assert.ok(hides(process, 'more') && hides(other, 'more'));
});

test('a document of another format is left alone and reported once; after it is deleted, the known one is written back', async (t) => {
  const harness = createHarness(t);
  const [process] = await fleetOf(harness, 1);
  assert.ok(process);
  process.events.length = 0;
  await harness.write({ tag: '9-abc', value: Buffer.from('{"format":3}') });
  await harness.pass(5000);
  assert.deepEqual(kinds(process), ['control-corrupt']);
  assert.ok(hides(process, 'sold-0'));
  const change = process.control.change((one) => suppress(one, ['more'], 1));
  await assert.rejects(harness.settle(change), {
    code: 'control-unavailable',
    message: /format 3.*another version.*is not written over here.*deleted/,
  });
  assert.equal(await storedTag(harness), '9-abc');
  harness.wipe();
  await harness.pass(1000);
  assert.match(await storedTag(harness), /^5-/);
});
