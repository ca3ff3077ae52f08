import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckResult, Window } from '../../../../src/operations/doctor/check.ts';
import { LIMITER_CHECKS } from '../../../../src/operations/doctor/checks/limiters.ts';
import type { HostFacts, QdiscFacts } from '../../../../src/operations/doctor/facts.ts';
import {
  evidenceOf,
  healthyWindow,
  hostWith,
  lookerOf,
  nodeWith,
  onlyOf,
  raisedBy,
  snapshotWith,
  storeWith,
  windowOf,
} from '../harness.ts';

const TBF: QdiscFacts = {
  device: 'eth0',
  kind: 'tbf',
  handle: '1:',
  parent: 'root',
  rateBits: 50e6,
  burstBytes: 65_536,
  sentBytes: 1e9,
  dropped: 40,
  overlimits: 5000,
};
const CLASS: QdiscFacts = { ...TBF, kind: 'htb', handle: '1:10', parent: '1:1', rateBits: 100e6, guaranteedBits: 20e6 };
const COUNTERS = { sentBytes: 0, dropped: 0, overlimits: 0 };
const MISSING: HostFacts['qdiscs'] = { skipped: 'the program tc is missing (package iproute2)' };
const look = (id: string) => lookerOf(LIMITER_CHECKS, id);

/** @param worstMs the longest PING to a store node in the window */
function windowWith(before: HostFacts['qdiscs'], after: HostFacts['qdiscs'], worstMs = 12): Window {
  const stores = [storeWith({}, [nodeWith({ parts: { rtt: { known: [0.1, 0.1, 0.1, worstMs] } } })])];
  const at = (qdiscs: HostFacts['qdiscs']) => snapshotWith({ hosts: [hostWith({ qdiscs })], stores });
  return windowOf(at(before), at(after));
}

interface Growth {
  readonly mbit: number;
  readonly drops?: number;
  readonly overlimits?: number;
}

/** A second of one discipline. */
function passing({ mbit, drops = 0, overlimits = 0 }: Growth, before = TBF, worstMs?: number): Window {
  const after = {
    ...before,
    sentBytes: before.sentBytes + (mbit * 1e6) / 8,
    dropped: before.dropped + drops,
    overlimits: before.overlimits + overlimits,
  };
  return windowWith({ known: [before] }, { known: [after] }, worstMs);
}

const said = (id: string, growth: Growth, before = TBF): CheckResult => onlyOf(look(id)(passing(growth, before)));

test('a healthy host has no finding about disciplines', () => {
  assert.deepEqual(raisedBy(LIMITER_CHECKS, healthyWindow()), []);
  const plain: QdiscFacts = { device: 'eth0', kind: 'fq_codel', handle: '0:', parent: 'root', ...COUNTERS };
  const busy = { ...plain, sentBytes: 1e9, dropped: 500, overlimits: 500 };
  assert.deepEqual(raisedBy(LIMITER_CHECKS, windowWith({ known: [plain] }, { known: [busy] })), []);
});

test('a limiter that holds packets back while its rate is free is told, with the command that gives it a burst', () => {
  const found = said('network-limiter', { mbit: 8, drops: 3, overlimits: 400 }, { ...TBF, burstBytes: 2048 });
  assert.equal(
    evidenceOf(found),
    '8.0 Mbit/s of 50 Mbit/s pass, and 3 packets were dropped and 400 held back; its burst is 2048 bytes.',
  );
  assert.equal(found.subject, 'tbf on eth0 of web-1');
  assert.ok(found.state === 'raise');
  assert.ok(
    found.advice.includes('tc qdisc change dev eth0 root handle 1: tbf rate 50mbit burst 64kb latency 50ms'),
    found.advice.join('\n'),
  );
  assert.equal(said('network-limiter', { mbit: 8, drops: 10 }).state, 'raise');
});

test('packets that are held back while no PING stalls are the work of a shaper', () => {
  const calm = onlyOf(look('network-limiter')(passing({ mbit: 8, overlimits: 4000 }, TBF, 0.3)));
  assert.equal(calm.state, 'fine');
  const dropping = onlyOf(look('network-limiter')(passing({ mbit: 8, drops: 10 }, TBF, 0.3)));
  assert.equal(dropping.state, 'raise', 'drops need no stall');
});

