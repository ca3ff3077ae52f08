import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../loadtest/random.ts';
import type { ControlStore } from '../../../src/control/control-store.ts';
import { createControl } from '../../../src/control/create-control.ts';
import { createDrills } from '../../../src/operations/drills/create-drills.ts';
import { createDrillLock } from '../../../src/operations/drills/drill-lock.ts';
import type { Journal } from '../../../src/operations/drills/journal.ts';
import { createMemoryControlStore } from '../../../src/stores/memory/control-store.ts';
import { createFakeClock, createVirtualTime } from '../../fakes/clock.ts';
import { pluck } from '../../pluck.ts';
import { until } from '../../until.ts';
import { createDrillHarness, createSimulatedDomain, type DrillHarness, planOf, previewOf } from './harness.ts';

const CALLER = { by: 'anna', reason: 'enough' };

/**
 * Resolves when the drill is in that stage, before its next tick.
 *
 * @param held the drill waits there for it. Other processes poll in real time, in which a drill lasts milliseconds.
 */
function inStage(harness: DrillHarness, stage: number, held?: Promise<unknown>): Promise<Journal> {
  return new Promise((resolve) => {
    harness.onTick = (journal) => {
      const { state } = journal;
      if (state.kind !== 'running' || state.phase !== 'stage' || state.stage !== stage) return undefined;
      resolve(journal);
      return held;
    };
  });
}

test('after an abort at 100 % everything is served again at once', async (t) => {
  const harness = createDrillHarness(t);
  const { id } = await harness.start(planOf());
  await inStage(harness, 1);
  const flushed = harness.control().overlay()?.ranges.length ?? 0;
  assert.ok(flushed > 0);
  const beforeMs = harness.clock.monotonicMs();
  await harness.drills.abort(id, CALLER);
  assert.ok(harness.clock.monotonicMs() - beforeMs <= 500, 'at most one tick');
  assert.deepEqual(harness.control().overlay()?.ranges, []);
  const journal = await harness.end(id);
  assert.deepEqual(journal.verdict, {
    kind: 'aborted',
    detail: 'Aborted by anna: enough.',
    resumable: { domain: 'goods', stage: 1 },
  });
  assert.ok(Math.abs((journal.learned[0]?.after?.hitRatio ?? 0) - 0.9) < 0.01);
  assert.equal(harness.control().document().overlay, undefined);
});

test('a drill is listed as running until its cache is restored', async (t) => {
  const harness = createDrillHarness(t);
  const { id } = await harness.start(planOf());
  await inStage(harness, 0);
  assert.deepEqual(pluck((await harness.drills.list()).drills, 'running'), [true]);
  await harness.drills.abort(id, CALLER);
  const [listed] = (await harness.drills.list()).drills;
  const ended = { kind: 'aborted', detail: 'Aborted by anna: enough.' } as const;
  assert.deepEqual([listed?.running, listed?.verdict, listed?.ending], [false, undefined, { ended }]);
  assert.deepEqual((await harness.drills.journal(id)).state, { kind: 'ending', ended });
  await harness.end(id);
  assert.equal((await harness.drills.list()).drills[0]?.ending, undefined);
});

test('a drill that is aborted twice does not wait for the last figures', async (t) => {
  const harness = createDrillHarness(t);
  const { id } = await harness.start(planOf({ afterMs: 600_000 }));
  await inStage(harness, 0);
  await harness.drills.abort(id, CALLER);
  const beforeMs = harness.clock.monotonicMs();
  await harness.drills.abort(id, { by: 'boris', reason: 'now' });
  const journal = await harness.end(id);
  assert.ok(harness.clock.monotonicMs() - beforeMs < 5000);
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
  const harness = createDrillHarness(t, { clock, store: { ...store, swap } });
  const { id } = await harness.start(planOf({ afterMs: 600_000 }));
  await inStage(harness, 0);
  let closed: Promise<void> | undefined;
  onSwap = () => {
    closed ??= harness.drills.close();
  };
  await harness.drills.abort(id, CALLER);
  const beforeMs = clock.monotonicMs();
  const { verdict } = await harness.end(id);
  assert.ok(clock.monotonicMs() - beforeMs < 5000, `${clock.monotonicMs() - beforeMs} ms`);
  assert.match(verdict?.detail ?? '', /anna/);
  await closed;
});

