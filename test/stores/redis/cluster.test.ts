import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import slotOf from 'cluster-key-slot';
import { createRefresher } from '../../../src/stores/redis/cluster.ts';

test('slots are CRC16 modulo 16384', () => {
  // 0x31C3 is the published check value of this CRC; the others are what CLUSTER KEYSLOT answers.
  assert.equal(slotOf('123456789'), 0x31c3);
  assert.equal(slotOf('foo'), 12_182);
  assert.equal(slotOf(''), 0);
});

test('only the text in the first braces counts, unless they are empty or not closed', () => {
  assert.equal(slotOf('sc1:goods:{abc}'), slotOf('abc'));
  assert.equal(slotOf('sc1:goods:lease:{abc}'), slotOf('abc'));
  assert.equal(slotOf('{abc}{def}'), slotOf('abc'));
  assert.notEqual(slotOf('{}{abc}'), slotOf('abc'));
  assert.notEqual(slotOf('{abc'), slotOf('abc'));
  assert.equal(slotOf('}{abc}'), slotOf('abc'));
});

function refresher(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const said: string[] = [];
  const created = createRefresher({
    clock: { wallMs: () => Date.now(), monotonicMs: () => Date.now() },
    random: () => 0.5,
    intervalMs: 15_000,
    refresh: (why) => said.push(`${why} ${Date.now()}`),
  });
  return { ...created, said };
}

test('without trouble the slot map is refreshed once per interval', (t) => {
  const { said, close } = refresher(t);
  for (let second = 0; second < 31; second += 1) t.mock.timers.tick(1000);
  assert.deepEqual(said, ['interval 15000', 'interval 30000']);
  close();
});

test('many troubles cause one refresh per second, and the last trouble causes one too', (t) => {
  const { said, soon, close } = refresher(t);
  t.mock.timers.tick(5000);
  for (let ms = 0; ms < 2500; ms += 1) {
    soon();
    t.mock.timers.tick(1);
  }
  for (let ms = 0; ms < 5000; ms += 1) t.mock.timers.tick(1);
  assert.deepEqual(said, ['trouble 5001', 'trouble 6001', 'trouble 7001', 'trouble 8001']);
  close();
});

test('after close there is no refresh', (t) => {
  const { said, soon, close } = refresher(t);
  soon();
  close();
  soon();
  t.mock.timers.tick(60_000);
  assert.deepEqual(said, []);
});
