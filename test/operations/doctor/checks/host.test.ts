import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Observation, Window } from '../../../../src/operations/doctor/check.ts';
import { HOST_CHECKS } from '../../../../src/operations/doctor/checks/host.ts';
import type { HostFacts, StoreFacts } from '../../../../src/operations/doctor/facts.ts';
import {
  evidenceOf,
  healthyWindow,
  hostWith,
  lookerOf,
  type NodeChange,
  nodeWith,
  onlyOf,
  raisedBy,
  snapshotWith,
  storeWith,
  windowOf,
} from '../harness.ts';

const REDIS: HostFacts['servers'] = { known: [{ program: 'redis-server', pid: 7, port: 6379 }] };
const look = (id: string) => lookerOf(HOST_CHECKS, id);

function windowWith(
  before: Partial<HostFacts>,
  after: Partial<HostFacts>,
  stores: readonly StoreFacts[] = [],
  seconds = 1,
): Window {
  const at = (change: Partial<HostFacts>) => snapshotWith({ hosts: [hostWith(change)], stores });
  return windowOf(at(before), at(after), seconds);
}

const said = (id: string, ...args: Parameters<typeof windowWith>): Observation => onlyOf(look(id)(windowWith(...args)));
/** The observation of a level, which one reading shows. */
const saidOf = (id: string, host: Partial<HostFacts>, stores: readonly StoreFacts[] = []): Observation =>
  said(id, host, host, stores);

function cpu(busySeconds: number, idleSeconds: number, stolenSeconds: number): Partial<HostFacts> {
  return { cpu: { known: { busySeconds, idleSeconds, stolenSeconds } } };
}

test('a healthy host has no finding', () => {
  assert.deepEqual(raisedBy(HOST_CHECKS, healthyWindow()), []);
});

test('stolen processor time is told as a share of all', () => {
  const start = cpu(100, 500, 10);
  assert.equal(
    evidenceOf(said('host-steal', start, cpu(100.5, 501.4, 10.1))),
    '5.0 % of the CPU time was stolen, 25.0 % was used.',
  );
  assert.equal(said('host-steal', start, cpu(100.5, 501.45, 10.05)).state, 'hold');
  assert.equal(said('host-steal', start, cpu(100.5, 501.49, 10.01)).state, 'fine');
});

test('busy processors are information', () => {
  const start = cpu(100, 500, 0);
  assert.equal(HOST_CHECKS.find(({ id }) => id === 'host-cpu-full')?.severity, 'info');
  assert.equal(evidenceOf(said('host-cpu-full', start, cpu(101.95, 500.05, 0))), '97.5 % of 2 processors were used.');
  assert.equal(said('host-cpu-full', start, cpu(101.8, 500.2, 0)).state, 'hold');
  assert.equal(said('host-cpu-full', start, cpu(101.6, 500.4, 0)).state, 'fine');
});

test('in a window of a few hundredths of a second no share of the CPU time is told', () => {
  for (const id of ['host-steal', 'host-cpu-full']) {
    assert.equal(said(id, cpu(100, 500, 0), cpu(100.2, 500, 0.2), [], 0.2).state, 'skipped');
    assert.deepEqual(said(id, { cpu: { skipped: 'there is no /proc/stat' } }, { cpu: { skipped: 'none' } }), {
      ...{ subject: 'host web-1', state: 'skipped', reason: 'none' },
    });
  }
});

test('a CPU limit that stops the processes is told', () => {
  const at = (periods: number, throttled: number): Partial<HostFacts> => ({
    throttling: { known: { periods, throttled, throttledSeconds: 0, limitCores: 1.5 } },
  });
  assert.equal(
    evidenceOf(said('host-throttling', at(100, 5), at(110, 7))),
    '2 of 10 periods were throttled, with a limit of 1.5 cores.',
  );
  assert.equal(said('host-throttling', at(100, 5), at(150, 6), [], 5).state, 'hold');
  assert.equal(said('host-throttling', at(100, 5), at(110, 5)).state, 'fine');
  assert.equal(said('host-throttling', at(100, 5), at(104, 9)).state, 'skipped');
  assert.deepEqual(saidOf('host-throttling', { throttling: { skipped: 'no CPU limit is set' } }), {
    ...{ subject: 'host web-1', state: 'skipped', reason: 'no CPU limit is set' },
  });
});

test('descriptors are those of the service: a part of another host has none of its own', () => {
  const at = (open: number): Partial<HostFacts> => ({ descriptors: { known: { open, limit: 1000 } } });
  assert.equal(evidenceOf(saidOf('host-descriptors', at(800))), '800 of 1000 descriptors are open.');
  assert.equal(saidOf('host-descriptors', at(700)).state, 'hold');
  assert.equal(saidOf('host-descriptors', at(699)).state, 'fine');
  assert.equal(saidOf('host-descriptors', { descriptors: { skipped: 'there is no /proc/self' } }).state, 'skipped');
  const part = { ...at(1000), role: 'part' } as const;
  assert.deepEqual(look('host-descriptors')(windowWith(part, part)), []);
});

function kernel(change: Readonly<Record<string, string>>): HostFacts['kernel'] {
  const healthy = hostWith().kernel;
  return { known: { ...('known' in healthy ? healthy.known : {}), ...change } };
}

