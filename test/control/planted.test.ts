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
import { createScene, type Process, type Scene } from './scene.ts';

const hides = ({ control }: Process, id = 'banned'): boolean => control.rules.hides()?.(id) === true;
const kinds = ({ events }: Process): string[] => events.map(({ kind }) => kind);
const planted = (fields: Partial<ControlDocument>) =>
  encodeDocument({ ...emptyDocument, revision: 1, stamp: 'planted', ...fields });
const storedTag = async (scene: Scene): Promise<string> => {
  const read = await scene.settle(scene.store.read('goods', undefined, 0));
  return read.kind === 'value' ? read.tag : read.kind;
};

/** A fleet that hides one document. */
async function fleetOf(scene: Scene, size = 2): Promise<readonly [Process, ...Process[]]> {
  const first = scene.join('first');
  const others = Array.from({ length: size - 1 }, (_, index) => scene.join(`other-${index}`));
  await scene.pass(1000);
  await scene.settle(first.control.change((one) => suppress(one, ['banned'], 1)));
  await scene.pass(1000);
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
  test(`a planted document with ${name} changes nothing, is written over, and nobody starts with it`, async (t) => {
    const scene = createScene(t);
    const fleet = await fleetOf(scene);
    const good = await storedTag(scene);
    const { revision, generation } = fleet[0].control.document();
    await scene.write(value);
    const newcomer = scene.join('newcomer');
    await scene.until(() => newcomer.control.heard(), 5000);
    assert.ok(hides(newcomer), 'heard without the suppressions');
    assert.equal(await storedTag(scene), good);
    for (const { control } of fleet) {
      assert.deepEqual([control.document().revision, control.document().generation], [revision, generation]);
    }
    assert.ok(fleet.every((process) => hides(process)));
    const reasons = fleet.flatMap(kinds).filter((kind) => kind === 'control-corrupt');
    assert.ok(reasons.length > 0 && reasons.length <= fleet.length, 'said once by each');
    await scene.settle(fleet[0].control.change((one) => suppress(one, ['next'], 2)));
    assert.ok(hides(fleet[0], 'next'));
  });
}

test('a step that no fleet takes is refused by who knows better, and joined through one who does not', async (t) => {
  const scene = createScene(t);
  const fleet = await fleetOf(scene);
  const good = await storedTag(scene);
  const step = planted({ revision: 5_000_000, generation: 300_000_000 });
  await scene.write(step);
  await scene.pass(2000);
  assert.equal(await storedTag(scene), good);
  const newcomer = scene.join('newcomer');
  await scene.pass(1000);
  assert.ok(hides(newcomer));

  await scene.write(step);
  const early = scene.join('early');
  const all = [...fleet, newcomer, early];
  await scene.pass(10_000);
  assert.ok(all.every((process) => hides(process)));
  const settled = await storedTag(scene);
  assert.ok(all.every(({ control }) => tagOf(control.document()) === settled));
  await scene.pass(10_000);
  assert.equal(await storedTag(scene), settled, 'they no longer write over each other');
});

test('a process that knows no document does not hear a corrupt one, says why a change is refused, and goes on when it is deleted', async (t) => {
  const scene = createScene(t);
  await scene.write({ tag: '9-x', value: Buffer.from('{') });
  const alone = scene.join('alone');
  assert.equal(alone.control.state().standing, 'unheard');
  await scene.pass(5000);
  assert.equal(alone.control.heard(), false);
  assert.equal(alone.control.state().standing, 'corrupt');
  assert.deepEqual(kinds(alone), ['control-corrupt'], 'said once');
  const change = alone.control.change((one) => suppress(one, ['banned'], 1));
  await assert.rejects(scene.settle(change), { code: 'control-unavailable', message: /no JSON.*deleted/ });
  assert.equal(await storedTag(scene), '9-x');
  scene.wipe();
  await scene.pass(1000);
  assert.equal(alone.control.state().standing, 'ok');
  await scene.settle(alone.control.change((one) => suppress(one, ['banned'], 1)));
  assert.ok(alone.control.heard() && hides(alone));
});

