import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlStore } from '../../../src/control/control-store.ts';
import { createControl } from '../../../src/control/create-control.ts';
import { createDrills } from '../../../src/operations/drills/create-drills.ts';
import { createDrillLock } from '../../../src/operations/drills/drill-lock.ts';
import type { Journal } from '../../../src/operations/drills/journal.ts';
import { createMemoryControlStore } from '../../../src/stores/memory/control-store.ts';
import { createFakeClock, seededRandom } from '../../fakes/clock.ts';
import { createDrillHarness, createSimulatedDomain, type DrillHarness, planOf, previewOf } from './harness.ts';

const CALLER = { by: 'anna', reason: 'enough' };

/** Resolves once the drill is in that stage, before its next tick. */
function inStage(rig: DrillHarness, stage: number): Promise<Journal> {
  return new Promise((resolve) => {
    rig.onTick = (journal) => {
      const { state } = journal;
      if (state.kind === 'running' && state.phase === 'stage' && state.stage === stage) resolve(journal);
    };
  });
}

test('aborted at 100 %, everything is served again at once', async (t) => {
  const rig = createDrillHarness();
  t.after(rig.close);
  const { id } = await rig.start(planOf());
  await inStage(rig, 1);
  const flushed = rig.control().overlay()?.ranges.length ?? 0;
  assert.ok(flushed > 0);
  const beforeMs = rig.clock.monotonicMs();
  await rig.drills.abort(id, CALLER);
  assert.ok(rig.clock.monotonicMs() - beforeMs <= 500, 'no more than the tick it was in');
  assert.deepEqual(rig.control().overlay()?.ranges, []);
  const journal = await rig.end(id);
  assert.deepEqual(journal.verdict, {
    kind: 'aborted',
    detail: 'Aborted by anna: enough.',
    resumable: { domain: 'goods', stage: 1 },
  });
  assert.ok(Math.abs((journal.learned[0]?.after?.hitRatio ?? 0) - 0.9) < 0.01);
  assert.equal(rig.control().document().overlay, undefined);
});

test('a drill reads as running no longer than until its cache is restored', async (t) => {
  const rig = createDrillHarness();
  t.after(rig.close);
  const { id } = await rig.start(planOf());
  await inStage(rig, 0);
  assert.deepEqual(
    (await rig.drills.list()).drills.map(({ running }) => running),
    [true],
  );
  await rig.drills.abort(id, CALLER);
  const [listed] = (await rig.drills.list()).drills;
  const ended = { kind: 'aborted', detail: 'Aborted by anna: enough.' } as const;
  assert.deepEqual([listed?.running, listed?.verdict, listed?.ending], [false, undefined, { ended }]);
  assert.deepEqual((await rig.drills.journal(id)).state, { kind: 'ending', ended });
  await rig.end(id);
  assert.equal((await rig.drills.list()).drills[0]?.ending, undefined);
});

test('aborted twice, it does not wait for the last figures', async (t) => {
  const rig = createDrillHarness();
  t.after(rig.close);
  const { id } = await rig.start(planOf({ afterMs: 600_000 }));
  await inStage(rig, 0);
  await rig.drills.abort(id, CALLER);
  const beforeMs = rig.clock.monotonicMs();
  await rig.drills.abort(id, { by: 'boris', reason: 'now' });
  const journal = await rig.end(id);
  assert.ok(rig.clock.monotonicMs() - beforeMs < 5000);
  assert.match(journal.verdict?.detail ?? '', /anna/);
});

test('a stop while the cache is being restored for another stop does not wait for the last figures', async (t) => {
  const clock = createFakeClock();
  const store = createMemoryControlStore({ clock });
  let onSwap = (): unknown => undefined;
  const swap: typeof store.swap = async (...change) => {
    await onSwap();
    return store.swap(...change);
  };
  const rig = createDrillHarness({ clock, store: { ...store, swap } });
  t.after(rig.close);
  const { id } = await rig.start(planOf({ afterMs: 600_000 }));
  await inStage(rig, 0);
  let closed: Promise<void> | undefined;
  onSwap = () => {
    closed ??= rig.drills.close();
  };
  await rig.drills.abort(id, CALLER);
  const beforeMs = clock.monotonicMs();
  const { verdict } = await rig.end(id);
  assert.ok(clock.monotonicMs() - beforeMs < 5000, `${clock.monotonicMs() - beforeMs} ms`);
  assert.match(verdict?.detail ?? '', /anna/);
  await closed;
});

test('another process aborts it, and its owner says who did', async (t) => {
  const rig = createDrillHarness();
  const other = createDrillHarness({ store: rig.store, clock: rig.clock, processId: 'there' });
  t.after(() => Promise.all([rig.close(), other.close()]));
  const { id } = await rig.start(planOf());
  await inStage(rig, 0);
  while (other.control().overlay() === undefined) await sleep(5);
  const [listed] = (await other.drills.list()).drills;
  assert.equal(listed?.id, id);
  assert.equal(listed?.running && !listed.here, true);
  assert.equal((await other.drills.journal(id)).samples.length, 0);
  await other.drills.abort(id, CALLER);
  const { verdict } = await rig.end(id);
  assert.equal(verdict?.kind, 'aborted');
  assert.equal(verdict?.detail, 'Aborted by anna: enough.');
});

