import assert from 'node:assert/strict';
import { test } from 'node:test';
import { halt, suppress } from '../../src/control/changes.ts';
import { emptyDocument } from '../../src/control/document.ts';
import { beginOverlay, changeOverlay, endOverlay } from '../../src/control/overlay.ts';
import { cancelPrepared, commitCutOver, prepareCutOver, settle } from '../../src/control/placement.ts';
import { ASKED, createHarness, drill, isFlushed, LEASE_MS, states, WHOLE } from './harness.ts';
import { storeRef } from './random-document.ts';

test('a renewed drill stays live in all processes beyond its lease time, and its end restores everything', async (t) => {
  const harness = createHarness(t);
  const fleet = ['owner', 'b', 'c', 'd'].map((name, index) => harness.join(name, index * 3_600_000 - 3_600_000));
  const [owner] = fleet;
  assert.ok(owner);
  await harness.pass(1000);
  await drill(harness, owner);
  assert.ok(isFlushed(owner), 'at once in the process that began it');
  assert.ok((await harness.until(() => fleet.every(isFlushed))) < 800);
  for (let turn = 0; turn < 40; turn += 1) {
    await harness.pass(500);
    assert.ok(fleet.every(isFlushed));
  }
  await harness.settle(owner.control.change((document) => endOverlay(document, 'rehearsal')));
  assert.ok(!isFlushed(owner));
  assert.ok((await harness.until(() => !fleet.some(isFlushed))) < 800);
  assert.deepEqual(fleet.map(states), ['live ended', 'live ended', 'live ended', 'live ended']);
});

for (const skewMs of [0, 5000, 3_600_000]) {
  test(`followers of a dead owner drop the overlay within the lease time and a second, with clocks wrong by ${skewMs} ms`, async (t) => {
    const harness = createHarness(t);
    const owner = harness.join('owner', skewMs);
    const fleet = [harness.join('b', -skewMs), harness.join('c', skewMs), harness.join('d', 0)];
    const dying = await drill(harness, owner);
    await harness.pass(10_240);
    assert.ok(fleet.every(isFlushed));
    dying.dies();
    const tookMs = await harness.until(() => !fleet.some(isFlushed));
    assert.ok(tookMs <= LEASE_MS + 1000, `${tookMs} ms`);
    assert.ok(tookMs >= LEASE_MS - 1000, `${tookMs} ms: no follower gives an owner less than its lease time`);
    assert.ok(
      (await harness.until(() => !isFlushed(owner))) < 1000,
      'so does the owner, which is only cut off from the store',
    );
    assert.deepEqual(fleet.map(states), ['live void', 'live void', 'live void']);
    await harness.pass(1000);
    assert.ok(
      fleet.every(({ control }) => control.document().overlay === undefined),
      'the overlay was removed from the document',
    );
    const late = harness.join('late');
    await harness.pass(2000);
    assert.equal(states(late), '', 'a newcomer does not revive it');
  });
}

test('a newcomer gives a drill that it has never seen renewed one lease time', async (t) => {
  const harness = createHarness(t);
  const dying = await drill(harness, harness.join('owner'));
  await harness.pass(1000);
  dying.dies();
  await harness.pass(20_000);
  const late = harness.join('late');
  await harness.until(() => isFlushed(late));
  const tookMs = await harness.until(() => !isFlushed(late));
  assert.ok(tookMs <= LEASE_MS + 1000, `${tookMs} ms`);
  await harness.pass(1000);
  const read = await harness.settle(harness.store.read('goods', undefined, 0));
  assert.ok(read.kind === 'value' && !read.value.toString().includes('rehearsal'));
});

test('a newcomer joins a drill with a live owner', async (t) => {
  const harness = createHarness(t);
  await drill(harness, harness.join('owner'));
  await harness.pass(5000);
  const late = harness.join('late');
  await harness.pass(10 * LEASE_MS);
  assert.ok(isFlushed(late));
  assert.equal(states(late), 'live');
});

test('a follower that is cut off drops the overlay and joins again later, and the drill continues in the other processes', async (t) => {
  const harness = createHarness(t);
  const owner = harness.join('owner');
  const [cut, other] = [harness.join('cut'), harness.join('other')];
  await drill(harness, owner);
  await harness.pass(2000);
  cut.storeIs('down');
  const tookMs = await harness.until(() => !isFlushed(cut));
  assert.ok(tookMs <= LEASE_MS + 1000, `${tookMs} ms`);
  await harness.pass(10_000);
  assert.ok(isFlushed(other) && isFlushed(owner));
  cut.storeIs('up');
  assert.ok((await harness.until(() => isFlushed(cut))) <= 1500);
  await harness.pass(10_000);
  assert.deepEqual([owner, cut, other].map(isFlushed), [true, true, true]);
  assert.equal(states(cut), 'live void live');
});

