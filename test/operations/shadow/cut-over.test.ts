import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { halt } from '../../../src/control/changes.ts';
import type { ControlStore } from '../../../src/control/control-store.ts';
import { createControl } from '../../../src/control/create-control.ts';
import { beginOverlay } from '../../../src/control/overlay.ts';
import { beginShadow, prepareCutOver } from '../../../src/control/placement.ts';
import { createCutOver } from '../../../src/operations/shadow/cut-over.ts';
import { createDomainShadow } from '../../../src/operations/shadow/domain-shadow.ts';
import type { ShadowEvent } from '../../../src/operations/shadow/shadow.ts';
import { createMemoryControlStore } from '../../../src/stores/memory/control-store.ts';
import { createVirtualTime, type VirtualTime } from '../../fakes/clock.ts';
import { pluck } from '../../pluck.ts';
import { createPair, DOMAIN, NEW, OLD, type Pair } from './harness.ts';

const POLL_MS = 20;
const LEASE_MS = 300;
const CALLER = { by: 'ann', reason: 'a test' } as const;
const OVERLAY: Parameters<typeof beginOverlay>[1] = {
  ...{ drill: 'd', owner: 'o', leaseMs: 3000, mode: 'drop', ranges: [], blackout: false, cohorts: [] },
};

interface JoinOptions {
  /** False: it declares no candidates. */
  readonly declares?: boolean;
  readonly controlElsewhere?: boolean;
  readonly abandonedMs?: number;
}

/** Processes over one pair of stores and one control store. */
function fleetOf(t: TestContext) {
  const clock = createVirtualTime(t);
  const memory = createMemoryControlStore({ clock });
  const servers = createPair(clock);
  let count = 0;

  const join = (options: JoinOptions = {}) => {
    count += 1;
    const id = `process-${count}`;
    let isCutOff = false;
    const fault = { kind: 'fault', fault: 'store-down' } as const;
    const store: ControlStore = {
      read: async (...args) => (isCutOff ? fault : memory.read(...args)),
      swap: async (...args) => (isCutOff ? fault : memory.swap(...args)),
      renew: async (...args) => (isCutOff ? fault : memory.renew(...args)),
      report: async (...args) => (isCutOff ? false : memory.report(...args)),
      reports: async (...args) => (isCutOff ? fault : memory.reports(...args)),
    };
    const control = createControl({
      ...{ domain: DOMAIN, store, shared: true, clock, random: Math.random, intervalMs: POLL_MS },
      locate: () => undefined,
      observe: () => {},
      longestLifeMs: 3_600_000,
    });
    const events: ShadowEvent[] = [];
    const ended: string[] = [];
    const { placed, candidate } = pairOver(servers, clock);
    const shadowed = {
      placed,
      candidates: [NEW],
      deadlineMs: 50,
      lastFailure: () => undefined,
      configuration: (to: typeof OLD) => `store: ${to.name}`,
    };
    const domain = {
      ...{ name: DOMAIN, control, configured: OLD },
      controlElsewhere: options.controlElsewhere ?? true,
      ...(options.declares === false ? {} : { shadowed }),
    };
    const follower = createDomainShadow({
      ...domain,
      ...{ processId: id, leaseMs: LEASE_MS, clock, observe: (event) => events.push(event) },
      ...(options.abandonedMs === undefined ? {} : { abandonedMs: options.abandonedMs }),
      loopDelay: () => ({ loopDelayMs: 0, maxLoopDelayMs: 100 }),
      onEnded: (_, why) => ended.push(why),
    });
    const beat = (): void => void placed.beat(id, 5000, 50);
    beat();
    const beating = setInterval(beat, 100);
    const steps = createCutOver({
      ...{ domain, shadowed, follower, clock, acknowledgeMs: 1200 },
      newId: () => `cut-over-${Math.random()}`,
    });
    const leave = async (): Promise<void> => {
      clearInterval(beating);
      follower.close();
      await clock.settled(control.close());
      await clock.settled(placed.leave(id, 50));
    };
    t.after(leave);
    return {
      ...{ id, clock, control, follower, placed, events, ended, leave },
      steps: {
        cutOver: (caller: typeof CALLER) => clock.settled(steps.cutOver(caller)),
        back: (caller: typeof CALLER) => clock.settled(steps.back(caller)),
        stop: () => clock.settled(steps.stop()),
      },
      cutOff: (is: boolean) => (isCutOff = is),
      candidateHasNoNodes: () => Object.assign(candidate, { nodes: () => [] }),
    };
  };

  return { clock, servers, join };
}

