import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Check, CheckResult } from '../../../src/operations/doctor/check.ts';
import type { Snapshot } from '../../../src/operations/doctor/facts.ts';
import { createJudge, diagnose } from '../../../src/operations/doctor/judge.ts';
import { hostPartOf } from '../../../src/operations/doctor/window.ts';
import { pluck } from '../../pluck.ts';
import { silentEngine } from './fake-probes.ts';
import {
  HEALTHY_NODE,
  hostWith,
  laterNode,
  nodeWith,
  seriesOf,
  serviceWith,
  snapshotWith,
  storeWith,
  WALL_MS,
} from './harness.ts';

type State = CheckResult['state'];

/** A check that sees the next state of a list in each window; undefined: it sees no subject. */
function checkOf(states: readonly (State | undefined)[], subject = 'node'): Check {
  const left = [...states];
  return {
    id: 'store-test',
    area: 'store',
    severity: 'warning',
    title: 'a fault',
    needs: ['info'],
    minimum: 'none',
    raises: '≥ 2',
    clears: '< 1',
    why: 'because',
    source: 'a source',
    look: () => {
      const state = left.shift();
      if (state === undefined) return [];
      if (state === 'fine') return [{ subject, state }];
      if (state === 'skipped') return [{ subject, state, reason: 'refused' }];
      return [{ subject, state, evidence: `${left.length} left`, figures: {}, advice: [] }];
    },
  };
}

const snapshot = (at: number): Snapshot => snapshotWith({ atMs: at * 1000, wallMs: at * 1000 });

/** Whether the finding stands after each window. */
function standing(states: readonly (State | undefined)[]): readonly boolean[] {
  const judge = createJudge([checkOf(states)]);
  return states.map((_, at) => {
    judge.add({ before: snapshot(at), after: snapshot(at + 1), seconds: 1 });
    return judge.findings().length > 0;
  });
}

test('one window of a fault raises nothing, two of three do', () => {
  assert.deepEqual(standing(['raise', 'fine', 'fine', 'fine']), [false, false, false, false]);
  assert.deepEqual(standing(['raise', 'raise']), [false, true]);
  assert.deepEqual(standing(['raise', 'fine', 'raise']), [false, false, true]);
  assert.deepEqual(standing(['raise', 'fine', 'fine', 'raise']), [false, false, false, false]);
});

test('a figure between the two thresholds raises nothing, and keeps a finding', () => {
  assert.deepEqual(standing(['hold', 'hold', 'hold']), [false, false, false]);
  assert.deepEqual(standing(['raise', 'raise', 'hold', 'hold', 'hold', 'hold']), [false, true, true, true, true, true]);
});

test('a finding is cleared by two of three windows below the lower threshold', () => {
  assert.deepEqual(standing(['raise', 'raise', 'fine', 'fine']), [false, true, true, false]);
  assert.deepEqual(standing(['raise', 'raise', 'fine', 'raise', 'fine']), [false, true, true, true, false]);
});

test('figures that are missing keep a finding for two windows and not for a third', () => {
  assert.deepEqual(standing(['raise', 'raise', 'skipped', 'skipped', 'skipped']), [false, true, true, true, false]);
});

test('the finding of a subject that is gone is cleared', () => {
  assert.deepEqual(standing(['raise', 'raise', undefined, undefined]), [false, true, true, false]);
});

test('a finding has its windows, its rule, the newest evidence and the time of its beginning', () => {
  const judge = createJudge([checkOf(['raise', 'hold', 'raise'])]);
  for (let at = 0; at < 3; at += 1) judge.add({ before: snapshot(at), after: snapshot(at + 1), seconds: 1 });
  const [finding] = judge.findings();
  assert.equal(finding?.seen, '2 of 3 windows of 1.0 s');
  assert.equal(finding?.threshold, '≥ 2');
  assert.equal(finding?.evidence, '0 left');
  assert.equal(finding?.sinceMs, 3000);
});

test('each raise and each clearing is told once', () => {
  const judge = createJudge([checkOf(['raise', 'raise', 'raise', 'fine', 'fine', 'fine'])]);
  const told = Array.from({ length: 6 }, (_, at) => {
    const { raised, cleared } = judge.add({ before: snapshot(at), after: snapshot(at + 1), seconds: 1 });
    return [raised.length, cleared.length];
  });
  assert.deepEqual(told.map(String), ['0,0', '1,0', '0,0', '0,0', '0,1', '0,0']);
});

