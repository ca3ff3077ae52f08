import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Observation, Window } from '../../../../src/operations/doctor/check.ts';
import { NETWORK_CHECKS } from '../../../../src/operations/doctor/checks/network.ts';
import type { DnsFacts, HostFacts, NodeFacts } from '../../../../src/operations/doctor/facts.ts';
import {
  engineWith,
  evidenceOf,
  healthyWindow,
  hostWith,
  lookerOf,
  nodeWith,
  onlyOf,
  raisedBy,
  serviceWith,
  snapshotWith,
  storeWith,
  windowOf,
} from '../harness.ts';

const look = (id: string) => lookerOf(NETWORK_CHECKS, id);

function hostWindow(before: Partial<HostFacts>, after: Partial<HostFacts> = before, seconds = 1): Window {
  const at = (change: Partial<HostFacts>) => snapshotWith({ hosts: [hostWith(change)] });
  return windowOf(at(before), at(after), seconds);
}

const said = (id: string, ...args: Parameters<typeof hostWindow>): Observation => onlyOf(look(id)(hostWindow(...args)));

/** PINGs that took this time, and the last of them another. */
function pings(count: number, ms: number, lastMs = ms): Partial<NodeFacts> {
  return { rtt: { known: [...Array.from({ length: count - 1 }, () => ms), lastMs] } };
}

test('a healthy network has no finding', () => {
  assert.deepEqual(raisedBy(NETWORK_CHECKS, healthyWindow()), []);
});

// --- round trips ------------------------------------------------------------------------------------------------------

function rttSaid(parts: Partial<NodeFacts>, { deadlineMs = 50, loopDelayMs = 0 } = {}): Observation {
  const { settings } = storeWith();
  const snapshot = snapshotWith({
    stores: [storeWith({ settings: { ...settings, deadlineMs } }, [nodeWith({ parts })])],
    service: serviceWith({ loop: { delayMs: loopDelayMs, maxDelayMs: 50, utilisation: 0.2 } }),
  });
  return onlyOf(look('network-rtt')(windowOf(snapshot, snapshot)));
}

test('a node is far away by the median of its PINGs, or by its share of the deadline', () => {
  assert.match(
    evidenceOf(rttSaid(pings(20, 6, 40))),
    /^PING takes 6\.00 ms in the median of 20, at worst 40 ms; a read has 50 ms/,
  );
  assert.equal(rttSaid(pings(20, 4)).state, 'hold');
  assert.equal(rttSaid(pings(20, 2, 300)).state, 'fine');
  assert.equal(rttSaid(pings(20, 2), { deadlineMs: 4 }).state, 'raise');
  assert.equal(rttSaid(pings(20, 1.9), { deadlineMs: 4 }).state, 'fine');
});

test('the delay of the event loop is no distance', () => {
  assert.equal(rttSaid(pings(20, 6), { loopDelayMs: 4 }).state, 'fine');
});

test('four PINGs, or none, tell no distance', () => {
  assert.equal(rttSaid(pings(4, 60)).state, 'skipped');
  assert.deepEqual(rttSaid({ rtt: { skipped: 'it did not answer' } }), {
    subject: '127.0.0.1:6379 (store of goods)',
    state: 'skipped',
    reason: 'it did not answer',
  });
});

interface Surroundings {
  readonly intrinsicMaxMs?: number;
  readonly loopMaxMs?: number;
  readonly host?: Partial<HostFacts>;
}

function jitterSaid(parts: Partial<NodeFacts>, surroundings: Surroundings = {}): Observation {
  const { intrinsicMaxMs = 0.4, loopMaxMs = 1, host } = surroundings;
  const intrinsic: HostFacts['intrinsic'] = { known: { medianMs: 0.1, maxMs: intrinsicMaxMs, samples: 60 } };
  const snapshot = snapshotWith({
    stores: [storeWith({}, [nodeWith({ parts })])],
    hosts: [hostWith({ intrinsic, ...host })],
    loopMaxMs,
  });
  return onlyOf(look('network-jitter')(windowOf(snapshot, snapshot)));
}

test('a round trip that stalls is told beside the delays of the doctor itself', () => {
  assert.equal(
    evidenceOf(jitterSaid(pings(20, 0.2, 40))),
    'PING took 40 ms at worst and 0.20 ms in the median; the doctor itself was at most 1.00 ms late.',
  );
  assert.equal(jitterSaid(pings(20, 0.2, 8)).state, 'hold');
  assert.equal(jitterSaid(pings(20, 0.2, 5)).state, 'fine');
  assert.equal(jitterSaid(pings(20, 5, 40)).state, 'fine');
});

test('a busy host or a busy event loop is no stall of the network', () => {
  assert.equal(jitterSaid(pings(20, 0.2, 40), { intrinsicMaxMs: 38 }).state, 'fine');
  assert.equal(jitterSaid(pings(20, 0.2, 40), { loopMaxMs: 38 }).state, 'fine');
});