test('after an abort by another process the verdict names the caller', async (t) => {
  const harness = createDrillHarness(t);
  const other = createDrillHarness(t, { store: harness.store, clock: harness.clock, processId: 'there' });
  const { id } = await harness.start(planOf());
  const released = Promise.withResolvers<void>();
  await inStage(harness, 0, released.promise);
  await until('the drill in the other process', () => other.control().overlay() !== undefined);
  const [listed] = (await other.drills.list()).drills;
  assert.equal(listed?.id, id);
  assert.equal(listed?.running && !listed.here, true);
  assert.equal((await other.drills.journal(id)).samples.length, 0);
  await other.drills.abort(id, CALLER);
  released.resolve();
  const { verdict } = await harness.end(id);
  assert.equal(verdict?.kind, 'aborted');
  assert.equal(verdict?.detail, 'Aborted by anna: enough.');
});

test('a halt ends every drill and refuses new ones until it is lifted', async (t) => {
  const harness = createDrillHarness(t, { domains: ['goods', 'auto'] });
  const goods = await harness.start(planOf(), ['goods']);
  const auto = await harness.start(planOf(), ['auto']);
  await inStage(harness, 0);
  await harness.drills.halt({ by: 'anna', reason: 'fire' });
  for (const [name, { id }] of Object.entries({ goods, auto })) {
    const { verdict } = await harness.end(id);
    assert.equal(verdict?.kind, 'aborted');
    assert.match(verdict?.detail ?? '', /halted by anna: fire/);
    assert.equal(harness.control(name).document().overlay, undefined);
  }
  await assert.rejects(harness.start(planOf(), ['auto']), { code: 'halted' });
  await harness.drills.lift();
  assert.equal((await harness.run(planOf(), ['auto'])).verdict?.kind, 'passed');
});

test('a halt by another process ends the drill too', async (t) => {
  const harness = createDrillHarness(t);
  const other = createDrillHarness(t, { store: harness.store, clock: harness.clock, processId: 'there' });
  const { id } = await harness.start(planOf());
  const released = Promise.withResolvers<void>();
  await inStage(harness, 0, released.promise);
  await other.drills.halt({ by: 'boris', reason: 'fire' });
  released.resolve();
  const { verdict } = await harness.end(id);
  assert.equal(verdict?.kind, 'aborted');
  assert.match(verdict?.detail ?? '', /halted by boris: fire/);
});

test('a second drill of the domain is refused in every process', async (t) => {
  const harness = createDrillHarness(t);
  const other = createDrillHarness(t, { store: harness.store, clock: harness.clock, processId: 'there' });
  const { id } = await harness.start(planOf());
  await assert.rejects(harness.start('canary'), { code: 'drill-running' });
  await assert.rejects(other.start('canary'), { code: 'drill-running' });
  await harness.drills.abort(id, CALLER);
  await harness.end(id);
  await assert.rejects(harness.drills.abort(id, CALLER), { code: 'drill-over' });
  await assert.rejects(harness.drills.abort('20260101-000000-goods-x-0000', CALLER), { code: 'unknown-drill' });
});

test('a process that is stopped restores the cache first', async (t) => {
  const harness = createDrillHarness(t);
  const { id } = await harness.start(planOf());
  await inStage(harness, 1);
  const beforeMs = harness.clock.monotonicMs();
  await harness.drills.close();
  assert.ok(harness.clock.monotonicMs() - beforeMs <= 1000);
  assert.equal(harness.control().document().overlay, undefined);
  const { verdict } = await harness.drills.journal(id);
  assert.equal(verdict?.detail, 'The process that ran it was stopped.');
  await assert.rejects(harness.start(planOf()), { code: 'halted' });
});

