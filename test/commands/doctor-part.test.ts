import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHostPart, type HostPart, hostPartFrom, mergeParts } from '../../src/commands/doctor-part.ts';
import { createHostReader } from '../../src/operations/doctor/collect/host.ts';
import type { HostFacts } from '../../src/operations/doctor/facts.ts';
import { diagnose } from '../../src/operations/doctor/judge.ts';
import { engineWith, hostWith, nodeWith, seriesOf, storeWith, TBF, WALL_MS } from '../operations/doctor/harness.ts';
import { pluck } from '../pluck.ts';

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
  assert.deepEqual(hostPartFrom(written(part)), written(part));
});

test('a part has full readings, in their order, and looks no names up', async () => {
  const asked: unknown[] = [];
  const part = await createHostPart((depth, names) => {
    asked.push([depth, names]);
    return Promise.resolve(hostWith({ role: 'part', wallMs: asked.length }));
  }, 1);
  assert.deepEqual(asked, Array(4).fill(['full', []]));
  assert.deepEqual(pluck(part.snapshots, 'wallMs'), [1, 2, 3, 4]);
});

test('a host with every figure is accepted', () => {
  const host: Partial<HostFacts> = {
    qdiscs: { known: [TBF] },
    dns: { known: [{ name: 'redis.shop', problem: 'ENOTFOUND', addresses: [] }] },
    servers: { known: [{ program: 'searchd', pid: 7, maxChildren: 40, indexAgeSeconds: { goods: 90 } }] },
  };
  const part = partWith(host as Readonly<Record<string, unknown>>);
  assert.deepEqual(hostPartFrom(structuredClone(part)), part);
});

test('a part is never of the host of the service, whatever its file says', () => {
  assert.equal(hostPartFrom(partWith({ role: 'service' })).snapshots[1]?.role, 'part');
});

test('members that nobody knows are left out', () => {
  const servers = { known: [{ program: 'redis-server', pid: 7, cmdline: '--requirepass hunter2' }] };
  const part = JSON.stringify(hostPartFrom(partWith({ servers, environment: { TOKEN: 'hunter2' } })));
  assert.ok(!part.includes('hunter2'), part);
});

const FAULTS: readonly (readonly [string, unknown, RegExp])[] = [
  ['nothing', null, /^a part must be object; serpcache doctor --host makes a part$/],
  ['a list', [], /^a part must be object/],
  ['another version', { version: 2, snapshots: [] }, /^a part of another version: 2 instead of 1$/],
  ['no snapshots', { version: 1 }, /^a part must have required properties snapshots/],
  [
    'two snapshots',
    { ...(partWith() as HostPart), snapshots: [hostWith(), hostWith()] },
    /^snapshots must not have fewer/,
  ],
  ['no list of snapshots', { version: 1, snapshots: 4 }, /^snapshots must be array/],
  ['a snapshot that is no object', { version: 1, snapshots: [1, 2, 3, 4] }, /^snapshots\.0 must be object/],
  ['an empty name', partWith({ name: '' }), /^snapshots\.1\.name must not/],
  ['a number as an address', partWith({ addresses: [7] }), /^snapshots\.1\.addresses\.0 must be string/],
  ['no clock', partWith({ wallMs: undefined }), /^snapshots\.1 must have required properties wallMs/],
  ['a part that is missing', partWith({ memory: undefined }), /^snapshots\.1 must have required properties memory/],
  ['a part without a value', partWith({ dns: {} }), /^snapshots\.1\.dns must have required properties known/],
  ['a figure that is missing', partWith({ memory: { known: { swappedIn: 1 } } }), /^snapshots\.1\.memory\.known/],
  ['a text as a figure', partWith({ memory: { known: { swappedIn: '7', swappedOut: 9 } } }), /^snapshots\.1\.memory/],
  ['no list', partWith({ qdiscs: { known: 'tbf' } }), /^snapshots\.1\.qdiscs\.known/],
  ['a wrong item', partWith({ servers: { known: [{ program: 'searchd' }] } }), /^snapshots\.1\.servers\.known\.0/],
];

for (const [name, value, message] of FAULTS) {
  test(`a part with a fault names the member: ${name}`, () => {
    assert.throws(() => hostPartFrom(value), { message });
  });
}

// --- joined with an examination -----------------------------------------------------------------------------------

/** The part of a host with this address beside the loopback one. */
function partOf(name: string, address: string): HostPart {
  const snapshots = [0, 1, 2, 3].map((at) =>
    hostWith({ name, role: 'part', addresses: ['127.0.0.1', address], wallMs: WALL_MS + 5000 + at * 1000 }),
  );
  return { version: 1, snapshots };
}

const host = (at: number) => hostWith({ wallMs: WALL_MS + at * 1000 });

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
    [0, 1, 2, 3].map((at) => WALL_MS + 5000 + at * 1000),
  );
});

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
