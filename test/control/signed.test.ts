import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSigning, type SigningKeys, seal } from '../../src/cache/signing.ts';
import { lift, suppress } from '../../src/control/changes.ts';
import { encodeDocument } from '../../src/control/document-codec.ts';
import { descendant } from '../../src/control/merge.ts';
import { createHarness, type Harness, hides, kinds, type Process } from './harness.ts';

const [OLD, NEW, FOREIGN] = ['o'.repeat(32), 'n'.repeat(32), 'f'.repeat(32)];
const KEYS: SigningKeys = { key: OLD, required: true };
const stored = async (harness: Harness): Promise<string> => {
  const read = await harness.settle(harness.store.read('goods', undefined, 0));
  return read.kind === 'value' ? read.value.toString() : read.kind;
};
const suppressed = async (harness: Harness, { control }: Process, id = 'banned'): Promise<void> => {
  await harness.settle(control.change((one) => suppress(one, [id], 1)));
  await harness.pass(1000);
};
/** Holds the known ancestors without the suppressions: the best forgery without a key. */
const forgedFrom = ({ control }: Process) => {
  const known = control.document();
  return encodeDocument(descendant(lift(known, ['banned']), known, 'forged'));
};

test('without keys a forged descendant is adopted', async (t) => {
  const harness = createHarness(t);
  const unkeyed = harness.join('unkeyed');
  await suppressed(harness, unkeyed);
  await harness.write(forgedFrom(unkeyed));
  await harness.pass(1000);
  assert.ok(!hides(unkeyed));
});

test('a process with keys writes over a forged descendant, unsigned or signed with another key', async (t) => {
  const harness = createHarness(t);
  const keyed = harness.join('keyed', 0, { keys: KEYS });
  await suppressed(harness, keyed);
  const good = await stored(harness);
  assert.match(good, /^s1\./);
  const forged = forgedFrom(keyed);
  const foreign = createSigning({ key: FOREIGN, required: true }, 'goods');
  for (const value of [forged.value, seal(foreign, 'document', '', forged.value)]) {
    await harness.write({ ...forged, value });
    const newcomer = harness.join('newcomer', 0, { keys: KEYS });
    await harness.until(() => newcomer.control.hasSynced());
    assert.ok(hides(newcomer) && hides(keyed));
    assert.equal(await stored(harness), good);
  }
  assert.equal(kinds(keyed).filter((kind) => kind === 'control-unsigned').length, 2);
});

test('two fleets with different keys at one store write over each other once a second at most', async (t) => {
  const harness = createHarness(t);
  const one = harness.join('one', 0, { keys: KEYS });
  await suppressed(harness, one);
  harness.wipe();
  one.storeIs('down');
  const other = harness.join('other', 0, { keys: { key: FOREIGN, required: true } });
  await suppressed(harness, other);
  one.storeIs('up');
  await harness.pass(10_000);
  for (const process of [one, other]) {
    const restored = kinds(process).filter((kind) => kind === 'control-restored').length;
    assert.ok(restored >= 5 && restored <= 10, `${restored} in 10 s`);
    assert.ok(hides(process));
  }
});

test('keys can be introduced one process after another without losing the document', async (t) => {
  const harness = createHarness(t);
  const plain = harness.join('plain');
  await suppressed(harness, plain);
  assert.match(await stored(harness), /^\{/);
  const accepting = harness.join('accepting', 0, { keys: { key: OLD, required: false } });
  await harness.pass(1000);
  assert.ok(hides(accepting));
  assert.match(await stored(harness), /^s1\./, 'it signs the document that it has read');
  // A process without keys reads it, and writes it unsigned.
  await suppressed(harness, plain, 'second');
  assert.ok(hides(accepting, 'second'));
  assert.match(await stored(harness), /^s1\./);
  plain.storeIs('down');
  const strict = harness.join('strict', 0, { keys: KEYS });
  await harness.pass(1000);
  assert.ok(strict.control.hasSynced() && hides(strict) && hides(strict, 'second'));
});

test('a key can be replaced while all processes accept each other at every step', async (t) => {
  const harness = createHarness(t);
  const steps: readonly SigningKeys[] = [
    { key: OLD, required: true },
    { key: OLD, previousKey: NEW, required: true },
    { key: NEW, previousKey: OLD, required: true },
    { key: NEW, required: true },
  ];
  let fleet: Process[] = [];
  for (const [step, keys] of steps.entries()) {
    // A rolling restart: the processes of the step before still run.
    const next = [harness.join(`a${step}`, 0, { keys }), harness.join(`b${step}`, 0, { keys })];
    await harness.pass(1000);
    for (const [index, process] of [...fleet, ...next].entries())
      await suppressed(harness, process, `${step}-${index}`);
    await harness.pass(1000);
    for (const process of [...fleet, ...next]) {
      assert.ok(hides(process, '0-0') && hides(process, `${step}-0`), `step ${step}`);
      assert.deepEqual(
        kinds(process).filter((kind) => kind === 'control-unsigned' || kind === 'control-corrupt'),
        [],
        `step ${step}`,
      );
    }
    for (const process of fleet) process.storeIs('down');
    fleet = next;
    // Until the document was read whole again and signed with the key of this step.
    await harness.pass(11_000);
  }
});

test('reports signed with a configured key and stored under their own id are accepted, and the others are counted', async (t) => {
  const harness = createHarness(t);
  const [one, other] = [harness.join('one', 0, { keys: KEYS }), harness.join('other', 0, { keys: KEYS })];
  const unkeyed = harness.join('unkeyed');
  await harness.pass(1000);
  await harness.settle(one.control.report('process:one', { hits: 1 }));
  const read = await harness.settle(harness.store.reports('goods', 0));
  assert.ok(read.kind === 'reports');
  const value = read.reports[0]?.value ?? Buffer.alloc(0);
  await harness.settle(harness.store.report('goods', 'process:copied', value, 10_000, 0));
  await harness.settle(harness.store.report('goods', 'drill', Buffer.from('{"marks":[null]}'), 10_000, 0));
  const heard = await harness.settle(other.control.reports());
  assert.deepEqual([...(heard ?? [])], [['process:one', { hits: 1 }]]);
  assert.deepEqual(
    other.events.filter(({ kind }) => kind === 'control-reports-refused'),
    [{ kind: 'control-reports-refused', domain: 'goods', count: 2 }],
  );
  assert.equal((await harness.settle(unkeyed.control.reports()))?.size, 3);
});
