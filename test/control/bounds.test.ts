import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suppress } from '../../src/control/changes.ts';
import { changeDocument, createControl } from '../../src/control/create-control.ts';
import { emptyDocument, MAX_RANGES } from '../../src/control/document.ts';
import { beginOverlay, changeOverlay } from '../../src/control/overlay.ts';
import { createMemoryControlStore } from '../../src/stores/memory/control-store.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { idle } from '../fakes/idle.ts';
import { ASKED, createHarness, kinds } from './harness.ts';

const comb = (count: number) => Array.from({ length: count }, (_, at) => ({ from: at * 200, to: at * 200 + 100 }));

test('changes beyond the maximum that may wait are refused, and those that wait are made', async (t) => {
  const harness = createHarness(t);
  const { control } = harness.join('alone');
  const all = Array.from({ length: 80 }, (_, index) => control.change((one) => suppress(one, [`${index}`], 1)));
  const done = await harness.settle(Promise.allSettled(all));
  const refused = done.filter((one) => one.status === 'rejected');
  assert.ok(refused.length > 10 && refused.length < 20, `${refused.length}`);
  for (const { reason } of refused) assert.match(String(reason), /too many changes/);
  assert.equal(control.document().suppressed.length, 80 - refused.length);
  await harness.settle(control.change((one) => suppress(one, ['later'], 1)));
});

test('a change is given up after 64 conflicts with other writers', async () => {
  let swaps = 0;
  const follower = {
    read: async () =>
      ({ kind: 'valid', expected: undefined, newest: emptyDocument, writeBack: undefined, isBehind: false }) as const,
    swap: async () => {
      swaps += 1;
      return swaps > 1000 ? ('done' as const) : ('conflict' as const);
    },
  };
  const changing = changeDocument((one) => suppress(one, ['sold'], 1), {
    domain: 'goods',
    follower,
    wallMs: () => 0,
    random: () => 0,
    stamp: () => 'a',
    longestLifeMs: 1000,
  });
  await assert.rejects(changing, { code: 'control-unavailable', message: /64 others/ });
  assert.equal(swaps, 64);
});

test('a drill with more ranges than a document may hold is refused, at its start and at every stage', () => {
  const full = beginOverlay(emptyDocument, { ...ASKED, ranges: comb(MAX_RANGES) });
  assert.equal(full.overlay?.ranges.length, MAX_RANGES);
  const more = comb(MAX_RANGES + 1);
  assert.throws(() => beginOverlay(emptyDocument, { ...ASKED, ranges: more }), { code: 'control-full' });
  assert.throws(() => changeOverlay(full, ASKED.drill, { ranges: more }), { code: 'control-full' });
});

test('close waits for the poll under way, and no poll follows', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  const memory = createMemoryControlStore({ clock });
  const reply = Promise.withResolvers<void>();
  let reads = 0;
  const control = createControl({
    domain: 'goods',
    store: {
      ...memory,
      read: async (...args) => {
        reads += 1;
        await reply.promise;
        return memory.read(...args);
      },
    },
    shared: true,
    locate: () => undefined,
    clock,
    random: () => 0,
    observe: () => {},
    longestLifeMs: 1000,
    intervalMs: 1,
  });
  let isClosed = false;
  const closing = control.close().then(() => {
    isClosed = true;
  });
  await idle();
  assert.deepEqual([isClosed, reads], [false, 1]);
  reply.resolve();
  await closing;
  t.mock.timers.tick(60_000);
  await idle();
  assert.equal(reads, 1);
});

test('a store is not away while the first connection is made; one that stays down is reported once', async (t) => {
  const harness = createHarness(t);
  const [slow, silent] = [harness.join('slow'), harness.join('silent')];
  for (const process of [slow, silent]) process.storeIs('down');
  await harness.pass(1500);
  slow.storeIs('up');
  assert.ok(
    (await harness.until(() => slow.control.hasSynced())) <= 200,
    'polls are frequent until the first valid read',
  );
  await harness.pass(2000);
  assert.deepEqual(slow.events, []);
  const synced = harness.join('synced');
  await harness.pass(500);
  synced.storeIs('down');
  await harness.pass(1200);
  assert.deepEqual(kinds(synced), ['control-away'], 'a store that was read once is reported at once');
  assert.deepEqual(kinds(silent), ['control-away']);
  silent.storeIs('up');
  await harness.pass(500);
  assert.deepEqual(kinds(silent), ['control-away', 'control-back']);
});
