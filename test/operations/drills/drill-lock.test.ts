import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createControl } from '../../../src/control/create-control.ts';
import { endOverlay } from '../../../src/control/overlay.ts';
import { createDrillLock } from '../../../src/operations/drills/drill-lock.ts';
import { createMemoryControlStore } from '../../../src/stores/memory/control-store.ts';
import { createFakeClock, seededRandom } from '../../fakes/clock.ts';

const LEASE_MS = 3000;

async function gripped() {
  const clock = createFakeClock();
  const control = createControl({
    ...{ domain: 'goods', store: createMemoryControlStore({ clock }), clock, random: seededRandom(1), shared: true },
    ...{ longestLifeMs: 3_600_000, locate: () => undefined, observe: () => {} },
  });
  const told = { renewals: true, changes: 0 };
  const grip = createDrillLock({
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
  await grip.acquire();
  const endElsewhere = () => control.change((document) => endOverlay(document, 'd1'));
  return { grip, clock, told, endElsewhere, close: control.close };
}

test('renewed a moment ago, a drill that is gone was taken by somebody', async (t) => {
  const { grip, clock, endElsewhere, close } = await gripped();
  t.after(close);
  clock.advance(LEASE_MS - 200);
  await grip.renew();
  clock.advance(LEASE_MS - 200);
  await endElsewhere();
  assert.deepEqual(grip.lost(), { kind: 'removed' });
});

test('a failed renewal is no sign of life', async (t) => {
  const { grip, clock, told, endElsewhere, close } = await gripped();
  t.after(close);
  clock.advance(LEASE_MS - 200);
  told.renewals = false;
  await grip.renew();
  clock.advance(200);
  await endElsewhere();
  assert.deepEqual(grip.lost(), { kind: 'expired' });
});

test('a drill that others ended is restored, at the first attempt', async (t) => {
  const { grip, told, endElsewhere, close } = await gripped();
  t.after(close);
  await endElsewhere();
  told.changes = 0;
  assert.equal(await grip.restore(), true);
  assert.equal(await grip.release(), true);
  assert.equal(told.changes, 2);
});
