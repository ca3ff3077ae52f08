import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Overlay } from '../../../src/control/document.ts';
import { createRemoteDrills } from '../../../src/operations/drills/drill-list.ts';
import type { DrillDomain } from '../../../src/operations/drills/drills.ts';
import type { Journal } from '../../../src/operations/drills/journal.ts';
import { HEAD_REPORT } from '../../../src/operations/drills/run-drill.ts';
import { createFakeClock } from '../../fakes/clock.ts';
import { journalOf } from '../../fakes/journal.ts';

const { verdict, endedAtMs, ...begun } = { ...journalOf(), samples: [], owner: 'owner' };
const HEAD: Journal = begun;
const RUNNING: Journal['state'] = { kind: 'running', phase: 'hold', domain: 'goods', stage: 0 };

/** Drills as the process `other` sees them; `head` and `isLive` are what the owner has stored. */
function scene(t: TestContext) {
  const clock = createFakeClock();
  const stored = { head: { ...HEAD, state: RUNNING } as Journal, isLive: true };
  const overlay = { drill: HEAD.id, owner: 'owner' } as Overlay;
  const control = {
    overlay: () => (stored.isLive ? overlay : undefined),
    reports: async () => new Map([[HEAD_REPORT, structuredClone(stored.head)]]),
  } as Partial<DrillDomain['control']> as DrillDomain['control'];
  const remote = createRemoteDrills({ domains: [{ name: 'goods', control }], processId: 'other', clock });
  t.after(remote.close);
  const seen = async (): Promise<Journal | undefined> => {
    await remote.refresh();
    return remote.heads()[0];
  };
  return { clock, stored, seen };
}

test('a drill that another process ended is ending until its owner reports the verdict, and then has this verdict', async (t) => {
  const { clock, stored, seen } = scene(t);
  assert.equal((await seen())?.state.kind, 'running');
  stored.isLive = false;
  stored.head = { ...HEAD, state: { kind: 'ending' } };
  for (const waitMs of [0, 2000, HEAD.plan.afterMs]) {
    clock.advance(waitMs);
    const { state, verdict } = (await seen()) ?? {};
    assert.deepEqual({ kind: state?.kind, verdict }, { kind: 'ending', verdict: undefined });
  }
  stored.head = { ...HEAD, state: { kind: 'over' }, endedAtMs: 1, verdict: { kind: 'aborted', detail: 'enough' } };
  assert.equal((await seen())?.verdict?.kind, 'aborted');
});

test('a drill whose owner dies is lost at once while it runs, and when the verdict is overdue while it ends', async (t) => {
  const { clock, stored, seen } = scene(t);
  await seen();
  stored.isLive = false;
  assert.equal((await seen())?.verdict?.kind, 'lost');
  stored.head = { ...HEAD, state: { kind: 'ending' } };
  assert.equal((await seen())?.verdict, undefined);
  clock.advance(HEAD.plan.afterMs + 5000);
  assert.equal((await seen())?.verdict?.kind, 'lost');
});
