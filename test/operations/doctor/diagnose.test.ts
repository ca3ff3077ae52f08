import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHECKS } from '../../../src/operations/doctor/checks/checks.ts';
import type { HostPart } from '../../../src/operations/doctor/collect/host-part.ts';
import { diagnose, mergeParts, windowsOf } from '../../../src/operations/doctor/diagnose.ts';
import type { Snapshot } from '../../../src/operations/doctor/facts.ts';
import { hostPartOf } from '../../../src/operations/doctor/window.ts';
import { silentEngine } from './fake-probes.ts';
import {
  engineWith,
  HEALTHY_NODE,
  hostWith,
  laterNode,
  nodeWith,
  raisedBy,
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

/** The part of a host with this address beside the loopback one. */
function partOf(name: string, address: string, length = SNAPSHOTS): HostPart {
  const snapshots = Array.from({ length }, (_, at) =>
    hostWith({ ...{ name, role: 'part', addresses: ['127.0.0.1', address] }, wallMs: WALL_MS + 5000 + at * MS }),
  );
  return { version: 1, snapshots };
}

const host = (at: number) => hostWith({ wallMs: WALL_MS + at * MS });

// --- parts ------------------------------------------------------------------------------------------------------------

test('parts follow the host of the service in their order, and one with a name that is taken gets another', () => {
  const merged = mergeParts(
    seriesOf((at) => ({ hosts: [host(at)] })),
    [partOf('db', '10.0.0.7'), partOf('web-1', '10.0.0.8'), partOf('db', '10.0.0.9'), partOf('db', '10.0.0.10')],
  );
  for (const { hosts } of merged) {
    assert.deepEqual(
      hosts.map(({ name, addresses }) => `${name} ${addresses[1]}`),
      ['web-1 10.0.0.1', 'db 10.0.0.7', 'web-1 (part 2) 10.0.0.8', 'db (part 2) 10.0.0.9', 'db (part 3) 10.0.0.10'],
    );
  }
});

test('the snapshots of a part are joined in their order', () => {
  const merged = mergeParts(
    seriesOf((at) => ({ hosts: [host(at)] })),
    [partOf('db', '10.0.0.7')],
  );
  assert.deepEqual(
    merged.map(({ hosts }) => hosts[1]?.wallMs),
    [0, 1, 2, 3].map((at) => WALL_MS + 5000 + at * MS),
  );
});

test('a part with fewer snapshots stands still at its last one, and a window without time raises nothing', () => {
  const merged = mergeParts(
    seriesOf((at) => ({ hosts: [host(at)] })),
    [partOf('db', '10.0.0.7', 2)],
  );
  assert.deepEqual(
    merged.map(({ hosts }) => hosts[1]?.wallMs),
    [0, 1, 1, 1].map((at) => WALL_MS + 5000 + at * MS),
  );
  for (const window of windowsOf(merged)) assert.deepEqual(raisedBy(CHECKS, window), []);
});

// --- reports ----------------------------------------------------------------------------------------------------------

test('hosts of stores and servers are unseen without a part of theirs, and those of names always', () => {
  const nodes = ['127.0.0.1:6379', '10.0.0.1:6380', '10.0.0.7:6379', '10.0.0.7:6380', '[fd00::7]:6379', 'redis-1:6379'];
  const snapshots = seriesOf((at) => ({
    hosts: [host(at)],
    stores: [
      storeWith(
        {},
        nodes.map((address) => nodeWith({ address })),
      ),
    ],
    engines: [
      engineWith({ endpoint: '10.0.0.9:9306' }),
      engineWith({ name: 'engine of cars', endpoint: 'localhost:9306' }),
      engineWith({ name: 'engine of boats', kind: 'sqlite', endpoint: 'embedded' }),
    ],
  }));
  const unseen = (parts: readonly HostPart[]): readonly string[] =>
    diagnose(mergeParts(snapshots, parts), { tookMs: 0 }).looked.unseen;
  assert.deepEqual(unseen([]), ['10.0.0.7', 'fd00::7', 'redis-1', '10.0.0.9']);
  assert.deepEqual(unseen([partOf('db', '10.0.0.7'), partOf('redis-1', 'fd00::7')]), ['redis-1', '10.0.0.9']);
});

test('a report tells what was looked at, and the nodes that did not answer', () => {
  const silent = nodeWith({ address: '127.0.0.1:6380', parts: { info: { skipped: 'no reply within 2 s' } } });
  const { looked, windows, windowSeconds, atMs } = diagnose(
    seriesOf((at) => ({
      ...{ hosts: [host(at)], service: serviceWith(), engines: [silentEngine()] },
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
        ...{ name: 'store of goods', kind: 'standalone' },
        ...{ nodes: [HEALTHY_NODE.address, silent.address], unreached: [silent.address] },
      },
      { name: 'control store', kind: 'standalone', nodes: [], unreached: [] },
    ],
    engines: [{ name: 'engine of goods', endpoint: '127.0.0.1:9306' }],
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