test('a few packets held back raise nothing, and keep what was raised', () => {
  assert.equal(said('network-limiter', { mbit: 8, drops: 9 }).state, 'hold');
  assert.equal(said('network-limiter', { mbit: 8, overlimits: 30 }).state, 'hold');
  assert.equal(said('network-limiter', { mbit: 8, overlimits: 29 }).state, 'fine');
});

test('a limiter whose rate is used up is that, and not one that stalls', () => {
  const growth = { mbit: 48, drops: 90, overlimits: 4000 };
  assert.equal(said('network-limiter', growth).state, 'fine');
  assert.equal(
    evidenceOf(said('network-limiter-full', growth)),
    '48 Mbit/s of 50 Mbit/s pass, 90 packets were dropped and 4000 held back.',
  );
  assert.equal(said('network-limiter-full', { mbit: 42, overlimits: 4000 }).state, 'hold');
  assert.equal(said('network-limiter-full', { mbit: 39, overlimits: 4000 }).state, 'fine');
  assert.equal(said('network-limiter-full', { mbit: 48 }).state, 'fine');
});

test('a class of htb is judged by its guaranteed rate: what it may borrow belongs to others', () => {
  assert.equal(said('network-limiter', { mbit: 30, overlimits: 4000 }, CLASS).state, 'fine');
  const found = said('network-limiter', { mbit: 5, overlimits: 4000 }, CLASS);
  assert.match(evidenceOf(found), /^5\.0 Mbit\/s of 20 Mbit\/s pass/);
  assert.equal(found.subject, 'htb 1:10 on eth0 of web-1');
  assert.ok(found.state === 'raise');
  assert.equal(
    found.advice[1],
    'tc class change dev eth0 parent 1:1 classid 1:10 htb rate 20mbit ceil 100mbit burst 128kb cburst 128kb',
  );
  const top = said('network-limiter', { mbit: 5, overlimits: 4000 }, { ...CLASS, parent: 'root', handle: '1:1' });
  assert.ok(top.state === 'raise');
  assert.match(top.advice[1] ?? '', /^tc class change dev eth0 parent 1: classid 1:1 htb/);
});

test('classes of one interface are subjects of their own', () => {
  const classes = [CLASS, { ...CLASS, handle: '1:20' }];
  const subjects = look('network-limiter')(windowWith({ known: classes }, { known: classes })).map(
    (one) => one.subject,
  );
  assert.deepEqual(subjects, ['htb 1:10 on eth0 of web-1', 'htb 1:20 on eth0 of web-1']);
});

test('a limiter that is new, or whose counters began again, is not judged by them', () => {
  for (const id of ['network-limiter', 'network-limiter-full']) {
    const fresh = { ...TBF, ...COUNTERS };
    assert.equal(onlyOf(look(id)(windowWith({ known: [] }, { known: [TBF] }))).state, 'skipped');
    assert.equal(onlyOf(look(id)(windowWith({ known: [TBF] }, { known: [fresh] }))).state, 'skipped');
  }
});

test('a burst below rate ÷ HZ alone is information', () => {
  const burst = LIMITER_CHECKS.find(({ id }) => id === 'network-qdisc-burst');
  assert.equal(burst?.severity, 'info');
  const found = said('network-qdisc-burst', { mbit: 0 }, { ...TBF, rateBits: 800_000, burstBytes: 399 });
  assert.equal(evidenceOf(found), 'Its burst is 399 bytes; 0.8 Mbit/s ÷ 250 is 400 bytes.');
  assert.ok(found.state === 'raise');
  assert.match(found.advice[0] ?? '', / tbf rate 800kbit burst 64kb /);
  assert.equal(said('network-qdisc-burst', { mbit: 0 }, { ...TBF, rateBits: 800_000, burstBytes: 400 }).state, 'fine');
  const { burstBytes: _, ...without } = TBF;
  assert.equal(said('network-qdisc-burst', { mbit: 0 }, without).state, 'skipped');
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
