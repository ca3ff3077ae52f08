import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../loadtest/random.ts';
import { createControl } from '../../../src/control/create-control.ts';
import { endOverlay } from '../../../src/control/overlay.ts';
import { createDrillLock } from '../../../src/operations/drills/drill-lock.ts';
import { createMemoryControlStore } from '../../../src/stores/memory/control-store.ts';
import { createFakeClock } from '../../fakes/clock.ts';

const LEASE_MS = 3000;

async function acquiredLock() {
  const clock = createFakeClock();
  const control = createControl({
    ...{ domain: 'goods', store: createMemoryControlStore({ clock }), clock, random: seededRandom(1), shared: true },
    ...{ longestLifeMs: 3_600_000, locate: () => undefined, observe: () => {} },
  });
  const told = { renewals: true, changes: 0 };
  const lock = createDrillLock({
    control: {
      ...control,
      renew: async () => told.renewals,
      change: (change) => {
        told.changes += 1;
        return control.change(change);
      },
    },
    overlay: { drill: 'd1', owner: 'here', leaseMs: LEASE_MS, mode: 'drop', cohorts: [] },
    flushed: undefined,
    nowMs: clock.monotonicMs,
    sleep: async () => {},
  });
  await lock.acquire();
  const endElsewhere = () => control.change((document) => endOverlay(document, 'd1'));
  return { lock, clock, told, endElsewhere, close: control.close };
}

test('when the overlay of a recently renewed drill is gone, another process removed it', async (t) => {
  const { lock, clock, endElsewhere, close } = await acquiredLock();
  t.after(close);
  clock.advance(LEASE_MS - 200);
  await lock.renew();
  clock.advance(LEASE_MS - 200);
  await endElsewhere();
  assert.deepEqual(lock.lost(), { kind: 'removed' });
});

test('after a failed renewal the lease expires', async (t) => {
  const { lock, clock, told, endElsewhere, close } = await acquiredLock();
  t.after(close);
  clock.advance(LEASE_MS - 200);
  told.renewals = false;
  await lock.renew();
  clock.advance(200);
  await endElsewhere();
  assert.deepEqual(lock.lost(), { kind: 'expired' });
});

test('a process that was suspended does not renew a lease that has expired, until it has held it for another one', async (t) => {
  const { lock, clock, endElsewhere, close } = await acquiredLock();
  t.after(close);
  const renewAfter = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await lock.renew();
  };
  clock.advance(LEASE_MS - 1);
  assert.equal(lock.isInDoubt(), false);
  clock.advance(1);
  assert.equal(lock.isInDoubt(), true);
  await renewAfter(0);
  await renewAfter(LEASE_MS - 200);
  assert.equal(lock.isInDoubt(), true);
  await renewAfter(200);
  assert.equal(lock.isInDoubt(), false);
  await renewAfter(LEASE_MS);
  // Suspended once more.
  await renewAfter(2 * LEASE_MS);
  await endElsewhere();
  assert.deepEqual(lock.lost(), { kind: 'expired' });
});

test('a renewed drill whose owner was once suspended was removed', async (t) => {
  const { lock, clock, endElsewhere, close } = await acquiredLock();
  t.after(close);
  for (const ms of [LEASE_MS, LEASE_MS - 200, 200]) {
    clock.advance(ms);
    await lock.renew();
  }
  await endElsewhere();
  assert.deepEqual(lock.lost(), { kind: 'removed' });
});

test('restoring a drill that another process has ended succeeds at the first attempt', async (t) => {
  const { lock, told, endElsewhere, close } = await acquiredLock();
  t.after(close);
  await endElsewhere();
  told.changes = 0;
  assert.equal(await lock.restore(), true);
  assert.equal(await lock.release(), true);
  assert.equal(told.changes, 2);
});
