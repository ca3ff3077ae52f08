import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Shed } from '../../src/resilience/guard.ts';
import { idle } from '../fakes/idle.ts';
import { guardRig as rig } from './guard-rig.ts';

const breakerOpen = (error: unknown): boolean => error instanceof Shed && error.why === 'breaker-open';

test('while it is forced open nothing is asked, the engine counts as troubled, and no breaker learns of it', async (t) => {
  let dead = false;
  const { guard, run, events } = rig(t, { forcedOpen: () => dead, opensAfter: 1 });
  assert.equal(await run(async () => 'ok'), 'ok');
  dead = true;
  assert.equal(guard.troubled(), true);
  await assert.rejects(
    run(async () => assert.fail('must not be asked')),
    breakerOpen,
  );
  dead = false;
  assert.equal(guard.troubled(), false);
  assert.equal(await run(async () => 'ok'), 'ok');
  assert.deepEqual(
    events.filter(({ kind }) => kind === 'breaker'),
    [],
  );
});

test('who waits for a place when it is forced open is shed when its turn comes, and the place goes back', async (t) => {
  let dead = false;
  const { permit, run } = rig(t, { forcedOpen: () => dead, maxConcurrent: 1 });
  const going = Promise.withResolvers<string>();
  const first = run(() => going.promise);
  const second = run(async () => assert.fail('must not be asked'));
  const refused = assert.rejects(second, breakerOpen);
  await idle();
  dead = true;
  going.resolve('ok');
  assert.equal(await first, 'ok');
  await refused;
  assert.equal(permit.inFlight(), 0);
});
