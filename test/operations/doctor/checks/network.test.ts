import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckResult, Window } from '../../../../src/operations/doctor/check.ts';
import { LIMITER_CHECKS } from '../../../../src/operations/doctor/checks/network.ts';
import type { DnsFacts, HostFacts, NodeFacts, QdiscFacts } from '../../../../src/operations/doctor/facts.ts';
import { pluck } from '../../../pluck.ts';
import {
  evidenceOf,
  hostWith,
  laterNode,
  lookOf,
  nodeWith,
  onlyOf,
  raisedBy,
  seenIn,
  serviceWith,
  snapshotWith,
  stillWindow,
  storeWith,
  TBF,
  windowOf,
} from '../harness.ts';

const CLASS: QdiscFacts = { ...TBF, kind: 'htb', handle: '1:10', parent: '1:1', rateBits: 100e6, guaranteedBits: 20e6 };
const COUNTERS = { sentBytes: 0, dropped: 0, overlimits: 0 };
const MISSING: HostFacts['qdiscs'] = { skipped: 'the program tc is missing (package iproute2)' };

interface Around {
  /** PINGs to a store node. */
  readonly rtt?: readonly number[];
  /** Cores that it uses. */
  readonly cpu?: number;
}

const STALLING = [0.1, 0.1, 0.1, 12];
/** A node that is far away: no PING stalls beside the others. */
const FAR = { rtt: [8, 8, 8, 12] };
const NEAR = { rtt: [0.1, 0.1, 0.1, 0.3] };

function windowWith(before: HostFacts['qdiscs'], after: HostFacts['qdiscs'], around: Around = {}): Window {
  const { rtt = STALLING, cpu = 0.1 } = around;
  const node = nodeWith({ parts: { rtt: { known: rtt } } });
  const at = (qdiscs: HostFacts['qdiscs'], one: NodeFacts) =>
    snapshotWith({ hosts: [hostWith({ qdiscs })], stores: [storeWith({}, [one])] });
  return windowOf(at(before, node), at(after, laterNode(node, { used_cpu_user_main_thread: cpu })));
}

type Growth = Readonly<Partial<Record<'mbit' | 'drops' | 'overlimits', number>>>;

/** A second of one discipline. */
function passing({ mbit = 0, drops = 0, overlimits = 0 }: Growth, before = TBF, around?: Around): Window {
  const after = {
    ...before,
    sentBytes: before.sentBytes + (mbit * 1e6) / 8,
    dropped: before.dropped + drops,
    overlimits: before.overlimits + overlimits,
  };
  return windowWith({ known: [before] }, { known: [after] }, around);
}

const passed = (id: string, growth: Growth, before = TBF): CheckResult => seenIn(id, passing(growth, before));

test('a healthy host has no finding about disciplines', () => {
  const plain: QdiscFacts = { device: 'eth0', kind: 'fq_codel', handle: '0:', parent: 'root', ...COUNTERS };
  const busy = { ...plain, sentBytes: 1e9, dropped: 500, overlimits: 500 };
  assert.deepEqual(raisedBy(LIMITER_CHECKS, windowWith({ known: [plain] }, { known: [busy] })), []);
});

test('a limiter that holds packets back while its rate is free is told, with the command that gives it a burst', () => {
  const found = passed('network-limiter', { mbit: 8, drops: 3, overlimits: 400 }, { ...TBF, burstBytes: 2048 });
  assert.match(
    evidenceOf(found),
    /^8\.0 Mbit\/s of 50 Mbit\/s pass, and 3 packets were dropped and 400 held back; its burst is 2048 bytes\. PING to 127\.0\.0\.1:6379 \(store of goods\) takes up to 12 ms \(median 0\.10 ms\); its CPU is at 10\s% of a core\.$/,
  );
  assert.equal(found.subject, 'tbf on eth0 of web-1');
  assert.ok(found.state === 'raise');
  assert.match(
    found.advice.join('\n'),
    /: tc qdisc change dev eth0 root handle 1: tbf rate 50mbit burst 64kb latency 50ms$/m,
  );
  assert.equal(passed('network-limiter', { mbit: 8, drops: 10 }).state, 'raise');
});

