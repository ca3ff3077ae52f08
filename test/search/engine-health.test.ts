import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngineHealth } from '../../src/search/engine-health.ts';

test('an engine that stops answering its probe is not reachable, and is again when it answers', async (t) => {
  let up = true;
  let probes = 0;
  const told: boolean[] = [];
  const engine = {
    probe: async (signal: AbortSignal): Promise<void> => {
      probes += 1;
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
  health.close();
  const asked = probes;
  await new Promise((done) => setTimeout(done, 50));
  assert.ok(probes <= asked + 1, 'closed, it asks no more');
  assert.ok(told.includes(true) && told.includes(false), 'each probe is told');
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
