import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GuardState } from '../../../src/operations/drills/guards.ts';
import type { GuardRule } from '../../../src/operations/drills/plan.ts';
import { type DrillObservation, decide, type MachineState } from '../../../src/operations/drills/state-machine.ts';
import { planOf } from './harness.ts';

const PLAN = planOf();
const NOW_MS = 1_000_000;

const seenWith = (changes: Partial<DrillObservation> = {}): DrillObservation => ({
  nowMs: NOW_MS,
  guards: [],
  broken: () => [],
  searches: 1000,
  hasEnoughSearches: () => true,
  processes: () => ({ heard: 1, before: 1 }),
  cohortSearches: () => 1000,
  recovery: 'away',
  erasing: false,
  eraseFailed: undefined,
  lockLost: undefined,
  stop: undefined,
  blindMs: 0,
  ...changes,
});

const guard = (action: GuardRule['then'], state: Partial<GuardState> = {}): GuardState => {
  const entries = { figure: 'errorRate', max: 0.02, forMs: 500 };
  const rule = Object.fromEntries([...Object.entries(entries), ['then', action]]) as unknown as GuardRule;
  return { rule, value: 0.5, broken: true, breached: true, turned: undefined, ...state };
};

const next = (state: MachineState, changes: Partial<DrillObservation> = {}) =>
  decide(PLAN, state, 0, seenWith(changes));

const LONG_AGO_MS = NOW_MS - 100_000;
const baseline: MachineState = { kind: 'baseline', sinceMs: LONG_AGO_MS };
const first: MachineState = { kind: 'stage', stage: 0, sinceMs: LONG_AGO_MS };
const last: MachineState = { kind: 'stage', stage: 1, sinceMs: LONG_AGO_MS };
const held: MachineState = { ...first, heldSinceMs: NOW_MS - 1000 };
const recovery: MachineState = { kind: 'recovery', sinceMs: NOW_MS - 1000 };
const after: MachineState = { kind: 'after', sinceMs: LONG_AGO_MS };

test('a breach in the tick of the recovery still rolls back', () => {
  assert.deepEqual(next(recovery, { recovery: 'back' }), { kind: 'restore' });
  const decision = next(recovery, { recovery: 'back', guards: [guard('rollback')] });
  assert.equal(decision.kind === 'restore' && decision.ended?.kind, 'failed');
});

test('while the fleet is not heard, no stage and no recovery begins, and a hold stays', () => {
  assert.deepEqual(next(baseline), { kind: 'stage', stage: 0 });
  assert.deepEqual(next(first), { kind: 'stage', stage: 1 });
  assert.deepEqual(next(last), { kind: 'recover' });
  assert.deepEqual(next(held), { kind: 'hold', sinceMs: undefined });
  for (const state of [baseline, first, last, held]) {
    assert.deepEqual(next(state, { guards: undefined }), { kind: 'stay' }, state.kind);
  }
  assert.deepEqual(next(recovery, { guards: undefined, recovery: 'back' }), { kind: 'stay' });
});

test('while the fleet is not heard, a failed erasure and a recovery timeout still end the drill', () => {
  assert.equal(next(first, { guards: undefined, eraseFailed: 'NOPERM' }).kind, 'restore');
  assert.equal(next({ kind: 'recovery', sinceMs: LONG_AGO_MS }, { guards: undefined }).kind, 'restore');
});

test('a guard that has just broken delays the next stage before it is breached', () => {
  for (const action of ['rollback', 'hold'] as const) {
    assert.deepEqual(next(first, { guards: [guard(action, { breached: false })] }), { kind: 'stay' });
  }
  assert.deepEqual(next(first, { guards: [guard('continue')] }), { kind: 'stage', stage: 1 });
});

test('with too few searches the drill waits for five minutes before the next stage', () => {
  const few = { hasEnoughSearches: () => false };
  assert.deepEqual(next(first, few), { kind: 'hold', sinceMs: NOW_MS });
  assert.deepEqual(next(held, few), { kind: 'stay' });
  const decision = next({ ...first, heldSinceMs: NOW_MS - 300_000 }, few);
  const ended = decision.kind === 'restore' ? decision.ended : undefined;
  assert.deepEqual(ended, { kind: 'not-measured', detail: 'For 5 minutes there were too few searches to go on.' });
  assert.deepEqual(next(last, few), { kind: 'recover' });
});

test('a drill passes with enough searches afterwards, from as many processes as before', () => {
  const kindOf = (changes: Partial<DrillObservation>) => {
    const decision = next(after, changes);
    return decision.kind === 'end' ? decision.ended.kind : decision.kind;
  };
  assert.equal(kindOf({ searches: 20 }), 'passed');
  assert.equal(kindOf({ searches: 19 }), 'not-measured');
  assert.equal(kindOf({ searches: undefined }), 'not-measured');
  assert.equal(kindOf({ processes: () => ({ heard: 2, before: 3 }) }), 'failed');
  assert.equal(kindOf({ processes: () => ({ heard: 3, before: 2 }) }), 'passed');
});

test('the baseline waits for a minute for searches of the keys to be flushed, and nothing is flushed without them', () => {
  const few = { cohortSearches: () => 19 };
  assert.deepEqual(next({ kind: 'baseline', sinceMs: NOW_MS - PLAN.baselineMs }, few), { kind: 'stay' });
  const decision = next({ kind: 'baseline', sinceMs: NOW_MS - 60_000 }, few);
  const ended = decision.kind === 'end' ? decision.ended : undefined;
  assert.equal(ended?.kind, 'not-measured');
  assert.match(ended?.detail ?? '', /^The keys to be flushed were searched for 19 times in 60 s; 20 are needed\./);
  assert.deepEqual(next(baseline, { cohortSearches: () => 20 }), { kind: 'stage', stage: 0 });
});

test('a recovery fails only by measured values; without them it ends as not measured', () => {
  const kindAfter = (ms: number, changes: Partial<DrillObservation>) => {
    const decision = next({ kind: 'recovery', sinceMs: NOW_MS - ms }, changes);
    return decision.kind === 'restore' ? decision.ended?.kind : decision.kind;
  };
  const timeoutMs = 200_000;
  const patient = planOf({ recovery: { withinPoints: 5, timeoutMs } });
  const unseen = decide(patient, { kind: 'recovery', sinceMs: NOW_MS - 60_000 }, 0, seenWith({ recovery: 'unseen' }));
  assert.equal(unseen.kind === 'restore' && unseen.ended?.kind, 'not-measured', 'it does not wait for its timeout');
  const away = decide(patient, { kind: 'recovery', sinceMs: NOW_MS - 60_000 }, 0, seenWith({ recovery: 'away' }));
  assert.deepEqual(away, { kind: 'stay' });
  assert.equal(kindAfter(PLAN.recovery.timeoutMs, { recovery: 'away' }), 'failed');
  assert.equal(kindAfter(PLAN.recovery.timeoutMs, { recovery: 'unclear' }), 'not-measured');
});