test('packets that are held back while no PING stalls are the work of a shaper', () => {
  const calm = (growth: Growth) => seenIn('network-limiter', passing(growth, TBF, NEAR)).state;
  assert.equal(calm({ mbit: 8, overlimits: 4000 }), 'fine');
  assert.equal(calm({ mbit: 8, drops: 10 }), 'raise', 'drops need no stall');
});

test('a few packets held back raise nothing where PINGs are slow for another reason, and keep what was raised', () => {
  for (const around of [FAR, { cpu: 0.9 }]) {
    const stateAt = (growth: Growth) => seenIn('network-limiter', passing({ mbit: 8, ...growth }, TBF, around)).state;
    assert.equal(stateAt({ drops: 9 }), 'hold');
    assert.equal(stateAt({ overlimits: 100 }), 'raise');
    assert.equal(stateAt({ overlimits: 30 }), 'hold');
    assert.equal(stateAt({ overlimits: 29 }), 'fine');
  }
});

test('one packet held back is enough while a PING to a node that is near and idle stalls', () => {
  const stateAt = (growth: Growth, worstMs: number) =>
    seenIn('network-limiter', passing({ mbit: 8, ...growth }, TBF, { rtt: [0.1, 0.1, 0.1, worstMs] })).state;
  assert.equal(stateAt({ overlimits: 1 }, 38), 'raise');
  assert.equal(stateAt({ overlimits: 1 }, 4), 'hold');
  assert.equal(stateAt({ overlimits: 1 }, 1), 'fine');
  assert.equal(stateAt({}, 38), 'fine');
});

test('a limiter whose rate is used up is that, and not one that stalls', () => {
  const growth = { mbit: 48, drops: 90, overlimits: 4000 };
  assert.equal(passed('network-limiter', growth).state, 'fine');
  assert.equal(
    evidenceOf(passed('network-limiter-full', growth)),
    '48 Mbit/s of 50 Mbit/s pass, 90 packets were dropped and 4000 held back.',
  );
  assert.equal(passed('network-limiter-full', { mbit: 42, overlimits: 4000 }).state, 'hold');
  assert.equal(passed('network-limiter-full', { mbit: 39, overlimits: 4000 }).state, 'fine');
  assert.equal(passed('network-limiter-full', { mbit: 48 }).state, 'fine');
});

test('a class of htb is judged by its guaranteed rate: what it may borrow belongs to others', () => {
  assert.equal(passed('network-limiter', { mbit: 30, overlimits: 4000 }, CLASS).state, 'fine');
  const found = passed('network-limiter', { mbit: 5, overlimits: 4000 }, CLASS);
  assert.match(evidenceOf(found), /^5\.0 Mbit\/s of 20 Mbit\/s pass/);
  assert.equal(found.subject, 'htb 1:10 on eth0 of web-1');
  assert.ok(found.state === 'raise');
  assert.equal(
    found.advice[1],
    'A burst of at least rate ÷ HZ and some milliseconds of the rate: tc class change dev eth0 parent 1:1 classid 1:10 htb rate 20mbit ceil 100mbit burst 128kb cburst 128kb',
  );
  const top = passed('network-limiter', { mbit: 5, overlimits: 4000 }, { ...CLASS, parent: 'root', handle: '1:1' });
  assert.ok(top.state === 'raise');
  assert.match(top.advice[1] ?? '', /: tc class change dev eth0 parent 1: classid 1:1 htb/);
});

test('classes of one interface are subjects of their own', () => {
  const classes = [CLASS, { ...CLASS, handle: '1:20' }];
  const seen = lookOf('network-limiter')(windowWith({ known: classes }, { known: classes }));
  const subjects = ['htb 1:10 on eth0 of web-1', 'htb 1:20 on eth0 of web-1'];
  assert.deepEqual(pluck(seen, 'subject'), subjects);
});

test('a limiter that is new, or whose counters began again, is not judged by them', () => {
  for (const id of ['network-limiter', 'network-limiter-full']) {
    const fresh = { ...TBF, ...COUNTERS };
    assert.equal(seenIn(id, windowWith({ known: [] }, { known: [TBF] })).state, 'skipped');
    assert.equal(seenIn(id, windowWith({ known: [TBF] }, { known: [fresh] })).state, 'skipped');
  }
});