test('without enough PINGs, or without the latency of the own host, no stall is told', () => {
  assert.equal(jitterSaid(pings(14, 0.2, 40)).state, 'skipped');
  assert.equal(jitterSaid(pings(20, 0.2, 40), { host: { intrinsic: { skipped: 'cheap' } } }).state, 'skipped');
  assert.equal(jitterSaid(pings(20, 0.2, 40), { host: { role: 'part' } }).state, 'skipped');
});

// --- TCP --------------------------------------------------------------------------------------------------------------

type Tcp = Extract<HostFacts['tcp'], { readonly known: unknown }>['known'];

const START: Tcp = { segmentsOut: 1e6, retransmits: 500, listenOverflows: 70, listenDrops: 74, timeouts: 5 };

function tcp(segmentsOut: number, retransmits: number, listenOverflows = 0): Partial<HostFacts> {
  return {
    tcp: {
      known: {
        ...START,
        segmentsOut: START.segmentsOut + segmentsOut,
        retransmits: START.retransmits + retransmits,
        listenOverflows: START.listenOverflows + listenOverflows,
      },
    },
  };
}

test('lost packets count as a share of many', () => {
  const before = tcp(0, 0);
  const id = 'network-retransmits';
  assert.equal(evidenceOf(said(id, before, tcp(2000, 20))), '20 of 2000 segments were sent again (1.0 %).');
  assert.equal(said(id, before, tcp(4000, 24)).state, 'hold');
  assert.equal(said(id, before, tcp(10_000, 40)).state, 'fine');
  // A handful is chance.
  assert.equal(said(id, before, tcp(1000, 19)).state, 'fine');
  assert.equal(said(id, before, tcp(999, 900)).state, 'skipped');
  assert.equal(said(id, { tcp: { skipped: 'there is no /proc/net/snmp' } }).state, 'skipped');
});

test('connections that did not fit into a listen queue in the window are told, and no earlier ones', () => {
  const found = said('network-listen-drops', tcp(0, 0), tcp(0, 0, 2));
  assert.equal(evidenceOf(found), '2 connections did not fit into a listen queue in the window.');
  assert.equal(said('network-listen-drops', tcp(0, 0, 2)).state, 'fine');
  // The host was started again.
  assert.equal(said('network-listen-drops', tcp(0, 0, 2), tcp(0, 0)).state, 'fine');
  assert.equal(said('network-listen-drops', { tcp: { skipped: 'none' } }).state, 'skipped');
});

type Socket = Extract<HostFacts['sockets'], { readonly known: unknown }>['known'][number];

function queuesSaid(remotes: readonly Partial<Socket>[], host: Partial<HostFacts> = {}, address?: string): Observation {
  const nodes = [nodeWith(address === undefined ? {} : { address })];
  const known = remotes.map((one) => ({ remote: '10.0.0.5:6379', count: 4, sendBytes: 0, receiveBytes: 0, ...one }));
  const snapshot = snapshotWith({
    stores: [storeWith({}, nodes)],
    engines: [engineWith()],
    hosts: [hostWith({ sockets: { known }, ...host })],
  });
  return onlyOf(look('network-socket-queues')(windowOf(snapshot, snapshot)));
}

test('bytes that wait in sockets to a store or a search server are told', () => {
  const node = '10.0.0.5:6379';
  assert.equal(
    evidenceOf(queuesSaid([{ sendBytes: 100 }, { sendBytes: 2 ** 20 }], {}, node)),
    '4 sockets to 10.0.0.5:6379 hold 1048576 bytes to send and 0 bytes to read.',
  );
  assert.equal(queuesSaid([{ remote: '127.0.0.1:9306', receiveBytes: 2 ** 21 }]).state, 'raise');
  assert.equal(queuesSaid([{ sendBytes: 2 ** 19 }], {}, node).state, 'hold');
  assert.equal(queuesSaid([{ sendBytes: 2 ** 18 }], {}, node).state, 'fine');
  assert.equal(queuesSaid([], {}, node).state, 'fine');
  assert.equal(queuesSaid([], { sockets: { skipped: 'cheap' } }, node).state, 'skipped');
});

test('sockets to an address that is neither a store nor a search server are the business of others', () => {
  assert.equal(queuesSaid([{ remote: '10.0.0.66:443', sendBytes: 2 ** 24 }]).state, 'fine');
});

test('a node that is configured by name is found at the addresses of the name', () => {
  const dns: HostFacts['dns'] = {
    known: [{ name: 'redis.shop', lookupMs: 1, addresses: ['10.0.0.5', 'fd00::5'] }],
  };
  for (const remote of ['10.0.0.5:6379', '[fd00::5]:6379']) {
    assert.equal(queuesSaid([{ remote, sendBytes: 2 ** 20 }], { dns }, 'redis.shop:6379').state, 'raise');
    assert.equal(queuesSaid([{ remote, sendBytes: 2 ** 20 }], {}, 'redis.shop:6379').state, 'fine');
  }
});

// --- names ------------------------------------------------------------------------------------------------------------

