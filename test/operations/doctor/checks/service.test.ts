import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONTROL_STANDINGS } from '../../../../src/cache/invalidation.ts';
import type { Observation, Window } from '../../../../src/operations/doctor/check.ts';
import { SERVICE_CHECKS } from '../../../../src/operations/doctor/checks/service.ts';
import type { DomainFacts, EngineFacts } from '../../../../src/operations/doctor/facts.ts';
import { GAP } from '../../../../src/report/format.mjs';
import {
  domainWith,
  engineWith,
  evidenceOf,
  healthyWindow,
  lookerOf,
  onlyOf,
  raisedBy,
  serviceWith,
  snapshotWith,
  windowOf,
} from '../harness.ts';

const look = (id: string) => lookerOf(SERVICE_CHECKS, `service-${id}`);
const said = (observation: Observation): string => evidenceOf(observation).replaceAll(GAP, ' ');
const ENGINE = domainWith().engine;

/** A domain whose counters grew from zero to these. */
function grown(after: Partial<DomainFacts>, before: Partial<DomainFacts> = {}): Window {
  const at = (change: Partial<DomainFacts>) =>
    snapshotWith({ service: serviceWith({ domains: [domainWith(change)] }) });
  return windowOf(at(before), at(after));
}
const stateOf = (id: string, window: Window) => onlyOf(look(id)(window)).state;

test('a healthy service has no finding, and without a service there is none to look at', () => {
  assert.deepEqual(raisedBy(SERVICE_CHECKS, healthyWindow()), []);
  const without = windowOf(snapshotWith(), snapshotWith());
  assert.deepEqual(
    SERVICE_CHECKS.flatMap((check) => check.look(without)),
    [],
  );
});

test('a healthy service under load, with some of everything, has no finding', () => {
  const window = grown({
    outcomes: { 'hit-l1': 300, 'hit-l2': 150, stale: 30, engine: 18, collapsed: 2, rejected: 50, aborted: 20 },
    engine: { ...ENGINE, calls: 48, inFlight: 4, busyMs: 900 },
    permits: { count: 48, waitedMs: 90 },
    reads: { value: 160, absent: 30 },
    misses: { unseen: 15, lapsed: 5 },
    pages: { count: 48, bytes: 300_000, big: 0, largestBytes: 20_000 },
    memory: { entries: 1000, bytes: 64e6, maxBytes: 64e6, evictions: 100, ghostHits: 2 },
    openBreakers: { engine: [], store: [] },
    controlStanding: 'ok',
  });
  assert.deepEqual(raisedBy(SERVICE_CHECKS, window), []);
});

test('the first reading of a process is not judged', () => {
  const first = windowOf(
    snapshotWith({ service: serviceWith({ processId: 'before' }) }),
    snapshotWith({ service: serviceWith({ domains: [domainWith({ outcomes: { failed: 500 } })] }) }),
  );
  assert.equal(stateOf('errors', first), 'skipped');
});

test('one failed search in a hundred is an error rate; fewer are held, and a few searches say nothing', () => {
  const withFailed = (failed: number, hits = 1000 - failed) => grown({ outcomes: { 'hit-l1': hits, failed } });
  assert.match(said(onlyOf(look('errors')(withFailed(10)))), /^10 of 1,000 searches \(1 %\) ended with an error/);
  assert.equal(stateOf('errors', withFailed(10)), 'raise');
  assert.equal(stateOf('errors', withFailed(7)), 'hold');
  assert.equal(stateOf('errors', withFailed(2)), 'fine');
  assert.equal(stateOf('errors', withFailed(50, 10)), 'skipped');
});

test('invalid searches and clients that left are no searches of the service', () => {
  const window = grown({ outcomes: { 'hit-l1': 60, failed: 30, rejected: 900, aborted: 900 } });
  assert.equal(stateOf('errors', window), 'skipped');
});

test('refused searches are told with the reasons before the engine', () => {
  const outcomes = { 'hit-l1': 900, shed: 100 };
  const byQueue = grown({ outcomes, shed: { 'queue-full': 30, 'queue-expired': 70 } });
  assert.match(said(onlyOf(look('shed')(byQueue))), /\(10 %\) .*: queue-expired 70, queue-full 30\.$/);
  assert.match(said(onlyOf(look('shed')(grown({ outcomes })))), /this process itself is too busy\.$/);
  assert.equal(stateOf('shed', grown({ outcomes: { 'hit-l1': 1000, shed: 2 } })), 'fine');
});

