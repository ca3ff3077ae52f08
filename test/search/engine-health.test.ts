import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngineHealth } from '../../src/search/engine-health.ts';
import { idle } from '../fakes/idle.ts';

test('an engine that stops answering its probe is not reachable, and is again when it answers', async (t) => {
  let up = true;
  const told: boolean[] = [];
  const engine = {
    probe: async (signal: AbortSignal): Promise<void> => {
      if (up) return;
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  };
  const health = createEngineHealth({
    engines: [engine],
    intervalMs: 5,
    timeoutMs: 10,
    random: () => 0.5,
    onProbe: (_, answers) => told.push(answers),
  });
  t.after(health.close);
  const becomes = async (wanted: boolean): Promise<void> => {
    for (let i = 0; i < 500 && health.reachable()[0] !== wanted; i += 1)
      await new Promise((done) => setTimeout(done, 5));
    assert.deepEqual(health.reachable(), [wanted]);
  };
  await becomes(true);
  up = false;
  await becomes(false);
  up = true;
  await becomes(true);
  assert.ok(told.includes(true) && told.includes(false), 'each probe is told');
});

test('it asks at its interval, one probe at a time, and once closed no more', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const told: boolean[] = [];
  let probes = 0;
  let reply = Promise.withResolvers<void>();
  const engine = {
    probe: (): Promise<void> => {
      probes += 1;
      return reply.promise;
    },
  };
  const health = createEngineHealth({
    engines: [engine],
    intervalMs: 1000,
    timeoutMs: 60_000,
    random: () => 0.5,
    onProbe: (_, answers) => told.push(answers),
  });
  t.after(health.close);
  const pass = async (ms: number): Promise<number> => {
    t.mock.timers.tick(ms);
    await idle();
    return probes;
  };
  assert.equal(await pass(5000), 1, 'the first is under way');
  reply.resolve();
  assert.deepEqual([await pass(0), await pass(999)], [1, 1]);
  reply = Promise.withResolvers();
  assert.equal(await pass(1), 2);
  health.close();
  reply.resolve();
  assert.deepEqual([await pass(5000), told], [2, [true]]);
});

test('an engine whose searches all fail is failing, until one is answered', (t) => {
  const engine = { probe: async (): Promise<void> => undefined };
  const health = createEngineHealth({
    engines: [engine],
    intervalMs: 1000,
    timeoutMs: 10,
    random: () => 0.5,
    onProbe: () => undefined,
  });
  t.after(health.close);
  for (let i = 0; i < 4; i += 1) health.note({ result: 'engine-rejected' });
  assert.equal(health.failing(), false);
  health.note({ result: 'engine-unavailable' });
  assert.equal(health.failing(), true);
  health.note({ result: 'empty' });
  assert.equal(health.failing(), false);
});