test('a drill that was just beginning when its process was stopped is rolled back', async (t) => {
  const harness: DrillHarness = createDrillHarness(t, {
    preview: async ({ mode, fraction }) => {
      await harness.drills.close();
      return previewOf(mode, fraction);
    },
  });
  const { id } = await harness.start(planOf());
  assert.equal(harness.control().document().overlay, undefined);
  const { verdict, marks } = await harness.end(id);
  assert.equal(verdict?.detail, 'The process that ran it was stopped.');
  assert.ok(marks.every(({ kind }) => kind !== 'stage'));
});

test('a follower restores the cache by itself when the owner of the drill died', async (t) => {
  const clock = createVirtualTime(t);
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  const store = createMemoryControlStore({ clock });
  const of = () =>
    createControl({
      ...{ domain: 'goods', store, clock, random: seededRandom(3), shared: true, longestLifeMs: 3_600_000 },
      ...{ locate: () => undefined, observe: () => {}, intervalMs: 20 },
    });
  const [owner, follower] = [of(), of()];
  t.after(() => clock.settled(Promise.all([owner.close(), follower.close()])));
  const overlay = { drill: 'd1', owner: 'dead', leaseMs: 400, mode: 'drop', cohorts: [] } as const;
  const lock = createDrillLock({ control: owner, overlay, flushed: undefined, nowMs: clock.monotonicMs, sleep });
  await clock.settled(lock.acquire());
  await clock.settled(lock.flush({ ranges: [{ from: 0, to: 5000 }], nodes: undefined, blackout: false }));
  await clock.until('the flush', () => follower.overlay()?.ranges.length === 1);
  const sinceMs = clock.monotonicMs();
  // The owner is dead, so the lease is not renewed.
  await clock.until('the end of the drill', () => follower.overlay() === undefined);
  assert.ok(clock.monotonicMs() - sinceMs < 1400, 'within the lease time and a second');
  // Each process measures the lease by its own clock.
  await clock.until('the end of the lease', () => lock.lost() !== undefined);
  assert.deepEqual(lock.lost(), { kind: 'expired' });
  const next = createDrillLock({
    control: follower,
    overlay: { ...overlay, drill: 'd2' },
    flushed: undefined,
    nowMs: clock.monotonicMs,
    sleep,
  });
  await clock.settled(next.acquire());
  assert.equal(follower.overlay()?.drill, 'd2', 'the drill of a dead owner does not block the domain');
});

test('a halt that another process has just lifted refuses no start', async (t) => {
  const harness = createDrillHarness(t);
  const other = createDrillHarness(t, {
    store: harness.store,
    clock: harness.clock,
    processId: 'there',
    intervalMs: 600_000,
  });
  await other.drills.halt(CALLER);
  await until('the halt', () => harness.control().document().halted !== undefined);
  await harness.drills.lift();
  assert.notEqual(other.control().document().halted, undefined, 'it has not polled since');
  const { id } = await other.start(planOf());
  await other.drills.abort(id, CALLER);
});

const LEASE_MS = 300;

test('the drill of an owner without its control store ends as lost, and nothing of it stays', async (t) => {
  const clock = createVirtualTime(t);
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
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    reportPage: () => '',
    observe: () => {},
  });
  t.after(() => clock.settled(Promise.all([drills.close(), control.close(), follower.close()])));

  const { id } = await clock.settled(drills.start({ plan: planOf(), by: 'test', reason: 'partition' }));
  await clock.until('the drill', () => follower.overlay()?.drill === id);
  isCut = true;
  const sinceMs = clock.monotonicMs();
  await clock.until('the end of the drill', () => follower.overlay() === undefined);
  assert.ok(clock.monotonicMs() - sinceMs < LEASE_MS + 1000, 'the others ended it within the lease time and a second');
  await clock.until('the verdict', async () => (await drills.journal(id)).state.kind === 'over');
  const { verdict } = await drills.journal(id);
  assert.equal(verdict?.kind, 'lost', verdict?.detail ?? 'no verdict');
  assert.deepEqual(verdict?.resumable, { domain: 'goods', stage: 0 });
  isCut = false;
  await clock.until('the store', () => control.document().overlay === undefined || control.overlay() === undefined);
  assert.equal(control.overlay(), undefined, 'it does not come back with the store');
});