test('a skipped check is told with its reason and its subjects, and counts as not made', () => {
  const judge = createJudge([checkOf(['skipped'], 'one'), checkOf(['fine'], 'two')]);
  judge.add({ before: snapshot(0), after: snapshot(1), seconds: 1 });
  const { skipped, checked, fine } = judge.coverage();
  assert.deepEqual(skipped, [{ check: 'store-test', reason: 'refused', subjects: ['one'] }]);
  assert.deepEqual([checked, fine], [1, 1]);
});

test('subjects that come and go leave nothing behind', () => {
  let at = 0;
  const judge = createJudge([
    {
      ...checkOf([]),
      look: () => [
        { subject: `node ${at}`, state: 'fine' },
        { subject: 'stays', state: 'raise', evidence: '', figures: {}, advice: [] },
      ],
    },
  ]);
  const cleared: number[] = [];
  for (; at < 100; at += 1) {
    cleared.push(judge.add({ before: snapshot(at), after: snapshot(at + 1), seconds: 1 }).cleared.length);
  }
  assert.equal(judge.findings().length, 1);
  assert.ok(cleared.every((count) => count === 0));
});

test('a check that throws is told as one that could not be made, the others are made, and its finding stays a while', () => {
  let isBroken = false;
  const sound = checkOf(['raise', 'raise', 'raise', 'raise', 'raise'], 'other');
  const raising: CheckResult = { subject: 'node', state: 'raise', evidence: '', figures: {}, advice: [] };
  const broken: Check = {
    ...checkOf([]),
    id: 'store-broken',
    look: () => {
      if (isBroken) throw new TypeError('no such field');
      return [raising];
    },
  };
  const judge = createJudge([broken, sound]);
  const counts = Array.from({ length: 5 }, (_, at) => {
    isBroken = at >= 2;
    judge.add({ before: snapshot(at), after: snapshot(at + 1), seconds: 1 });
    return judge.findings().length;
  });
  assert.deepEqual(counts, [0, 2, 2, 2, 1]);
  assert.deepEqual(judge.coverage().skipped, [
    { check: 'store-broken', reason: 'the check failed: no such field', subjects: ['node'] },
  ]);
});

const host = (at: number) => hostWith({ wallMs: WALL_MS + at * 1000 });

test('a report tells what was looked at, and the nodes that did not answer', () => {
  const silent = nodeWith({ address: '127.0.0.1:6380', parts: { info: { skipped: 'no reply within 2 s' } } });
  const { looked, windows, windowSeconds, atMs } = diagnose(
    seriesOf((at) => ({
      hosts: [host(at)],
      service: serviceWith(),
      engines: [silentEngine()],
      stores: [
        storeWith({}, [HEALTHY_NODE, silent]),
        storeWith({ name: 'control store', domains: [], nodes: { skipped: 'no node answered' } }),
      ],
    })),
    { tookMs: 3100 },
  );
  assert.deepEqual(looked, {
    stores: [
      {
        name: 'store of goods',
        kind: 'standalone',
        nodes: [HEALTHY_NODE.address, silent.address],
        unreached: [silent.address],
      },
      { name: 'control store', kind: 'standalone', nodes: [], unreached: [] },
    ],
    engines: [{ name: 'engine of goods', endpoint: '127.0.0.1:9306', version: undefined }],
    hosts: ['web-1'],
    unseen: [],
    service: true,
  });
  assert.deepEqual([windows, windowSeconds, atMs], [3, 1, WALL_MS + 3000]);
});

test('snapshots that were kept as JSON give the same report again', () => {
  let node = HEALTHY_NODE;
  const snapshots = seriesOf((at) => {
    node = at === 0 ? node : laterNode(node);
    return { hosts: [host(at)], stores: [storeWith({}, [node])], engines: [silentEngine()], service: serviceWith() };
  });
  const report = diagnose(snapshots, { tookMs: 0 });
  assert.deepEqual(pluck(report.findings, 'check'), ['engine-unreachable']);
  assert.deepEqual(diagnose(JSON.parse(JSON.stringify(snapshots)), { tookMs: 0 }), report);
});

test('one snapshot is no window: nothing is checked, and nothing is found', () => {
  const [only] = seriesOf(() => ({ engines: [silentEngine()] }));
  const report = diagnose(only === undefined ? [] : [only], { tookMs: 0 });
  assert.deepEqual([report.windows, report.windowSeconds, report.checked, report.findings.length], [0, 0, 0, 0]);
  assert.deepEqual(pluck(report.looked.engines, 'name'), ['engine of goods']);
  assert.equal(diagnose([], { tookMs: 0 }).looked.service, false);
});

test('the host of an address stands before its last colon, without brackets', () => {
  const addresses = ['10.0.0.1:6379', '[::1]:6379', 'redis-1:6379', 'embedded'];
  assert.deepEqual(addresses.map(hostPartOf), ['10.0.0.1', '::1', 'redis-1', '']);
});
