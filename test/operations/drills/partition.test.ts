import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlStore } from '../../../src/control/control-store.ts';
import { createControl } from '../../../src/control/create-control.ts';
import { createDrills } from '../../../src/operations/drills/create-drills.ts';
import { createMemoryControlStore } from '../../../src/stores/memory/control-store.ts';
import { createFakeClock, seededRandom } from '../../fakes/clock.ts';
import { planOf, previewOf } from './rig.ts';
import { createWorld } from './world.ts';

const LEASE_MS = 300;

test('an owner that is cut off from the control store ends as lost, and leaves nothing behind', async (t) => {
  const clock = { wallMs: Date.now, monotonicMs: () => performance.now() };
  const whole = createMemoryControlStore({ clock });
  let isCut = false;
  const cut = <Reply>(ask: () => Promise<Reply>): Promise<Reply | { kind: 'fault'; fault: 'store-down' }> =>
    isCut ? Promise.resolve({ kind: 'fault', fault: 'store-down' }) : ask();
  const store: ControlStore = {
    ...whole,
    read: (domain, known, ms) => cut(() => whole.read(domain, known, ms)),
    swap: (domain, tag, next, ms) => cut(() => whole.swap(domain, tag, next, ms)),
    renew: (domain, ms) => cut(() => whole.renew(domain, ms)),
  };
  const controlOver = (own: ControlStore) =>
    createControl({
      ...{ domain: 'goods', store: own, clock, random: seededRandom(1), shared: true, longestLifeMs: 3_600_000 },
      ...{ locate: () => undefined, observe: () => {}, intervalMs: 20 },
    });
  const [control, follower] = [controlOver(store), controlOver(whole)];
  const drills = createDrills({
    domains: [
      {
        ...{
          name: 'goods',
          control,
          dedicated: false,
          patienceMs: 2000,
          hasStore: false,
          nodes: () => [],
          recent: () => undefined,
        },
        readings: createWorld(createFakeClock(), control).readings,
        flush: {
          preview: async ({ mode, fraction }) => previewOf(mode, fraction),
          erase: () => Promise.reject(new Error('never')),
        },
      },
    ],
    ...{ clock, random: seededRandom(2), keep: 1, processId: 'cut', leaseMs: LEASE_MS, tickMs: 50 },
    reportPage: () => '',
    observe: () => {},
  });
  t.after(() => Promise.all([drills.close(), control.close(), follower.close()]));

  const { id } = await drills.start({ plan: planOf(), by: 'test', reason: 'partition' });
  while (follower.overlay()?.drill !== id) await sleep(5);
  isCut = true;
  const sinceMs = performance.now();
  while (follower.overlay() !== undefined) await sleep(5);
  assert.ok(performance.now() - sinceMs < LEASE_MS + 1000, 'the others ended it within the lease time and a second');
  for (;;) {
    const { state, verdict } = await drills.journal(id);
    if (state.kind === 'over') {
      assert.equal(verdict?.kind, 'lost', verdict?.detail);
      assert.deepEqual(verdict?.resumable, { domain: 'goods', stage: 0 });
      break;
    }
    await sleep(10);
  }
  isCut = false;
  while (control.document().overlay !== undefined && control.overlay() !== undefined) await sleep(10);
  assert.equal(control.overlay(), undefined, 'it does not come back with the store');
});