const SETTINGS = [
  ['host-thp', { transparent_hugepage: 'always' }, 'transparent_hugepage is always, and store servers run here: 1.'],
  ['host-somaxconn', { 'net.core.somaxconn': '128' }, 'net.core.somaxconn is 128.'],
] as const;

for (const [id, wrong, evidence] of SETTINGS) {
  test(`${id} is told of a host with a store server, and of no other`, () => {
    const host = { kernel: kernel(wrong), servers: REDIS };
    assert.equal(evidenceOf(saidOf(id, host)), evidence);
    assert.equal(saidOf(id, { ...host, kernel: kernel({}) }).state, 'fine');
    assert.equal(saidOf(id, { ...host, servers: { known: [{ program: 'searchd', pid: 9 }] } }).state, 'fine');
    assert.deepEqual(saidOf(id, { ...host, servers: { skipped: 'cheap' } }), {
      ...{ subject: 'host web-1', state: 'skipped', reason: 'cheap' },
    });
    assert.deepEqual(saidOf(id, { ...host, kernel: { known: {} } }).state, 'skipped');
  });
}

const OVERCOMMIT = { kernel: kernel({ 'vm.overcommit_memory': '0' }), servers: REDIS };

function overcommitSaid(change: NodeChange, host: Partial<HostFacts> = {}): Observation['state'] {
  return saidOf('host-overcommit', { ...OVERCOMMIT, ...host }, [storeWith({}, [nodeWith(change)])]).state;
}

test('overcommit counts where a node of this host forks', () => {
  const saving = nodeWith({ config: { save: '3600 1' } });
  assert.equal(
    evidenceOf(saidOf('host-overcommit', OVERCOMMIT, [storeWith({}, [saving])])),
    'vm.overcommit_memory is 0, and these nodes on this host fork: 127.0.0.1:6379.',
  );
  assert.equal(overcommitSaid({ info: { aof_enabled: 1 } }), 'raise');
  assert.equal(overcommitSaid({ info: { total_forks: 2, connected_slaves: 1 } }), 'raise');
  assert.equal(overcommitSaid({ info: { total_forks: 2 }, parts: { config: { skipped: 'NOPERM' } } }), 'raise');
  // The fork of a setting that was changed since.
  assert.equal(overcommitSaid({ info: { total_forks: 2, connected_slaves: 0 } }), 'fine');
  assert.equal(overcommitSaid({ config: { save: '3600 1' } }, { kernel: kernel({}) }), 'fine');
});

test('a node is of the host that has its address, and one at a loopback address of the host of the service', () => {
  const saving = { config: { save: '3600 1' } };
  assert.equal(overcommitSaid({ ...saving, address: '10.0.0.9:6379' }), 'fine');
  assert.equal(overcommitSaid({ ...saving, address: '[fd00::9]:6379' }, { addresses: ['fd00::9'] }), 'raise');
  assert.equal(overcommitSaid({ ...saving, address: '10.0.0.1:6379' }, { role: 'part' }), 'raise');
  assert.equal(overcommitSaid(saving, { role: 'part' }), 'fine');
});

function memory(change: Readonly<Record<string, number>>): Partial<HostFacts> {
  const healthy = { totalBytes: 16e9, availableBytes: 12e9, swapTotalBytes: 2e9, swapFreeBytes: 1e9 };
  return { memory: { known: { ...healthy, swappedIn: 500, swappedOut: 500, ...change } } };
}

test('pages that are swapped in the window count, not those since the boot', () => {
  assert.equal(
    evidenceOf(said('host-swap', memory({}), memory({ swappedIn: 600, swappedOut: 700 }), [], 2)),
    '150 pages a second are swapped.',
  );
  assert.equal(said('host-swap', memory({}), memory({ swappedOut: 550 })).state, 'hold');
  assert.equal(said('host-swap', memory({}), memory({ swappedOut: 505 })).state, 'fine');
  assert.equal(said('host-swap', { memory: { skipped: 'none' } }, memory({})).state, 'skipped');
});

test('little memory is told until some more is available', () => {
  const at = (availableBytes: number) => memory({ totalBytes: 2 ** 34, availableBytes });
  assert.equal(evidenceOf(saidOf('host-memory', at(2 ** 29))), '512 of 16384 MiB are available.');
  assert.equal(saidOf('host-memory', at(0.06 * 2 ** 34)).state, 'hold');
  assert.equal(saidOf('host-memory', at(0.09 * 2 ** 34)).state, 'fine');
  assert.equal(saidOf('host-memory', { memory: { skipped: 'there is no /proc/meminfo' } }).state, 'skipped');
});

test('a host that was not there before is judged by its levels only', () => {
  const window = windowOf(snapshotWith(), snapshotWith({ hosts: [hostWith(memory({ availableBytes: 1e8 }))] }));
  assert.deepEqual(raisedBy(HOST_CHECKS, window), ['host-memory: host web-1']);
  for (const id of ['host-steal', 'host-cpu-full', 'host-swap'])
    assert.equal(onlyOf(look(id)(window)).state, 'skipped');
});