test('a burst below rate ÷ HZ alone is information', () => {
  assert.equal(LIMITER_CHECKS.find(({ id }) => id === 'network-qdisc-burst')?.severity, 'info');
  const slow = { ...TBF, rateBits: 800_000 };
  const found = passed('network-qdisc-burst', {}, { ...slow, burstBytes: 399 });
  assert.equal(evidenceOf(found), 'Its burst is 399 bytes; 0.8 Mbit/s ÷ 250 is 400 bytes.');
  assert.ok(found.state === 'raise');
  assert.match(found.advice[0] ?? '', / tbf rate 800kbit burst 64kb /);
  assert.equal(passed('network-qdisc-burst', {}, { ...slow, burstBytes: 400 }).state, 'fine');
  assert.equal(passed('network-qdisc-burst', {}, { ...TBF, burstBytes: undefined }).state, 'skipped');
});

test('without tc each check is skipped with the reason', () => {
  for (const { look } of LIMITER_CHECKS) {
    assert.deepEqual(onlyOf(look(windowWith(MISSING, MISSING))), {
      subject: 'host web-1',
      state: 'skipped',
      reason: 'the program tc is missing (package iproute2)',
    });
  }
});

function hostWindow(before: Partial<HostFacts>, after: Partial<HostFacts> = before, seconds = 1): Window {
  const at = (change: Partial<HostFacts>) => snapshotWith({ hosts: [hostWith(change)] });
  return windowOf(at(before), at(after), seconds);
}

const said = (id: string, ...args: Parameters<typeof hostWindow>): CheckResult => seenIn(id, hostWindow(...args));

/** PINGs that took this time, and the last of them another. */
function pings(count: number, ms: number, lastMs = ms): Partial<NodeFacts> {
  return { rtt: { known: [...Array.from({ length: count - 1 }, () => ms), lastMs] } };
}

function rttSaid(parts: Partial<NodeFacts>, { deadlineMs = 50, loopDelayMs = 0 } = {}): CheckResult {
  const stores = [storeWith({ settings: { deadlineMs, names: [] } }, [nodeWith({ parts })])];
  const service = serviceWith({ loop: { delayMs: loopDelayMs } });
  return seenIn('network-rtt', stillWindow({ stores, service }));
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

function jitterSaid(
  parts: Partial<NodeFacts>,
  { intrinsicMaxMs = 0.4, loopMaxMs = 1 } = {},
  host: Partial<HostFacts> = {},
): CheckResult {
  const intrinsic: HostFacts['intrinsic'] = { known: { medianMs: 0.1, maxMs: intrinsicMaxMs, samples: 60 } };
  const stores = [storeWith({}, [nodeWith({ parts })])];
  return seenIn('network-jitter', stillWindow({ stores, hosts: [hostWith({ intrinsic, ...host })], loopMaxMs }));
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
  assert.equal(jitterSaid(pings(20, 0.2, 40), {}, { intrinsic: { skipped: 'cheap' } }).state, 'skipped');
  assert.equal(jitterSaid(pings(20, 0.2, 40), {}, { role: 'part' }).state, 'skipped');
});

const named = (change: Partial<DnsFacts>): Partial<HostFacts> => ({
  dns: { known: [{ name: 'redis.shop', addresses: ['10.0.0.5'], lookupMs: 2, ...change }] },
});

test('a name that resolves slowly, or not at all, is told', () => {
  const slow = said('network-dns-slow', named({ lookupMs: 240 }));
  assert.equal(evidenceOf(slow), 'redis.shop took 240 ms to become 10.0.0.5.');
  assert.equal(slow.subject, 'name redis.shop on web-1');
  assert.equal(said('network-dns-slow', named({ lookupMs: 60 })).state, 'hold');
  assert.equal(said('network-dns-slow', named({})).state, 'fine');
  const failed = named({ addresses: [], lookupMs: undefined, problem: 'ENOTFOUND' });
  assert.equal(evidenceOf(said('network-dns-slow', failed)), 'redis.shop does not resolve: ENOTFOUND.');
});

test('where every address is numeric there are no names to judge; where none was looked up the check is skipped', () => {
  assert.deepEqual(lookOf('network-dns-slow')(hostWindow({ dns: { known: [] } })), []);
  assert.deepEqual(said('network-dns-slow', { dns: { skipped: 'cheap' } }), {
    subject: 'host web-1',
    state: 'skipped',
    reason: 'cheap',
  });
});

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
  assert.equal(seenIn('host-swap', fresh).state, 'skipped', 'a host that was not there before');
});