test('stale answers are grace only while the engine fails, is late or is not asked', () => {
  const outcomes = { 'hit-l1': 700, stale: 300 };
  const withEngine = (engine: Partial<DomainFacts['engine']>, more: Partial<DomainFacts> = {}) =>
    grown({ outcomes, engine: { ...ENGINE, ...engine }, ...more });
  assert.equal(stateOf('grace', withEngine({ calls: 300 })), 'fine', 'staleWhileRevalidate at work');
  assert.equal(stateOf('grace', withEngine({ calls: 300, failed: 5 })), 'fine', 'a few failures of many calls');
  assert.equal(stateOf('grace', withEngine({ calls: 40, failed: 40 })), 'raise');
  assert.equal(stateOf('grace', withEngine({ calls: 40 }, { lateReplies: 40 })), 'raise');
  const open = withEngine({}, { shed: { 'breaker-open': 300 }, openBreakers: { engine: ['a:9306'], store: [] } });
  assert.match(said(onlyOf(look('grace')(open))), /^300 stale and 0 lifeboat .* 30 % .*300 were refused; .*a:9306\.$/);
  assert.equal(
    stateOf('grace', grown({ outcomes: { 'hit-l1': 990, stale: 10 }, engine: { ...ENGINE, calls: 40, failed: 40 } })),
    'fine',
    'the fault reaches few',
  );
});

const atServer = (...engines: readonly Partial<Omit<EngineFacts, 'status'>>[]): Window => {
  const facts = snapshotWith({ engines: engines.map((one) => engineWith({ maxConnections: { known: 40 }, ...one })) });
  return windowOf(facts, facts);
};
const settings = (maxConcurrent: number) => ({ maxConcurrent, deadlineMs: 500, hardDeadlineMs: 2000 });

test('permits of all domains on one server are compared with its connections', () => {
  const auto = { name: 'engine of auto', domains: ['auto'] };
  const both = atServer({ settings: settings(32) }, { ...auto, settings: settings(16) });
  assert.match(said(onlyOf(look('permits')(both))), /^goods 32, auto 16: 48 permits .* 40 connections\.$/);
  assert.equal(stateOf('permits', atServer({ settings: settings(32) }, { ...auto, settings: settings(8) })), 'fine');
});

test('the permits of a domain are shared by its mirrors', () => {
  const mirrors = ['a:9306', 'b:9306'].map((endpoint) => ({ endpoint, settings: settings(64) }));
  assert.deepEqual(
    look('permits')(atServer(...mirrors)).map(({ state }) => state),
    ['fine', 'fine'],
  );
});

test('a server without a known limit is skipped, one without any is fine, and an embedded engine has none', () => {
  const many = settings(500);
  assert.equal(stateOf('permits', atServer({ settings: many, maxConnections: { skipped: 'not told' } })), 'skipped');
  assert.equal(stateOf('permits', atServer({ settings: many, maxConnections: { known: 0 } })), 'fine');
  assert.deepEqual(look('permits')(atServer({ settings: many, kind: 'sqlite' })), []);
});

test('a queue before the engine is told by its mean wait or by its refusals', () => {
  const queued = (count: number, meanMs: number, refused = 0) =>
    grown({
      outcomes: { 'hit-l1': 900, engine: 100 },
      permits: { count, waitedMs: count * meanMs },
      shed: { 'queue-expired': refused },
    });
  assert.match(said(onlyOf(look('permits-queue')(queued(100, 60)))), /^100 engine calls waited 60 ms each/);
  assert.equal(stateOf('permits-queue', queued(100, 30)), 'hold');
  assert.equal(stateOf('permits-queue', queued(100, 5)), 'fine');
  assert.equal(stateOf('permits-queue', queued(100, 5, 10)), 'raise');
  assert.equal(stateOf('permits-queue', queued(0, 0, 60)), 'raise', 'nothing gets a permit');
  assert.equal(stateOf('permits-queue', queued(10, 500)), 'skipped');
});

test('a breaker that opened or is not closed is a finding, and a closed one that opened earlier is none', () => {
  assert.equal(stateOf('breaker', grown({ engineOpenings: 1 })), 'raise');
  assert.equal(stateOf('breaker', grown({ storeOpenings: 1 })), 'raise');
  const open = grown({ openBreakers: { engine: [], store: ['10.0.0.1:6379'] } });
  assert.match(said(onlyOf(look('breaker')(open))), /not closed now: 10\.0\.0\.1:6379\.$/);
  assert.equal(stateOf('breaker', grown({ engineOpenings: 3 }, { engineOpenings: 3 })), 'fine');
});

test('an event loop at half of its limit is late, and at a quarter a finding stays', () => {
  const late = (delayMs: number) => {
    const service = serviceWith({ loop: { delayMs, maxDelayMs: 250, utilisation: 0.97 } });
    return windowOf(snapshotWith({ service }), snapshotWith({ service }));
  };
  assert.match(said(onlyOf(look('loop-delay')(late(125)))), /^The event loop is 125 ms late, and was busy 97 %/);
  assert.equal(stateOf('loop-delay', late(125)), 'raise');
  assert.equal(stateOf('loop-delay', late(80)), 'hold');
  assert.equal(stateOf('loop-delay', late(20)), 'fine');
});

test('every standing of the control document but ok is a finding', () => {
  for (const standing of CONTROL_STANDINGS) {
    assert.equal(stateOf('control', grown({ controlStanding: standing })), standing === 'ok' ? 'fine' : 'raise');
  }
});