test('the halt lever ends every drill and refuses new ones until it is lifted', async (t) => {
  const rig = createDrillHarness({ domains: ['goods', 'auto'] });
  t.after(rig.close);
  const goods = await rig.start(planOf(), ['goods']);
  await assert.rejects(rig.drills.halt({ by: 'anna', reason: ' ' }), { code: 'reason-required' });
  const auto = await rig.start(planOf(), ['auto']);
  await inStage(rig, 0);
  await rig.drills.halt({ by: 'anna', reason: 'fire' });
  for (const [name, { id }] of Object.entries({ goods, auto })) {
    const { verdict } = await rig.end(id);
    assert.equal(verdict?.kind, 'aborted');
    assert.match(verdict?.detail ?? '', /halted by anna: fire/);
    assert.equal(rig.control(name).document().overlay, undefined);
  }
  await assert.rejects(rig.start(planOf(), ['auto']), { code: 'halted' });
  await rig.drills.lift(CALLER);
  assert.equal((await rig.end((await rig.start(planOf(), ['auto'])).id)).verdict?.kind, 'passed');
});

test('a halt by another process ends it too', async (t) => {
  const rig = createDrillHarness();
  const other = createDrillHarness({ store: rig.store, clock: rig.clock, processId: 'there' });
  t.after(() => Promise.all([rig.close(), other.close()]));
  const { id } = await rig.start(planOf());
  await inStage(rig, 0);
  await other.drills.halt({ by: 'boris', reason: 'fire' });
  const { verdict } = await rig.end(id);
  assert.equal(verdict?.kind, 'aborted');
  assert.match(verdict?.detail ?? '', /halted by boris: fire/);
});

test('a second drill of the domain is refused, wherever it is started', async (t) => {
  const rig = createDrillHarness();
  const other = createDrillHarness({ store: rig.store, clock: rig.clock, processId: 'there' });
  t.after(() => Promise.all([rig.close(), other.close()]));
  const { id } = await rig.start(planOf());
  await assert.rejects(rig.start('canary'), { code: 'drill-running' });
  await assert.rejects(other.start('canary'), { code: 'drill-running' });
  await rig.drills.abort(id, CALLER);
  await rig.end(id);
  await assert.rejects(rig.drills.abort(id, CALLER), { code: 'drill-over' });
  await assert.rejects(rig.drills.abort('20260101-000000-goods-x-0000', CALLER), { code: 'unknown-drill' });
});

test('a process that is stopped gives the cache back first', async (t) => {
  const rig = createDrillHarness();
  t.after(rig.close);
  const { id } = await rig.start(planOf());
  await inStage(rig, 1);
  const beforeMs = rig.clock.monotonicMs();
  await rig.drills.close();
  assert.ok(rig.clock.monotonicMs() - beforeMs <= 1000);
  assert.equal(rig.control().document().overlay, undefined);
  const { verdict } = await rig.drills.journal(id);
  assert.equal(verdict?.detail, 'The process that ran it was stopped.');
  await assert.rejects(rig.start(planOf()), { code: 'halted' });
});

test('a drill that was just beginning when its process was stopped is rolled back', async (t) => {
  const rig: DrillHarness = createDrillHarness({
    preview: async ({ mode, fraction }) => {
      await rig.drills.close();
      return previewOf(mode, fraction);
    },
  });
  t.after(rig.close);
  const { id } = await rig.start(planOf());
  assert.equal(rig.control().document().overlay, undefined);
  const { verdict, marks } = await rig.end(id);
  assert.equal(verdict?.detail, 'The process that ran it was stopped.');
  assert.ok(marks.every(({ kind }) => kind !== 'stage'));
});

test('a follower whose owner died goes back by itself', async (t) => {
  const clock = { wallMs: Date.now, monotonicMs: () => performance.now() };
  const store = createMemoryControlStore({ clock });
  const of = () =>
    createControl({
      ...{ domain: 'goods', store, clock, random: seededRandom(3), shared: true, longestLifeMs: 3_600_000 },
      ...{ locate: () => undefined, observe: () => {}, intervalMs: 20 },
    });
  const [owner, follower] = [of(), of()];
  t.after(() => Promise.all([owner.close(), follower.close()]));
  const overlay = { drill: 'd1', owner: 'dead', leaseMs: 400, mode: 'drop', cohorts: [] } as const;
  const grip = createDrillLock({ control: owner, overlay, flushed: undefined, nowMs: clock.monotonicMs, sleep });
  await grip.acquire();
  await grip.flush({ ranges: [{ from: 0, to: 5000 }], nodes: undefined, blackout: false });
  while (follower.overlay()?.ranges.length !== 1) await sleep(5);
  const sinceMs = performance.now();
  // Nobody renews it: its owner is dead.
  while (follower.overlay() !== undefined) await sleep(5);
  assert.ok(performance.now() - sinceMs < 1400, 'within the lease time and a second');
  // Each of them sees it on a clock of its own.
  while (grip.lost() === undefined) await sleep(5);
  assert.deepEqual(grip.lost(), { kind: 'lapsed' });
  const next = createDrillLock({
    control: follower,
    overlay: { ...overlay, drill: 'd2' },
    flushed: undefined,
    nowMs: clock.monotonicMs,
    sleep,
  });
  await next.acquire();
  assert.equal(follower.overlay()?.drill, 'd2', 'a drill of the dead keeps nobody from the domain');
});

test('what was lifted elsewhere a moment ago refuses no start here', async (t) => {
  const rig = createDrillHarness();
  const other = createDrillHarness({ store: rig.store, clock: rig.clock, processId: 'there', intervalMs: 600_000 });
  t.after(() => Promise.all([rig.close(), other.close()]));
  await other.drills.halt(CALLER);
  while (rig.control().document().halted === undefined) await sleep(5);
  await rig.drills.lift(CALLER);
  assert.notEqual(other.control().document().halted, undefined, 'it has not looked since');
  const { id } = await other.start(planOf());
  await other.drills.abort(id, CALLER);
});

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
        readings: createSimulatedDomain(createFakeClock(), control).readings,
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
