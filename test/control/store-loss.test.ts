import assert from 'node:assert/strict';
import { test } from 'node:test';
import { purge, raiseFloors, suppress } from '../../src/control/changes.ts';
import { beginOverlay } from '../../src/control/overlay.ts';
import { createScene, type Process, type Scene } from './scene.ts';

/** What the processes' clocks say, roughly. */
const WALL_MS = 1_800_000_000_000;
const WHOLE = [{ from: 0, to: 10_000 }];
const kinds = ({ events }: Process): string[] => events.map(({ kind }) => kind);
const revisions = (fleet: readonly Process[]): number[] => fleet.map(({ control }) => control.document().revision);
const hides = ({ control }: Process, id: string): boolean => control.rules.hides()?.(id) === true;
const storedRevision = async (scene: Scene): Promise<string> => {
  const read = await scene.settle(scene.store.read('goods', undefined, 0));
  return read.kind === 'value' ? read.tag : read.kind;
};

async function fleetOf(scene: Scene, size: number): Promise<Process[]> {
  const fleet = Array.from({ length: size }, (_, index) => scene.join(`process-${index}`));
  await scene.pass(1000);
  for (let change = 0; change < 5; change += 1) {
    await scene.settle(fleet[0]?.control.change((one) => suppress(one, [`sold-${change}`], 1)) ?? Promise.reject());
  }
  await scene.pass(1000);
  assert.deepEqual(new Set(revisions(fleet)), new Set([5]));
  return fleet;
}

test('a change is known here at once and everywhere within a second', async (t) => {
  const scene = createScene(t);
  const fleet = Array.from({ length: 6 }, (_, index) => scene.join(`process-${index}`));
  const [first] = fleet;
  assert.ok(first);
  await scene.pass(1000);
  assert.ok(fleet.every(({ control }) => control.heard() && control.rules.hides() === undefined));
  const { before, after } = await scene.settle(first.control.change((one) => suppress(one, ['sold'], 1)));
  assert.deepEqual([before.revision, after.revision], [0, 1]);
  assert.equal(first.control.rules.generation(), after.generation);
  assert.ok(hides(first, 'sold') && !hides(first, 'other'));
  assert.ok((await scene.until(() => fleet.every((process) => hides(process, 'sold')))) < 800);
  assert.deepEqual(first.control.state().shared, true);
});

test('what nobody changed is not written, and a change of nothing is none', async (t) => {
  const scene = createScene(t);
  const process = scene.join('alone');
  await scene.pass(3000);
  const { before, after } = await scene.settle(process.control.change((one) => one));
  assert.equal(before, after);
  assert.equal(await storedRevision(scene), 'absent');
  assert.deepEqual(process.events, []);
});

test('a wiped store is given back what the fleet knows, and nobody forgets for a moment', async (t) => {
  const scene = createScene(t);
  const fleet = await fleetOf(scene, 5);
  const tag = await storedRevision(scene);
  scene.wipe();
  for (let turn = 0; turn < 100; turn += 1) {
    await scene.pass(10);
    assert.ok(fleet.every((process) => hides(process, 'sold-4')));
  }
  assert.equal(await storedRevision(scene), tag);
  assert.equal(fleet.flatMap(kinds).filter((kind) => kind === 'control-restored').length, 1, 'one of them writes it');
});

test('a drill outlives a wiped store while its owner renews it, and not otherwise', async (t) => {
  const scene = createScene(t);
  const fleet = await fleetOf(scene, 3);
  const [owner] = fleet;
  assert.ok(owner);
  const asked = {
    drill: 'd',
    owner: 'o',
    leaseMs: 2000,
    mode: 'drop',
    ranges: WHOLE,
    blackout: true,
    cohorts: [],
  } as const;
  await scene.settle(owner.control.change((one) => beginOverlay(one, asked)));
  const renewed = async (seconds: number): Promise<void> => {
    for (let turn = 0; turn < seconds * 2; turn += 1) {
      await scene.settle(owner.control.renew());
      await scene.pass(490);
      assert.ok(owner.control.overlay()?.blackout);
    }
  };
  await renewed(5);
  scene.wipe();
  await renewed(5);
  assert.ok(fleet.every(({ control }) => control.overlay()?.drill === 'd'));
  scene.wipe();
  const tookMs = await scene.until(() => fleet.every(({ control }) => control.overlay() === undefined));
  assert.ok(tookMs <= 3000, `${tookMs} ms`);
  await scene.pass(1000);
  assert.ok(fleet.every(({ control }) => control.document().overlay === undefined));
});

