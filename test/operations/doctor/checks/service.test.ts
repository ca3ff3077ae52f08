import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckResult, Window } from '../../../../src/operations/doctor/check.ts';
import { SERVICE_CHECKS } from '../../../../src/operations/doctor/checks/service.ts';
import type { DomainFacts, Figure, FleetProcess } from '../../../../src/operations/doctor/facts.ts';
import { DURATION_BOUNDS_MS } from '../../../../src/operations/meter/figures.ts';
import { GAP } from '../../../../src/report/format.ts';
import {
  adviceOf,
  domainWith,
  evidenceOf,
  raisedBy,
  seenIn,
  serviceWith,
  snapshotWith,
  stillWindow,
  windowOf,
} from '../harness.ts';

const said = (observation: CheckResult): string => evidenceOf(observation).replaceAll(GAP, ' ');
const HEALTHY = domainWith();

/** A domain whose counters grew from zero to these. */
function grown(after: Partial<DomainFacts>, before: Partial<DomainFacts> = {}): Window {
  const at = (change: Partial<DomainFacts>) =>
    snapshotWith({ service: serviceWith({ domains: [domainWith(change)] }) });
  return windowOf(at(before), at(after));
}
const stateOf = (id: string, window: Window) => seenIn(`service-${id}`, window).state;

/** Counts by the bound of their bucket. */
const durations = (counts: Readonly<Record<number, number>>): readonly number[] =>
  [...DURATION_BOUNDS_MS, 0].map((bound) => counts[bound] ?? 0);

test('without a service there is none to look at', () => {
  const without = windowOf(snapshotWith(), snapshotWith());
  assert.deepEqual(
    SERVICE_CHECKS.flatMap((check) => check.look(without)),
    [],
  );
});

test('a healthy service under load, with some of everything, has no finding', () => {
  const window = grown({
    outcomes: { 'hit-l1': 300, 'hit-l2': 150, stale: 30, engine: 18, collapsed: 2, rejected: 50, aborted: 20 },
    engine: { ...HEALTHY.engine, inFlight: 4 },
    permits: { count: 48, waitedMs: 90 },
    reads: { value: 160, absent: 30 },
    misses: { unseen: 15, expired: 5 },
    pages: { count: 48, bytes: 300_000, big: 0, largestBytes: 20_000 },
  });
  assert.deepEqual(raisedBy(SERVICE_CHECKS, window), []);
});

test('the first reading of a process is not judged', () => {
  const first = windowOf(
    snapshotWith({ service: serviceWith({ processId: 'before' }) }),
    snapshotWith({ service: serviceWith({ domains: [domainWith({ outcomes: { failed: 500 } })] }) }),
  );
  assert.equal(stateOf('ttl', first), 'skipped');
});

test('invalid searches and clients that left are no searches of the service', () => {
  const window = grown({
    outcomes: { 'hit-l1': 60, failed: 30, rejected: 900, aborted: 900 },
    misses: { expired: 30 },
  });
  assert.equal(stateOf('ttl', window), 'skipped');
});

test('a queue before the engine is told by its mean wait or by its refusals', () => {
  const queued = (count: number, meanMs: number, refused = 0) =>
    grown({
      outcomes: { 'hit-l1': 900, engine: 100 },
      permits: { count, waitedMs: count * meanMs },
      shed: { 'queue-expired': refused },
    });
  assert.match(said(seenIn('service-permits-queue', queued(100, 60))), /^100 engine calls waited 60 ms each/);
  assert.equal(stateOf('permits-queue', queued(100, 30)), 'hold');
  assert.equal(stateOf('permits-queue', queued(100, 5)), 'fine');
  assert.equal(stateOf('permits-queue', queued(100, 5, 10)), 'raise');
  assert.equal(stateOf('permits-queue', queued(0, 0, 60)), 'raise', 'nothing gets a permit');
  assert.equal(stateOf('permits-queue', queued(10, 500)), 'skipped');
});

test('reads past the deadline are told with the quantile of the window, not of all time', () => {
  const before = { reads: { value: 10_000 }, readDurations: durations({ 0.5: 10_000 }) };
  const after = (slow: number) => ({
    reads: { value: 11_000 - slow, 'store-slow': slow },
    readDurations: durations({ 0.5: 11_000 - slow, 60: slow }),
  });
  const window = grown(after(30), before);
  assert.equal(stateOf('store-deadline', window), 'raise');
  assert.match(
    said(seenIn('service-store-deadline', window)),
    /^30 of 1,000 reads \(3 %\) were not answered within store\.deadline 50 ms; 99 % ended within 60 ms/,
  );
  assert.match(adviceOf(seenIn('service-store-deadline', window)), /domains\.goods\.store\.deadline: 100ms/);
  assert.equal(stateOf('store-deadline', grown(after(7), before)), 'hold');
  assert.equal(stateOf('store-deadline', grown(after(1), before)), 'fine');
});

