import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createRefresher } from '../../../src/stores/redis/cluster.ts';

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