test('a store put back to an earlier state is told the newer one', async (t) => {
  const scene = createScene(t);
  const fleet = await fleetOf(scene, 3);
  const earlier = await scene.settle(scene.store.read('goods', undefined, 0));
  assert.ok(earlier.kind === 'value');
  const [first] = fleet;
  await scene.settle(first?.control.change((one) => raiseFloors(one, WHOLE, 1)) ?? Promise.reject());
  await scene.pass(1000);
  const newest = await storedRevision(scene);
  await scene.write({ tag: earlier.tag, value: earlier.value });
  await scene.pass(1000);
  assert.equal(await storedRevision(scene), newest);
  assert.deepEqual(revisions(fleet), [6, 6, 6]);
});

test('what a newcomer has changed in a wiped store is joined with what the others know', async (t) => {
  const scene = createScene(t);
  const fleet = await fleetOf(scene, 3);
  for (const process of fleet) process.meets('away');
  scene.wipe();
  const newcomer = scene.join('newcomer');
  await scene.settle(newcomer.control.change((one) => purge(one, 'shoes', WALL_MS)));
  await scene.settle(newcomer.control.change((one) => suppress(one, ['banned'], 2)));
  await scene.pass(5000);
  for (const process of fleet) process.meets('well');
  await scene.pass(2000);
  const all = [...fleet, newcomer];
  for (const process of all) {
    assert.ok(hides(process, 'sold-0') && hides(process, 'sold-4') && hides(process, 'banned'));
    assert.deepEqual(process.control.document(), newcomer.control.document());
    assert.equal(process.control.document().purges[0]?.text, 'shoes');
  }
  const generation = newcomer.control.rules.generation();
  assert.equal(newcomer.control.document().purges[0]?.generation, generation, 'it holds for what the others numbered');
});

test('while the store is away the last known stays, it is said once, and a change says that nobody knows', async (t) => {
  const scene = createScene(t);
  const [process] = await fleetOf(scene, 1);
  assert.ok(process);
  process.events.length = 0;
  process.meets('away');
  await scene.pass(5000);
  assert.ok(hides(process, 'sold-0'));
  assert.ok(process.control.state().heardMsAgo >= 4000);
  const change = process.control.change((one) => suppress(one, ['more'], 1));
  await assert.rejects(scene.settle(change), { code: 'control-unavailable' });
  assert.ok(!hides(process, 'more'));
  assert.equal(await scene.settle(process.control.renew()), false);
  assert.equal(await scene.settle(process.control.reports()), undefined);
  process.meets('well');
  await scene.pass(1000);
  assert.deepEqual(kinds(process), ['control-away', 'control-back']);
  assert.ok(process.control.state().heardMsAgo < 1000);
});

test('a change whose reply was lost is made once', async (t) => {
  const scene = createScene(t);
  const [process, other] = await fleetOf(scene, 2);
  assert.ok(process && other);
  const change = process.control.change((one) => {
    process.meets('deaf');
    setTimeout(() => process.meets('well'), 15);
    return raiseFloors(one, WHOLE, 1);
  });
  const { before, after } = await scene.settle(change);
  await scene.pass(1000);
  assert.deepEqual([after.revision, after.generation], [6, before.generation + 1]);
  assert.deepEqual(other.control.document(), after);
});

test('a change whose reply is lost for good is said to be unknown, and followed when it is found', async (t) => {
  const scene = createScene(t);
  const [process, other] = await fleetOf(scene, 2);
  assert.ok(process && other);
  const change = process.control.change((one) => {
    process.meets('deaf');
    return suppress(one, ['more'], 1);
  });
  await assert.rejects(scene.settle(change), { code: 'control-unavailable', message: /made or not/ });
  assert.ok(!hides(process, 'more'));
  process.meets('well');
  await scene.pass(1000);
  assert.ok(hides(process, 'more') && hides(other, 'more'));
});

test('what another version has written is left alone and said once; deleted, it is written anew', async (t) => {
  const scene = createScene(t);
  const [process] = await fleetOf(scene, 1);
  assert.ok(process);
  process.events.length = 0;
  await scene.write({ tag: '9-abc', value: Buffer.from('{"format":2}') });
  await scene.pass(5000);
  assert.deepEqual(kinds(process), ['control-corrupt']);
  assert.ok(hides(process, 'sold-0'));
  const change = process.control.change((one) => suppress(one, ['more'], 1));
  await assert.rejects(scene.settle(change), {
    code: 'control-unavailable',
    message: /format 2.*another version.*is not written over here.*deleted/,
  });
  assert.equal(await storedRevision(scene), '9-abc');
  scene.wipe();
  await scene.pass(1000);
  assert.match(await storedRevision(scene), /^5-/);
});