test('an owner that was cut off for the lease time finds its drill ended', async (t) => {
  const harness = createHarness(t);
  const owner = harness.join('owner');
  const other = harness.join('other');
  await drill(harness, owner);
  await harness.pass(2000);
  owner.storeIs('down');
  await harness.until(() => other.control.document().overlay === undefined);
  owner.storeIs('up');
  const widening = owner.control.change((document) => changeOverlay(document, 'rehearsal', { ranges: WHOLE }));
  await assert.rejects(harness.settle(widening), { code: 'drill-over' });
  assert.ok(!isFlushed(owner));
});

test('a halt ends the drill, and no other may begin', async (t) => {
  const harness = createHarness(t);
  const [owner, operator] = [harness.join('owner'), harness.join('operator')];
  await drill(harness, owner);
  await harness.pass(1000);
  const second = operator.control.change((document) => beginOverlay(document, { ...ASKED, drill: 'second' }));
  await assert.rejects(harness.settle(second), { code: 'drill-running', message: /rehearsal/ });
  await harness.settle(operator.control.change((one) => halt(one, { reason: 'enough', by: 'somebody', atMs: 1 })));
  assert.ok((await harness.until(() => !isFlushed(owner))) < 800);
  const third = owner.control.change((document) => beginOverlay(document, ASKED));
  await assert.rejects(harness.settle(third), { code: 'halted', message: /somebody.*enough/ });
});

test('no drill begins while a cut-over is prepared or committed; one begins after it was cancelled or settled', () => {
  const cutOver = { id: 'c', from: storeRef('old'), to: storeRef('new'), by: 'somebody', atMs: 1 };
  const prepared = prepareCutOver(emptyDocument, cutOver);
  const committed = commitCutOver(prepared, 'c', 2);
  for (const document of [prepared, committed]) {
    assert.throws(() => beginOverlay(document, ASKED), { code: 'cut-over-running', message: /somebody/ });
  }
  for (const document of [cancelPrepared(prepared, 'c'), settle(committed, 'c')]) {
    assert.equal(beginOverlay(document, ASKED).overlay?.drill, ASKED.drill);
  }
});

test('a wiped store counts renewals from zero, which does not extend the lease', async (t) => {
  const harness = createHarness(t);
  const owner = harness.join('owner');
  const fleet = ['b', 'c', 'd', 'e'].map((name) => harness.join(name));
  const dying = await drill(harness, owner);
  await harness.pass(10_000);
  dying.dies();
  await harness.pass(1500);
  harness.wipe();
  const tookMs = await harness.until(() => !fleet.some(isFlushed));
  assert.ok(tookMs + 1500 <= LEASE_MS + 1000, `${tookMs} ms after the wipe`);
});

test('changes of operators do not extend the lease of a dead owner', async (t) => {
  const harness = createHarness(t);
  const [owner, operator, other] = [harness.join('owner'), harness.join('operator'), harness.join('other')];
  const dying = await drill(harness, owner);
  await harness.pass(2000);
  dying.dies();
  let tookMs = 0;
  for (; tookMs <= LEASE_MS + 1000 && (isFlushed(operator) || isFlushed(other)); tookMs += 250) {
    void operator.control.change((one) => suppress(one, [`sold-${tookMs}`], 1));
    await harness.pass(250);
  }
  assert.ok(!isFlushed(operator) && !isFlushed(other));
  for (const process of [operator, other])
    assert.match(states(process), /^live (void|ended)$/, 'the drill did not begin twice');
});

test('renewals do not extend the lease while the document cannot be read, since it may have ended the drill', async (t) => {
  const harness = createHarness(t);
  const [owner, other] = [harness.join('owner'), harness.join('other')];
  await drill(harness, owner);
  await harness.pass(2000);
  await harness.write({ tag: '99-later', value: Buffer.from('{"format":3}') });
  const tookMs = await harness.until(() => !isFlushed(other));
  assert.ok(tookMs <= LEASE_MS + 1000, `${tookMs} ms`);
});