const named = (change: Partial<DnsFacts>): Partial<HostFacts> => ({
  dns: { known: [{ name: 'redis.shop', addresses: ['10.0.0.5'], lookupMs: 2, ...change }] },
});

test('a name that resolves slowly, or not at all, is told', () => {
  const slow = said('network-dns-slow', named({ lookupMs: 240 }));
  assert.equal(evidenceOf(slow), 'redis.shop took 240 ms to become 10.0.0.5.');
  assert.equal(slow.subject, 'name redis.shop on web-1');
  assert.equal(said('network-dns-slow', named({ lookupMs: 60 })).state, 'hold');
  assert.equal(said('network-dns-slow', named({})).state, 'fine');
  const failed: Partial<HostFacts> = {
    dns: { known: [{ name: 'redis.shop', addresses: [], problem: 'ENOTFOUND' }] },
  };
  assert.equal(evidenceOf(said('network-dns-slow', failed)), 'redis.shop does not resolve: ENOTFOUND.');
});

test('a short TTL is information, and an unknown one is none', () => {
  assert.equal(NETWORK_CHECKS.find(({ id }) => id === 'network-dns-ttl')?.severity, 'info');
  assert.equal(evidenceOf(said('network-dns-ttl', named({ ttlSeconds: 5 }))), 'redis.shop has a TTL of 5 s.');
  assert.equal(said('network-dns-ttl', named({ ttlSeconds: 30 })).state, 'fine');
  assert.equal(said('network-dns-ttl', named({})).state, 'skipped');
});

test('a TTL that counts down is the rest in a cache, and a new one after it is that of the record', () => {
  const at = (before: Partial<DnsFacts>, after: number, seconds = 1) =>
    said('network-dns-ttl', named(before), named({ ttlSeconds: after }), seconds).state;
  assert.equal(at({ ttlSeconds: 6 }, 5), 'skipped');
  assert.equal(at({ ttlSeconds: 1 }, 20), 'raise');
  assert.equal(at({}, 5), 'skipped');
  assert.equal(at({ ttlSeconds: 5 }, 5, 0.4), 'skipped', 'too short a window to see it count');
});

test('where every address is numeric there are no names to judge; where none was looked up the checks are skipped', () => {
  for (const id of ['network-dns-slow', 'network-dns-ttl']) {
    assert.deepEqual(look(id)(hostWindow({ dns: { known: [] } })), []);
    assert.deepEqual(said(id, { dns: { skipped: 'cheap' } }), {
      ...{ subject: 'host web-1', state: 'skipped', reason: 'cheap' },
    });
  }
});

// --- interfaces -------------------------------------------------------------------------------------------------------

function carried(sentBytes: number, receivedBytes = 0, speedMbit?: number): Partial<HostFacts> {
  const speed = speedMbit === undefined ? {} : { speedMbit };
  return { interfaces: { known: [{ name: 'eth0', sentBytes, receivedBytes, dropped: 0, ...speed }] } };
}

test('an interface is nearly full by the larger of its two directions', () => {
  const id = 'network-interface-full';
  const start = carried(0, 0, 1000);
  const found = said(id, start, carried(220e6, 10e6, 1000), 2);
  assert.equal(evidenceOf(found), '880 Mbit/s of 1000 Mbit/s pass in one direction.');
  assert.equal(found.subject, 'eth0 of web-1');
  assert.equal(said(id, start, carried(60e6, 88e6, 1000)).state, 'hold');
  assert.equal(said(id, start, carried(60e6, 60e6, 1000)).state, 'fine');
});

test('packets that an interface drops in the window count, not those since it is there', () => {
  const id = 'network-drops';
  const dropped = (count: number): Partial<HostFacts> => ({
    interfaces: { known: [{ name: 'eth0', sentBytes: 0, receivedBytes: 0, dropped: count }] },
  });
  assert.equal(NETWORK_CHECKS.find((check) => check.id === id)?.severity, 'info');
  assert.equal(
    evidenceOf(said(id, dropped(1000), dropped(1040), 2)),
    '20 packets a second are dropped, 1040 since the interface is there.',
  );
  assert.equal(said(id, dropped(1000), dropped(1005)).state, 'hold');
  assert.equal(said(id, dropped(1000), dropped(1002)).state, 'fine');
  assert.equal(said(id, { interfaces: { known: [] } }, dropped(50)).state, 'skipped');
  assert.equal(said(id, { interfaces: { skipped: 'there is no /proc/net/dev' } }).state, 'skipped');
});

test('an interface without a known speed, or without an earlier reading, is not judged', () => {
  const id = 'network-interface-full';
  assert.deepEqual(said(id, carried(0), carried(9e9)), {
    subject: 'host web-1',
    state: 'skipped',
    reason: 'the kernel knows the speed of no interface',
  });
  assert.equal(said(id, { interfaces: { known: [] } }, carried(9e9, 0, 1000)).state, 'skipped');
  assert.equal(said(id, { interfaces: { skipped: 'there is no /proc/net/dev' } }).state, 'skipped');
});