/** Another process over the same servers. */
function pairOver({ old, candidate }: Pair, clock: VirtualTime): Pick<Pair, 'placed' | 'candidate'> {
  const own = createPair(clock);
  Object.assign(own.old, old);
  Object.assign(own.candidate, candidate);
  return own;
}

type Process = ReturnType<ReturnType<typeof fleetOf>['join']>;

async function withShadow(process: Process): Promise<void> {
  const nowMs = process.clock.wallMs();
  const shadow = { id: 's', candidate: NEW, fraction: 1, reads: 1, by: 'ann', atMs: nowMs, untilMs: nowMs + 60_000 };
  await process.control.change((document) => beginShadow(document, shadow, nowMs));
}

/** Two processes that copy to the candidate. */
async function shadowedPair(t: TestContext) {
  const { clock, join } = fleetOf(t);
  const [one, two] = [join(), join()];
  await withShadow(one);
  await clock.until('the shadow of the other process', () => two.follower.running() !== undefined);
  return { clock, one, two };
}

/** A process that has cut over to the candidate, alone in its fleet. */
async function movedAlone(t: TestContext) {
  const { clock, servers, join } = fleetOf(t);
  const one = join();
  await withShadow(one);
  await one.steps.cutOver(CALLER);
  return { clock, servers, join, one };
}

/** Cuts over to the candidate; the other process is cut off from the control store once it has acknowledged. */
async function moveWithout(one: Process, other: Process): Promise<void> {
  const { clock } = one;
  await withShadow(one);
  const moving = one.steps.cutOver(CALLER);
  await clock.until('the preparation', () => other.placed.other() !== undefined);
  // Its next heartbeat acknowledges.
  await clock.pass(150);
  other.cutOff(true);
  await moving;
}