test('reads that were refused without being sent say nothing about the deadline, and few reads say nothing', () => {
  assert.equal(stateOf('store-deadline', grown({ reads: { 'store-down': 5000, 'store-slow': 19 } })), 'skipped');
  const few = { reads: { value: 100, 'store-slow': 2 } };
  assert.equal(stateOf('store-deadline', grown(few)), 'fine', 'two late reads are an accident');
  const { storeDeadlineMs: _none, ...settings } = HEALTHY.settings;
  assert.equal(stateOf('store-deadline', grown({ settings, reads: { 'store-slow': 500 } })), 'skipped');
});

test('a ttl is too short when few searches hit and most misses find a page whose time is over', () => {
  const traffic = (hits: number, expired: number, unseen: number) =>
    grown({ outcomes: { 'hit-l1': hits, engine: 1000 - hits }, misses: { expired, unseen, bypass: 500 } });
  const short = traffic(300, 500, 200);
  assert.equal(stateOf('ttl', short), 'raise');
  assert.match(
    said(seenIn('service-ttl', short)),
    /^30 % of 1,000 searches were hits, and 500 of 700 misses \(71\.4 %\)/,
  );
  assert.match(adviceOf(seenIn('service-ttl', short)), /domains\.goods\.freshness\.ttl: 2h/);
  assert.equal(stateOf('ttl', traffic(550, 300, 150)), 'hold');
  assert.equal(stateOf('ttl', traffic(300, 100, 600)), 'fine', 'the searches are new ones');
  assert.equal(stateOf('ttl', traffic(900, 100, 0)), 'fine');
});

test('pages above 100 KiB are told with their share and size', () => {
  const pages = (big: number, count = 100) =>
    grown({ pages: { count, bytes: 4_000_000, big, largestBytes: 3_000_000 } });
  assert.match(
    said(seenIn('service-big-pages', pages(10))),
    /^10 of 100 stored pages \(10 %\) are larger than 100 KiB/,
  );
  assert.equal(stateOf('big-pages', pages(10)), 'raise');
  assert.equal(stateOf('big-pages', pages(3)), 'hold');
  assert.equal(stateOf('big-pages', pages(1)), 'fine');
  assert.equal(stateOf('big-pages', pages(10, 20)), 'skipped');
});

test('values that are not believed are told by reason, each with its own remedy', () => {
  const refused = (corrupt: number, unsigned: number, reads = 500) =>
    grown({ reads: { value: reads }, misses: { corrupt, unsigned, unseen: 100 } });
  const window = refused(6, 14);
  assert.equal(stateOf('refused-entries', window), 'raise');
  assert.match(said(seenIn('service-refused-entries', window)), /^20 of 500 .* \(4 %\) .*: unsigned 14, corrupt 6\.$/);
  assert.match(adviceOf(seenIn('service-refused-entries', window)), /signing\.key/);
  assert.doesNotMatch(adviceOf(seenIn('service-refused-entries', window)), /maxEntryBytes/);
  assert.equal(stateOf('refused-entries', refused(4, 0)), 'hold');
  assert.equal(stateOf('refused-entries', refused(1, 0)), 'fine');
  assert.equal(stateOf('refused-entries', refused(20, 0, 10_000)), 'fine', 'one in five hundred');
});

const process = (id: string, own: Partial<FleetProcess> = {}): FleetProcess => ({
  id,
  configuration: 'one',
  ...own,
});

function fleetOf(fleet: Figure<readonly FleetProcess[]>): Window {
  return stillWindow({ service: serviceWith({ fleet }) });
}
const withProcesses = (...processes: readonly FleetProcess[]): Window => fleetOf({ known: processes });

test('processes that are alike have no finding, and neither has a process alone', () => {
  assert.deepEqual(raisedBy(SERVICE_CHECKS, withProcesses(process('a'), process('b'), process('c'))), []);
  assert.deepEqual(raisedBy(SERVICE_CHECKS, withProcesses(process('a'))), []);
});

test('different configurations are told with the ids of the processes, the most frequent first', () => {
  const other = process('b', { configuration: 'two' });
  const found = seenIn('service-configurations', withProcesses(process('a'), other, process('c')));
  assert.equal(found.state, 'raise');
  assert.equal(said(found), '3 processes have 2 different configurations: 2 with one (a, c); 1 with two (b).');
});

test('a large fleet names only some of its processes', () => {
  const many = Array.from({ length: 200 }, (_, n) => process(`p${n}`, { configuration: n < 100 ? 'one' : `own${n}` }));
  assert.ok(said(seenIn('service-configurations', withProcesses(...many))).length < 300);
});

test('a fleet that is not known is skipped with its reason', () => {
  const found = seenIn('service-configurations', fleetOf({ skipped: 'the control store does not answer' }));
  assert.deepEqual(found, { subject: 'fleet', state: 'skipped', reason: 'the control store does not answer' });
});
