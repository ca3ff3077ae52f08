import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSigning, type SigningKeys, seal } from '../../src/cache/signing.ts';
import { lift, suppress } from '../../src/control/changes.ts';
import { encodeDocument } from '../../src/control/document-codec.ts';
import { descendant } from '../../src/control/merge.ts';
import { createScene, type Process, type Scene } from './scene.ts';

const [OLD, NEW, FOREIGN] = ['o'.repeat(32), 'n'.repeat(32), 'f'.repeat(32)];
const KEYS: SigningKeys = { key: OLD, required: true };
const hides = ({ control }: Process, id = 'banned'): boolean => control.rules.hides()?.(id) === true;
const kinds = ({ events }: Process): string[] => events.map(({ kind }) => kind);
const stored = async (scene: Scene): Promise<string> => {
  const read = await scene.settle(scene.store.read('goods', undefined, 0));
  return read.kind === 'value' ? read.value.toString() : read.kind;
};
const suppressed = async (scene: Scene, { control }: Process, id = 'banned'): Promise<void> => {
  await scene.settle(control.change((one) => suppress(one, [id], 1)));
  await scene.pass(1000);
};
/** Carries the known tags and lacks the suppressions: the best that somebody without a key can do. */
const forgedFrom = ({ control }: Process) => {
  const known = control.document();
  return encodeDocument(descendant(lift(known, ['banned']), known, 'forged'));
};

test('a forged descendant is believed without keys: what signing is for', async (t) => {
  const scene = createScene(t);
  const unkeyed = scene.join('unkeyed');
  await suppressed(scene, unkeyed);
  await scene.write(forgedFrom(unkeyed));
  await scene.pass(1000);
  assert.ok(!hides(unkeyed));
});

test('a forged descendant, unsigned or signed with another key, is written over by who has keys', async (t) => {
  const scene = createScene(t);
  const keyed = scene.join('keyed', 0, { keys: KEYS });
  await suppressed(scene, keyed);
  const good = await stored(scene);
  assert.match(good, /^s1\./);
  const forged = forgedFrom(keyed);
  const foreign = createSigning({ key: FOREIGN, required: true }, 'goods');
  for (const value of [forged.value, seal(foreign, 'document', '', forged.value)]) {
    await scene.write({ ...forged, value });
    const newcomer = scene.join('newcomer', 0, { keys: KEYS });
    await scene.until(() => newcomer.control.heard());
    assert.ok(hides(newcomer) && hides(keyed));
    assert.equal(await stored(scene), good);
  }
  assert.equal(kinds(keyed).filter((kind) => kind === 'control-unsigned').length, 2);
});

test('two fleets with other keys at one store write over each other once a second at most', async (t) => {
  const scene = createScene(t);
  const one = scene.join('one', 0, { keys: KEYS });
  await suppressed(scene, one);
  scene.wipe();
  one.meets('away');
  const other = scene.join('other', 0, { keys: { key: FOREIGN, required: true } });
  await suppressed(scene, other);
  one.meets('well');
  await scene.pass(10_000);
  for (const process of [one, other]) {
    const restored = kinds(process).filter((kind) => kind === 'control-restored').length;
    assert.ok(restored >= 5 && restored <= 10, `${restored} in 10 s`);
    assert.ok(hides(process));
  }
});

test('keys are introduced one process after another, and no document is lost on the way', async (t) => {
  const scene = createScene(t);
  const plain = scene.join('plain');
  await suppressed(scene, plain);
  assert.match(await stored(scene), /^\{/);
  const accepting = scene.join('accepting', 0, { keys: { key: OLD, required: false } });
  await scene.pass(1000);
  assert.ok(hides(accepting));
  assert.match(await stored(scene), /^s1\./, 'it signs what it has read');
  // A process without keys reads it, and writes it unsigned.
  await suppressed(scene, plain, 'second');
  assert.ok(hides(accepting, 'second'));
  assert.match(await stored(scene), /^s1\./);
  plain.meets('away');
  const strict = scene.join('strict', 0, { keys: KEYS });
  await scene.pass(1000);
  assert.ok(strict.control.heard() && hides(strict) && hides(strict, 'second'));
});

test('a key is exchanged without a moment in which processes do not believe each other', async (t) => {
  const scene = createScene(t);
  const steps: readonly SigningKeys[] = [
    { key: OLD, required: true },
    { key: OLD, previousKey: NEW, required: true },
    { key: NEW, previousKey: OLD, required: true },
    { key: NEW, required: true },
  ];
  let fleet: Process[] = [];
  for (const [step, keys] of steps.entries()) {
    // One after another is started anew; those of the step before still run meanwhile.
    const next = [scene.join(`a${step}`, 0, { keys }), scene.join(`b${step}`, 0, { keys })];
    await scene.pass(1000);
    for (const [index, process] of [...fleet, ...next].entries()) await suppressed(scene, process, `${step}-${index}`);
    await scene.pass(1000);
    for (const process of [...fleet, ...next]) {
      assert.ok(hides(process, '0-0') && hides(process, `${step}-0`), `step ${step}`);
      assert.deepEqual(
        kinds(process).filter((kind) => kind === 'control-unsigned' || kind === 'control-corrupt'),
        [],
        `step ${step}`,
      );
    }
    for (const process of fleet) process.meets('away');
    fleet = next;
    // Until the document was read whole again, and signed with the key of this step.
    await scene.pass(11_000);
  }
});

test('reports of others are believed with a key of ours and under their own id, and the rest is counted', async (t) => {
  const scene = createScene(t);
  const [one, other] = [scene.join('one', 0, { keys: KEYS }), scene.join('other', 0, { keys: KEYS })];
  const unkeyed = scene.join('unkeyed');
  await scene.pass(1000);
  await scene.settle(one.control.report('process:one', { hits: 1 }));
  const read = await scene.settle(scene.store.reports('goods', 0));
  assert.ok(read.kind === 'reports');
  const value = read.reports[0]?.value ?? Buffer.alloc(0);
  await scene.settle(scene.store.report('goods', 'process:copied', value, 10_000, 0));
  await scene.settle(scene.store.report('goods', 'drill', Buffer.from('{"marks":[null]}'), 10_000, 0));
  const heard = await scene.settle(other.control.reports());
  assert.deepEqual([...(heard ?? [])], [['process:one', { hits: 1 }]]);
  assert.deepEqual(
    other.events.filter(({ kind }) => kind === 'control-reports-refused'),
    [{ kind: 'control-reports-refused', domain: 'goods', count: 2 }],
  );
  assert.equal((await scene.settle(unkeyed.control.reports()))?.size, 3);
});
