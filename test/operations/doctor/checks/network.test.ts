import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckResult, Window } from '../../../../src/operations/doctor/check.ts';
import { HOST_CHECKS, NETWORK_CHECKS } from '../../../../src/operations/doctor/checks/network.ts';
import type { DnsFacts, HostFacts, NodeFacts } from '../../../../src/operations/doctor/facts.ts';
import {
  evidenceOf,
  hostWith,
  lookerOf,
  nodeWith,
  onlyOf,
  serviceWith,
  snapshotWith,
  storeWith,
  windowOf,
} from '../harness.ts';

const look = (id: string) => lookerOf([...NETWORK_CHECKS, ...HOST_CHECKS], id);

function hostWindow(before: Partial<HostFacts>, after: Partial<HostFacts> = before, seconds = 1): Window {
  const at = (change: Partial<HostFacts>) => snapshotWith({ hosts: [hostWith(change)] });
  return windowOf(at(before), at(after), seconds);
}

const said = (id: string, ...args: Parameters<typeof hostWindow>): CheckResult => onlyOf(look(id)(hostWindow(...args)));

/** PINGs that took this time, and the last of them another. */
function pings(count: number, ms: number, lastMs = ms): Partial<NodeFacts> {
  return { rtt: { known: [...Array.from({ length: count - 1 }, () => ms), lastMs] } };
}

// --- round trips ------------------------------------------------------------------------------------------------------

function rttSaid(parts: Partial<NodeFacts>, { deadlineMs = 50, loopDelayMs = 0 } = {}): CheckResult {
  const { settings } = storeWith();
  const snapshot = snapshotWith({
    stores: [storeWith({ settings: { ...settings, deadlineMs } }, [nodeWith({ parts })])],
    service: serviceWith({ loop: { delayMs: loopDelayMs } }),
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

function jitterSaid(parts: Partial<NodeFacts>, surroundings: Surroundings = {}): CheckResult {
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

test('where every address is numeric there are no names to judge; where none was looked up the check is skipped', () => {
  assert.deepEqual(look('network-dns-slow')(hostWindow({ dns: { known: [] } })), []);
  assert.deepEqual(said('network-dns-slow', { dns: { skipped: 'cheap' } }), {
    subject: 'host web-1',
    state: 'skipped',
    reason: 'cheap',
  });
});

// --- swap -------------------------------------------------------------------------------------------------------------

function swapped(swappedIn: number, swappedOut: number): Partial<HostFacts> {
  return { memory: { known: { swappedIn, swappedOut } } };
}

test('pages that are swapped in the window count, not those since the boot', () => {
  const start = swapped(500, 500);
  assert.equal(evidenceOf(said('host-swap', start, swapped(600, 700), 2)), '150 pages a second are swapped.');
  assert.equal(said('host-swap', start, swapped(500, 550)).state, 'hold');
  assert.equal(said('host-swap', start, swapped(500, 505)).state, 'fine');
  assert.equal(said('host-swap', { memory: { skipped: 'none' } }, start).state, 'skipped');
  const fresh = windowOf(snapshotWith(), snapshotWith({ hosts: [hostWith(swapped(9000, 9000))] }));
  assert.equal(onlyOf(look('host-swap')(fresh)).state, 'skipped', 'a host that was not there before');
});
