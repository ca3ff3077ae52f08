import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Observation, Window } from '../../../../src/operations/doctor/check.ts';
import { CACHE_CHECKS } from '../../../../src/operations/doctor/checks/service-cache.ts';
import type { DomainFacts } from '../../../../src/operations/doctor/facts.ts';
import { DURATION_BOUNDS_MS } from '../../../../src/operations/meter/figures.ts';
import { GAP } from '../../../../src/report/format.mjs';
import { domainWith, evidenceOf, lookerOf, onlyOf, serviceWith, snapshotWith, windowOf } from '../harness.ts';

const look = (id: string) => lookerOf(CACHE_CHECKS, `service-${id}`);
const said = (observation: Observation): string => evidenceOf(observation).replaceAll(GAP, ' ');
const HEALTHY = domainWith();

/** A domain whose counters grew from zero to these. */
function grown(after: Partial<DomainFacts>, before: Partial<DomainFacts> = {}): Window {
  const at = (change: Partial<DomainFacts>) =>
    snapshotWith({ service: serviceWith({ domains: [domainWith(change)] }) });
  return windowOf(at(before), at(after));
}
const seen = (id: string, window: Window) => onlyOf(look(id)(window));
const stateOf = (id: string, window: Window) => seen(id, window).state;
const adviceOf = (id: string, window: Window): string => {
  const observation = seen(id, window);
  assert.ok(observation.state === 'raise' || observation.state === 'hold');
  return observation.advice.join('\n');
};

/** Counts by the bound of their bucket. */
const durations = (counts: Readonly<Record<number, number>>): readonly number[] =>
  [...DURATION_BOUNDS_MS, 0].map((bound) => counts[bound] ?? 0);

test('reads past the deadline are told with the quantile of the window, not of all time', () => {
  const before = { reads: { value: 10_000 }, readDurations: durations({ 0.5: 10_000 }) };
  const after = (slow: number) => ({
    reads: { value: 11_000 - slow, 'store-slow': slow },
    readDurations: durations({ 0.5: 11_000 - slow, 60: slow }),
  });
  const window = grown(after(30), before);
  assert.equal(stateOf('store-deadline', window), 'raise');
  assert.match(
    said(seen('store-deadline', window)),
    /^30 of 1,000 reads \(3 %\) were not answered within store\.deadline 50 ms; 99 % ended within 60 ms/,
  );
  assert.match(adviceOf('store-deadline', window), /domains\.goods\.store\.deadline: 100ms/);
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

const memory = (ghostHits: number, bytes: number) => ({
  memory: { entries: 9000, bytes, maxBytes: 64 * 2 ** 20, evictions: 5000, ghostHits },
});
const FULL = 64 * 2 ** 20;

test('L1 is too small when it is full and had many of the missing pages shortly before', () => {
  const outcomes = { 'hit-l1': 600, 'hit-l2': 350, engine: 50 };
  const small = grown({ outcomes, ...memory(80, FULL) });
  assert.equal(stateOf('l1-small', small), 'raise');
  assert.match(said(seen('l1-small', small)), /100 % full \(64 MiB\), and for 80 of 400 .* \(20 %\)/);
  assert.match(adviceOf('l1-small', small), /domains\.goods\.memory\.maxBytes: 128MiB/);
  assert.equal(stateOf('l1-small', grown({ outcomes, ...memory(24, FULL) })), 'hold');
  assert.equal(stateOf('l1-small', grown({ outcomes, ...memory(8, FULL) })), 'fine', 'other keys are missing');
  assert.equal(stateOf('l1-small', grown({ outcomes, ...memory(80, FULL / 2) })), 'fine', 'there is room');
  assert.equal(stateOf('l1-small', grown({ outcomes: { 'hit-l1': 900, engine: 50 }, ...memory(40, FULL) })), 'skipped');
});

test('a ttl is too short when few searches hit and most misses find a page whose time is over', () => {
  const traffic = (hits: number, lapsed: number, unseen: number) =>
    grown({ outcomes: { 'hit-l1': hits, engine: 1000 - hits }, misses: { lapsed, unseen, bypass: 500 } });
  const short = traffic(300, 500, 200);
  assert.equal(stateOf('ttl', short), 'raise');
  assert.match(said(seen('ttl', short)), /^30 % of 1,000 searches were hits, and 500 of 700 misses \(71\.4 %\)/);
  assert.match(adviceOf('ttl', short), /domains\.goods\.freshness\.ttl: 2h/);
  assert.equal(stateOf('ttl', traffic(550, 300, 150)), 'hold');
  assert.equal(stateOf('ttl', traffic(300, 100, 600)), 'fine', 'the searches are new ones');
  assert.equal(stateOf('ttl', traffic(900, 100, 0)), 'fine');
});

test('pages above 100 KiB are told with their share and size', () => {
  const pages = (big: number, count = 100) =>
    grown({ pages: { count, bytes: 4_000_000, big, largestBytes: 3_000_000 } });
  assert.match(said(seen('big-pages', pages(10))), /^10 of 100 stored pages \(10 %\) are larger than 100 KiB/);
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
  assert.match(said(seen('refused-entries', window)), /^20 of 500 .* \(4 %\) .*: unsigned 14, corrupt 6\.$/);
  assert.match(adviceOf('refused-entries', window), /signing\.key/);
  assert.doesNotMatch(adviceOf('refused-entries', window), /maxEntryBytes/);
  assert.equal(stateOf('refused-entries', refused(4, 0)), 'hold');
  assert.equal(stateOf('refused-entries', refused(1, 0)), 'fine');
  assert.equal(stateOf('refused-entries', refused(20, 0, 10_000)), 'fine', 'one in five hundred');
});

test('computed pages that could not be stored are told by reason; degraded ones are not meant to be', () => {
  const lost = (notStored: Readonly<Record<string, number>>) =>
    grown({ notStored, engine: { ...HEALTHY.engine, calls: 200 } });
  const window = lost({ 'too-large': 8, refused: 12 });
  assert.equal(stateOf('not-stored', window), 'raise');
  assert.match(said(seen('not-stored', window)), /^20 of 200 computed pages \(10 %\) .*: refused 12, too-large 8\.$/);
  assert.match(adviceOf('not-stored', window), /domains\.goods\.maxEntryBytes: 2MiB/);
  assert.equal(stateOf('not-stored', lost({ 'store-slow': 6 })), 'hold');
  assert.equal(stateOf('not-stored', lost({ degraded: 150, fenced: 30 })), 'fine');
});
