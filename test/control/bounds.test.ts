import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suppress } from '../../src/control/changes.ts';
import { changeDocument, createControl } from '../../src/control/create-control.ts';
import { emptyDocument, MAX_RANGES } from '../../src/control/document.ts';
import { beginOverlay, changeOverlay } from '../../src/control/overlay.ts';
import { createMemoryControlStore } from '../../src/stores/memory/control-store.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { idle } from '../fakes/idle.ts';
import { ASKED } from './rehearsal.ts';
import { createScene } from './scene.ts';

const comb = (count: number) => Array.from({ length: count }, (_, at) => ({ from: at * 200, to: at * 200 + 100 }));

test('of more changes at once than may wait the rest is refused, and those that waited are made', async (t) => {
  const scene = createScene(t);
  const { control } = scene.join('alone');
  const all = Array.from({ length: 80 }, (_, index) => control.change((one) => suppress(one, [`${index}`], 1)));
  const done = await scene.settle(Promise.allSettled(all));
  const refused = done.filter((one) => one.status === 'rejected');
  assert.ok(refused.length > 10 && refused.length < 20, `${refused.length}`);
  for (const { reason } of refused) assert.match(String(reason), /too many changes/);
  assert.equal(control.document().suppressed.length, 80 - refused.length);
  await scene.settle(control.change((one) => suppress(one, ['later'], 1)));
});

test('a change that others are always faster than is given up', { timeout: 10_000 }, async () => {
  let puts = 0;
  const follower = {
    look: async () =>
      ({ kind: 'there', expected: undefined, newest: emptyDocument, owed: undefined, hasLost: false }) as const,
    put: async () => {
      puts += 1;
      return puts > 1000 ? ('done' as const) : ('conflict' as const);
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
  assert.equal(puts, 64);
});

test('a drill of more ranges than a document may hold is refused, at its start and at every stage', () => {
  const full = beginOverlay(emptyDocument, { ...ASKED, ranges: comb(MAX_RANGES) });
  assert.equal(full.overlay?.ranges.length, MAX_RANGES);
  const more = comb(MAX_RANGES + 1);
  assert.throws(() => beginOverlay(emptyDocument, { ...ASKED, ranges: more }), { code: 'control-full' });
  assert.throws(() => changeOverlay(full, ASKED.drill, { ranges: more }), { code: 'control-full' });
});

test('closing waits for the poll under way, and nothing is asked after it', async (t) => {
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

test('nobody is away while the first connection is made; a store that stays silent is, once', async (t) => {
  const scene = createScene(t);
  const [slow, silent] = [scene.join('slow'), scene.join('silent')];
  for (const process of [slow, silent]) process.meets('away');
  await scene.pass(1500);
  slow.meets('well');
  assert.ok((await scene.until(() => slow.control.heard())) <= 200, 'it is asked often until it is heard');
  await scene.pass(2000);
  assert.deepEqual(slow.events, []);
  const heard = scene.join('heard');
  await scene.pass(500);
  heard.meets('away');
  await scene.pass(1200);
  assert.deepEqual(
    heard.events.map(({ kind }) => kind),
    ['control-away'],
    'what was heard once is missed at once',
  );
  assert.deepEqual(
    silent.events.map(({ kind }) => kind),
    ['control-away'],
  );
  silent.meets('well');
  await scene.pass(500);
  assert.deepEqual(
    silent.events.map(({ kind }) => kind),
    ['control-away', 'control-back'],
  );
});
