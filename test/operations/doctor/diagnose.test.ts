import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Snapshot } from '../../../src/operations/doctor/facts.ts';
import { diagnose } from '../../../src/operations/doctor/judge.ts';
import { hostPartOf } from '../../../src/operations/doctor/window.ts';
import { silentEngine } from './fake-probes.ts';
import {
  HEALTHY_NODE,
  hostWith,
  laterNode,
  nodeWith,
  serviceWith,
  snapshotWith,
  storeWith,
  WALL_MS,
} from './harness.ts';

const SNAPSHOTS = 4;
const MS = 1000;

/** Four snapshots, a second apart. */
function seriesOf(change: (at: number) => Partial<Snapshot>): readonly Snapshot[] {
  return Array.from({ length: SNAPSHOTS }, (_, at) =>
    snapshotWith({ atMs: at * MS, wallMs: WALL_MS + at * MS, ...change(at) }),
  );
}

const host = (at: number) => hostWith({ wallMs: WALL_MS + at * MS });

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
  assert.deepEqual(
    report.findings.map(({ check }) => check),
    ['engine-unreachable'],
  );
  assert.deepEqual(diagnose(JSON.parse(JSON.stringify(snapshots)), { tookMs: 0 }), report);
});

test('one snapshot is no window: nothing is checked, and nothing is found', () => {
  const [only] = seriesOf(() => ({ engines: [silentEngine()] }));
  const report = diagnose(only === undefined ? [] : [only], { tookMs: 0 });
  assert.deepEqual([report.windows, report.windowSeconds, report.checked, report.findings.length], [0, 0, 0, 0]);
  assert.deepEqual(
    report.looked.engines.map(({ name }) => name),
    ['engine of goods'],
  );
  assert.equal(diagnose([], { tookMs: 0 }).looked.service, false);
});

test('accepted findings stand apart in a report, and wrong entries are its remarks', () => {
  const entry = { check: 'engine-unreachable', reason: 'it is being replaced', until: '2027-01-01' };
  const { findings, acknowledged, remarks } = diagnose(
    seriesOf(() => ({ engines: [silentEngine()] })),
    { tookMs: 0, acknowledgements: { entries: [entry], faults: ['acknowledgement 2: no such check'] } },
  );
  assert.deepEqual(findings, []);
  assert.deepEqual(
    acknowledged.map(({ check, acknowledged: accepted }) => [check, accepted?.reason]),
    [['engine-unreachable', 'it is being replaced']],
  );
  assert.deepEqual(remarks, ['acknowledgement 2: no such check']);
});

test('the host of an address stands before its last colon, without brackets', () => {
  assert.deepEqual(['10.0.0.1:6379', '[::1]:6379', 'redis-1:6379', 'embedded'].map(hostPartOf), [
    ...['10.0.0.1', '::1', 'redis-1'],
    '',
  ]);
});