describe('a cut-over', () => {
  test('every process moves to the new store, and back, without a restart', async (t) => {
    const { one, two } = await shadowedPair(t);
    const moved = await one.steps.cutOver(CALLER);
    assert.deepEqual([moved.from, moved.to, moved.configuration], [OLD, NEW, 'store: valkey']);
    assert.deepEqual(pluck(moved.processes, 'state'), ['ok', 'ok']);
    for (const { placed, follower, ended } of [one, two]) {
      assert.deepEqual([placed.active(), placed.other(), follower.running()], [NEW, OLD, undefined]);
      assert.deepEqual(ended, ['cut-over by ann']);
    }
    const returned = await two.steps.back(CALLER);
    assert.deepEqual([returned.from, returned.to], [NEW, OLD]);
    assert.deepEqual([one.placed.active(), one.placed.other()], [OLD, NEW]);
    await assert.rejects(
      two.steps.back(CALLER),
      { code: 'no-cut-over' },
      'a repeated call does not lead forward again',
    );
    await one.steps.stop();
    assert.equal(one.control.document().placement, undefined, 'every configuration names the old store');
  });

  test('of two calls to go back at once, the second does not undo the first', async (t) => {
    const { one, two } = await shadowedPair(t);
    await one.steps.cutOver(CALLER);
    const ends = await Promise.allSettled([one.steps.back(CALLER), two.steps.back(CALLER)]);
    assert.deepEqual(ends.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    assert.deepEqual([one.placed.active(), two.placed.active()], [OLD, OLD]);
  });

  test('there is no way back to a store that does not answer', async (t) => {
    const { servers, one } = await movedAlone(t);
    servers.old.meet({ kind: 'fault', fault: 'node-open' });
    await assert.rejects(one.steps.back(CALLER), { code: 'candidate-unfit' });
    assert.deepEqual(one.placed.active(), NEW);
  });

  test('the record stays while a process on the old store reports, though it beats in no store of the others', async (t) => {
    const { clock, join, one } = await movedAlone(t);
    await one.steps.stop();
    const other = join({ declares: false });
    await clock.until('the document', other.control.hasSynced);
    await clock.until(
      'the report of the other process',
      async () =>
        (await one.follower.processes())?.some(({ id, state }) => id === other.id && state === 'behind') === true,
    );
    await assert.rejects(one.steps.stop(), { code: 'cut-over-behind' });
  });

  test('a process that is cut off from the control store is named, and nothing changes', async (t) => {
    const { one, two } = await shadowedPair(t);
    two.cutOff(true);
    await assert.rejects(one.steps.cutOver(CALLER), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'cut-over-behind');
      assert.match(error.message, new RegExp(`process ${two.id}: .*; nothing was changed`));
      return true;
    });
    assert.equal(one.control.document().placement, undefined);
    assert.deepEqual([one.placed.active(), one.placed.other()], [OLD, undefined]);
    assert.ok(one.follower.running() !== undefined, 'the shadow goes on');
  });

  test('a process without the candidate in its configuration is named', async (t) => {
    const { join } = fleetOf(t);
    const [one, two] = [join(), join({ declares: false })];
    await withShadow(one);
    await assert.rejects(one.steps.cutOver(CALLER), new RegExp(`process ${two.id}: its configuration lacks`));
  });

  test('a process that falls silent after it has acknowledged reads and writes both stores, then follows', async (t) => {
    const { clock, join } = fleetOf(t);
    const [one, two] = [join(), join()];
    await moveWithout(one, two);
    assert.deepEqual([one.placed.active(), two.placed.active()], [NEW, OLD]);
    await clock.until('its isolation', () => two.placed.isIsolated());
    two.cutOff(false);
    await clock.until('the commit', () => two.placed.active().fingerprint === NEW.fingerprint);
    await clock.until('the end of its isolation', () => !two.placed.isIsolated());
    const phases = two.events.flatMap((event) => (event.kind === 'placement-changed' ? [event.phase] : []));
    assert.deepEqual(
      phases,
      ['prepared', 'isolated', 'committed', 'committed'].filter((_, at) => at < phases.length),
    );
  });

  test('a process that starts meanwhile uses the right store', async (t) => {
    const { clock, join } = await movedAlone(t);
    const late = join();
    await clock.until('the document', late.control.hasSynced);
    assert.deepEqual([late.placed.active(), late.placed.other()], [NEW, OLD]);
  });

  test('it is refused without a control store of its own, without a shadow, and during a drill', async (t) => {
    const { clock, join } = fleetOf(t);
    const [one, together] = [join(), join({ controlElsewhere: false })];
    await assert.rejects(one.steps.cutOver(CALLER), { code: 'no-shadow' });
    await withShadow(one);
    await clock.until('the shadow', () => together.follower.running() !== undefined);
    await assert.rejects(together.steps.cutOver(CALLER), { code: 'no-control-store' });
    await one.control.change((document) => beginOverlay(document, OVERLAY));
    await assert.rejects(one.steps.cutOver(CALLER), { code: 'drill-running' });
    await assert.rejects(one.steps.back(CALLER), { code: 'no-cut-over' });
  });

  test('a drill is refused while it is under way, and not any more when it is settled', async (t) => {
    const { one } = await movedAlone(t);
    const drill = () => one.control.change((document) => beginOverlay(document, OVERLAY));
    await assert.rejects(drill(), { code: 'cut-over-running' });
    const stopped = await one.steps.stop();
    assert.deepEqual([stopped.ended, stopped.configuration], ['old-store', 'store: valkey']);
    assert.deepEqual([one.placed.active(), one.placed.other()], [NEW, undefined]);
    await drill();
  });

  test('the old store is not given up while a process still needs it', async (t) => {
    const { join } = fleetOf(t);
    const [one, two] = [join(), join()];
    await moveWithout(one, two);
    await assert.rejects(one.steps.stop(), { code: 'cut-over-behind' });
    assert.deepEqual(one.placed.other(), OLD);
  });

  test('a process that falls silent after the commit is named, and both stores stay in use', async (t) => {
    const { clock, one, two } = await shadowedPair(t);
    await one.steps.cutOver(CALLER);
    two.cutOff(true);
    const states = async () => (await one.follower.processes())?.map(({ state }) => state);
    await clock.until('its silence', async () => (await states())?.includes('behind') === true);
    await assert.rejects(one.steps.stop(), new RegExp(`process ${two.id}: it has been silent`));
    assert.deepEqual(one.placed.other(), OLD);
  });

  test('a process that has never reached the candidate does not acknowledge', async (t) => {
    const { one, two } = await shadowedPair(t);
    // A cluster or a sentinel that was never reached has no node at all.
    two.candidateHasNoNodes();
    await assert.rejects(one.steps.cutOver(CALLER), new RegExp(`process ${two.id}: it has no connection to valkey`));
  });

  test('the loss of the old store does not keep anyone from giving it up', async (t) => {
    const { servers, one } = await movedAlone(t);
    servers.old.meet({ kind: 'fault', fault: 'store-down' });
    assert.equal((await one.steps.stop()).ended, 'old-store');
    assert.deepEqual([one.placed.active(), one.placed.other()], [NEW, undefined]);
  });

  test('a preparation whose process is gone is cancelled by the others', async (t) => {
    const { clock, join } = fleetOf(t);
    const one = join({ abandonedMs: 300 });
    // The clock of the process that has prepared it is ahead, and says nothing about its age.
    const gone = { id: 'gone', from: OLD, to: NEW, by: 'ann', atMs: clock.wallMs() + 10 * 60_000 };
    await one.control.change((document) => prepareCutOver(document, gone));
    await clock.until('the end of the preparation', () => one.control.document().placement === undefined);
    assert.deepEqual([one.placed.active(), one.placed.other()], [OLD, undefined]);
  });

  test('a halt ends the shadow and a preparation in every process, and a committed cut-over stays', async (t) => {
    const { clock, one, two } = await shadowedPair(t);
    const moving = one.steps.cutOver(CALLER).catch((error: { code: string }) => error.code);
    await clock.until('the preparation', () => one.placed.other() !== undefined);
    const halted = { by: 'ann', reason: 'enough', atMs: clock.wallMs() };
    await one.control.change((document) => halt(document, halted));
    assert.equal(await moving, 'no-cut-over');
    await clock.until('its end in the other process', () => two.follower.running() === undefined);
    assert.deepEqual([one.placed.active(), one.placed.other(), one.ended], [OLD, undefined, ['halted by ann']]);
  });

  test('a shadow ends by itself when its time is over, and its record is removed', async (t) => {
    const { clock, join } = fleetOf(t);
    const one = join();
    const nowMs = clock.wallMs();
    const shadow = { id: 's', candidate: NEW, fraction: 1, reads: 1, by: 'ann', atMs: nowMs, untilMs: nowMs + 300 };
    await one.control.change((document) => beginShadow(document, shadow, nowMs));
    assert.ok(one.follower.running() !== undefined);
    await clock.until('the removal', () => one.control.document().shadow === undefined);
    assert.deepEqual([one.follower.running(), one.ended], [undefined, ['expired']]);
  });
});
