import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHostReader } from '../../../../src/operations/doctor/collect/host.ts';
import { createHostPart, type HostPart, hostPartOf } from '../../../../src/operations/doctor/collect/host-part.ts';
import type { HostFacts } from '../../../../src/operations/doctor/facts.ts';
import { hostWith } from '../harness.ts';

const CLOCK = { wallMs: () => 1_700_000_000_000, monotonicMs: () => performance.now() };

const written = (part: HostPart): unknown => JSON.parse(JSON.stringify(part));
/** A part whose first reading is unchanged, as it stands in a file. */
const partWith = (change: Readonly<Record<string, unknown>> = {}): unknown => {
  const host = { ...hostWith({ role: 'part' }), ...change };
  const others = Array.from({ length: 3 }, () => host);
  return JSON.parse(JSON.stringify({ version: 1, snapshots: [hostWith({ role: 'part' }), ...others] }));
};

test('a part that was made on this machine is accepted from its file as it was', async () => {
  const part = await createHostPart(createHostReader({ role: 'part', clock: CLOCK }), 1);
  assert.equal(part.snapshots.length, 4);
  assert.ok(part.snapshots.every(({ role }) => role === 'part'));
  assert.deepEqual(hostPartOf(written(part)), written(part));
});

test('a part has full readings, in their order, and looks no names up', async () => {
  const asked: unknown[] = [];
  const part = await createHostPart((depth, names) => {
    asked.push([depth, names]);
    return Promise.resolve(hostWith({ role: 'part', wallMs: asked.length }));
  }, 1);
  assert.deepEqual(asked, Array(4).fill(['full', []]));
  assert.deepEqual(
    part.snapshots.map(({ wallMs }) => wallMs),
    [1, 2, 3, 4],
  );
});

test('a host with every figure is accepted', () => {
  const host: Partial<HostFacts> = {
    throttling: { known: { periods: 10, throttled: 1, throttledSeconds: 0.2, limitCores: 1.5 } },
    qdiscs: {
      known: [
        {
          ...{ device: 'eth0', kind: 'tbf', handle: '1:', parent: 'root', rateBits: 5e7, burstBytes: 1600 },
          ...{ sentBytes: 0, sentPackets: 0, dropped: 0, overlimits: 0, backlogBytes: 0 },
        },
      ],
    },
    sockets: { known: [{ remote: '[::1]:6379', count: 1, sendBytes: 0, receiveBytes: 0 }] },
    dns: { known: [{ name: 'redis.shop', problem: 'ENOTFOUND', addresses: [] }] },
    servers: { known: [{ program: 'searchd', pid: 7, maxChildren: 40, indexAgeSeconds: { goods: 90 } }] },
  };
  const part = partWith(host as Readonly<Record<string, unknown>>);
  assert.deepEqual(hostPartOf(part), part);
});

test('a part is never of the host of the service, whatever its file says', () => {
  assert.equal(hostPartOf(partWith({ role: 'service' })).snapshots[1]?.role, 'part');
});

test('members that nobody knows are left out', () => {
  const servers = { known: [{ program: 'redis-server', pid: 7, cmdline: '--requirepass hunter2' }] };
  const part = JSON.stringify(hostPartOf(partWith({ servers, environment: { TOKEN: 'hunter2' } })));
  assert.ok(!part.includes('hunter2'), part);
});

const FAULTS: readonly (readonly [string, unknown, RegExp])[] = [
  ['nothing', null, /^a part is no object; serpcache doctor --host makes a part$/],
  ['a list', [], /^a part is no object/],
  ['another version', { version: 2, snapshots: [] }, /^a part of another version: 2 instead of 1$/],
  ['no snapshots', { version: 1 }, /^snapshots must be a list of 4 readings of a host$/],
  ['two snapshots', { version: 1, snapshots: [1, 2] }, /^snapshots must be a list of 4 readings of a host$/],
  ['a snapshot that is no object', { version: 1, snapshots: [1, 2, 3, 4] }, /^snapshots\[0\] is no object/],
  ['an empty name', partWith({ name: '' }), /^snapshots\[1\]\.name must be a host name$/],
  ['a number as an address', partWith({ addresses: [7] }), /^snapshots\[1\]\.addresses must be a list of addresses$/],
  ['no clock', partWith({ wallMs: undefined }), /^snapshots\[1\] must have the numbers wallMs and cores$/],
  ['a part that is missing', partWith({ cpu: undefined }), /^snapshots\[1\]\.cpu is no object/],
  ['a part without a value', partWith({ tcp: {} }), /^snapshots\[1\]\.tcp must have known or skipped$/],
  ['a figure that is missing', partWith({ cpu: { known: { busySeconds: 1 } } }), /^snapshots\[1\]\.cpu\.known/],
  ['a text as a figure', partWith({ descriptors: { known: { open: '7', limit: 9 } } }), /^snapshots\[1\]\.descriptors/],
  ['no list', partWith({ qdiscs: { known: 'tbf' } }), /^snapshots\[1\]\.qdiscs\.known/],
  ['a wrong item', partWith({ interfaces: { known: [{ name: 'eth0' }] } }), /^snapshots\[1\]\.interfaces\.known\.0/],
];

for (const [name, value, message] of FAULTS) {
  test(`a part with a fault names the member: ${name}`, () => {
    assert.throws(() => hostPartOf(value), { message });
  });
}