test('a change made while a corrupt document is stored restores the known one first and is made once', async (t) => {
  const scene = createScene(t);
  const [process, other] = await fleetOf(scene);
  assert.ok(other);
  await scene.write({ tag: '9-x', value: Buffer.from('{') });
  const { before, after } = await scene.settle(process.control.change((one) => suppress(one, ['more'], 1)));
  assert.equal(after.revision, before.revision + 1);
  await scene.pass(1000);
  assert.ok(hides(other) && hides(other, 'more'));
});

test('content changed under the known tag is found within seconds and written over', async (t) => {
  const scene = createScene(t);
  const [process] = await fleetOf(scene, 1);
  const { suppressed: _, ...rest } = process.control.document();
  await scene.write(encodeDocument({ ...rest, suppressed: [] }));
  await scene.pass(15_000);
  const newcomer = scene.join('newcomer');
  await scene.until(() => newcomer.control.heard());
  assert.ok(hides(newcomer) && hides(process));
});

test('an unrelated document is joined and drops no suppression and no purge, however many it carries', async (t) => {
  const scene = createScene(t);
  const [process] = await fleetOf(scene, 1);
  await scene.settle(process.control.change((one) => purge(one, 'shoes', 1_800_000_000_000)));
  const { generation } = process.control.document();
  const higher = { generation: generation + 1000, atMs: 1_800_000_000_000 };
  await scene.write(
    planted({
      revision: 900,
      generation: generation + 1000,
      purges: Array.from({ length: MAX_PURGES }, (_, index) => ({ text: `junk ${index}`, ...higher })),
      suppressed: Array.from({ length: MAX_MERGED_SUPPRESSED - 1 }, (_, index) => ({ id: `junk ${index}`, ...higher })),
    }),
  );
  await scene.pass(2000);
  assert.ok(hides(process));
  const { purges, ranges } = process.control.document();
  assert.equal(purges.length, MAX_PURGES);
  const isPurged = purges.some(({ text }) => text === 'shoes') || ranges.every(({ floor }) => floor >= generation);
  assert.ok(isPurged && ranges.length > 0, 'what was purged is flushed with everything');

  await scene.write(
    planted({
      revision: 2000,
      stamp: 'more',
      generation: generation + 1000,
      suppressed: Array.from({ length: MAX_MERGED_SUPPRESSED }, (_, index) => ({ id: `other ${index}`, ...higher })),
    }),
  );
  await scene.pass(2000);
  assert.ok(hides(process), 'what cannot be joined is corrupt');
  assert.equal(await storedTag(scene), tagOf(process.control.document()));
});

test('counters that somebody put at their limit leave room again as time passes', async (t) => {
  const scene = createScene(t);
  await scene.write(planted({ revision: 1, generation: 1 }));
  const alone = scene.join('alone');
  await scene.pass(200);
  const limitOf = (message: string): number => Number(/above (\d+), the most/.exec(message)?.[1]);
  const refused = alone.control.change((one) => ({ ...one, generation: 2 ** 31 }));
  const limit = await scene.settle(
    refused.then(
      () => Number.NaN,
      (error: Error) => limitOf(error.message),
    ),
  );
  assert.ok(limit < MAX_GENERATION, String(limit));
  scene.wipe();
  await scene.write(planted({ revision: 1, stamp: 'limit', generation: limit }));
  const newcomer = scene.join('newcomer');
  await scene.until(() => newcomer.control.heard(), 5000);
  for (let change = 0; change < 3; change += 1) {
    await scene.pass(2000);
    await scene.settle(newcomer.control.change((one) => suppress(one, [`sold-${change}`], 1)));
  }
  assert.ok(newcomer.control.document().generation > limit);
});
