import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Window } from '../../../../src/operations/doctor/check.ts';
import { ENGINE_CHECKS } from '../../../../src/operations/doctor/checks/engine.ts';
import type { EngineFacts, HostFacts } from '../../../../src/operations/doctor/facts.ts';
import { FAKE_FEED } from '../../../fakes/status.ts';
import { silentEngine } from '../fake-probes.ts';
import {
  domainWith,
  engineWith,
  evidenceOf,
  hostWith,
  lookOf,
  raisedBy,
  seenIn,
  serviceWith,
  snapshotWith,
  stillWindow,
  windowOf,
} from '../harness.ts';

function windowWith(before: EngineFacts, after: EngineFacts, host?: HostFacts): Window {
  const hosts = host === undefined ? [] : [host];
  return windowOf(snapshotWith({ engines: [before], hosts }), snapshotWith({ engines: [after], hosts }));
}

/** The observation of one check, of a healthy engine and one second later. */
function seen(id: string, after: EngineFacts, before: EngineFacts = engineWith()) {
  return seenIn(id, windowWith(before, after));
}
const stateOf = (...args: Parameters<typeof seen>) => seen(...args).state;

test('a healthy search server has no finding', () => {
  const busy = engineWith({ status: { uptime: 3601, queries: 90_500, query_wall: '457.500' } });
  assert.deepEqual(raisedBy(ENGINE_CHECKS, windowWith(engineWith(), busy)), []);
});

test('a silent server is unreachable, and no other check of it raises', () => {
  const window = windowWith(engineWith(), silentEngine());
  assert.deepEqual(raisedBy(ENGINE_CHECKS, window), ['engine-unreachable: 127.0.0.1:9306 (engine of goods)']);
  assert.match(evidenceOf(seenIn('engine-unreachable', window)), /no answer within 1800 ms/);
});

test('a server that refuses the connection for want of room is full, not unreachable', () => {
  const refusing = silentEngine({}, 'Too many connections');
  assert.equal(stateOf('engine-unreachable', refusing), 'skipped');
  assert.match(evidenceOf(seen('engine-maxed-out', refusing)), /own connection was refused: Too many connections/);
});

test('a server that refuses SHOW STATUS is reachable', () => {
  const refusing = { ...engineWith(), status: { skipped: 'SHOW STATUS is refused: no permission' } };
  assert.equal(stateOf('engine-unreachable', refusing), 'fine');
});

test('refused connections are told with their number and the maximum', () => {
  const full = engineWith({ status: { uptime: 3601, maxed_out: 7 } });
  assert.match(evidenceOf(seen('engine-maxed-out', full)), /7 connections were refused in 1\ss; the server takes 100/);
  assert.equal(stateOf('engine-maxed-out', full, full), 'fine');
});

test('counters of a server that was restarted tell nothing', () => {
  const restarted = engineWith({ status: { uptime: 1, maxed_out: 7 } });
  assert.equal(stateOf('engine-maxed-out', restarted), 'skipped');
  assert.equal(stateOf('engine-wall', restarted), 'skipped');
});

test('pools that take more than four fifths of the connections are told with their shares', () => {
  const tight = engineWith({ maxConnections: { known: 40 } });
  assert.match(evidenceOf(seen('engine-connections', tight)), /goods 32\).*are 33 of the 40/);
  assert.equal(stateOf('engine-connections', engineWith({ maxConnections: { known: 45 } })), 'hold');
  assert.equal(stateOf('engine-connections', engineWith({ maxConnections: { known: 64 } })), 'fine');
  assert.equal(stateOf('engine-connections', engineWith({ maxConnections: { known: 0 } })), 'fine', 'no limit');
});

test('two domains on one server are added, and a domain with two servers gives each a half', () => {
  const goods = engineWith({ maxConnections: { known: 60 } });
  const cars = engineWith({ name: 'engine of cars', domains: ['cars'], index: 'cars', maxConnections: { known: 60 } });
  const mirror = engineWith({ name: 'engine of cars', domains: ['cars'], index: 'cars', endpoint: '10.0.0.2:9306' });
  const [shared] = lookOf('engine-connections')(stillWindow({ engines: [goods, cars, mirror] }));
  assert.match(evidenceOf(shared ?? assert.fail()), /goods 32, cars 16.* are 50 of the 60/);
});

test('max_children of a searchd on a seen host is its maximum, by its port', () => {
  const untold = engineWith({ maxConnections: { skipped: 'searchd does not tell max_children' } });
  const searchd = { program: 'searchd', pid: 1, port: 9306, maxChildren: 33 };
  const look = (host: Partial<HostFacts>) =>
    seenIn('engine-connections', windowWith(untold, untold, hostWith(host))).state;
  assert.equal(look({ servers: { known: [searchd] } }), 'raise');
  assert.equal(look({ servers: { known: [{ ...searchd, port: 9307 }] } }), 'skipped');
  assert.equal(look({ servers: { known: [searchd] }, role: 'part' }), 'skipped');
});

const queried = (queries: number, meanMs: number): EngineFacts =>
  engineWith({ status: { uptime: 3601, queries: 90_000 + queries, query_wall: 450 + (queries * meanMs) / 1000 } });

test('a mean wall time of half the deadline raises, and is held down to a third', () => {
  assert.match(evidenceOf(seen('engine-wall', queried(40, 260))), /40 queries took 260\sms .* after 500\sms/);
  assert.equal(stateOf('engine-wall', queried(40, 200)), 'hold');
  assert.equal(stateOf('engine-wall', queried(40, 100)), 'fine');
});

test('nineteen slow queries are too few, and a server without wall times says so', () => {
  assert.equal(stateOf('engine-wall', queried(19, 400)), 'skipped');
  assert.equal(stateOf('engine-wall', engineWith({ status: { query_wall: 'OFF' } })), 'skipped');
});

test('a slow SHOW STATUS raises, unless the event loop of this process is late', () => {
  const slow = engineWith({ rttMs: { known: 300 } });
  assert.equal(stateOf('engine-latency', slow), 'raise');
  assert.equal(stateOf('engine-latency', engineWith({ rttMs: { known: 120 } })), 'hold');
  const late = serviceWith({ loop: { delayMs: 280 } });
  assert.equal(seenIn('engine-latency', stillWindow({ engines: [slow], service: late })).state, 'skipped');
});

test('a query beyond the hard deadline runs on without an end', () => {
  const threads = (longestMs: number) => engineWith({ threads: { known: { count: 3, longestMs } } });
  assert.match(evidenceOf(seen('engine-long-threads', threads(9000))), /running for 9\ss, beside 2 others/);
  assert.equal(stateOf('engine-long-threads', threads(1999)), 'fine');
});

const agent = (failures: number, queries: number, timeouts = 0) => ({
  agents: { known: [{ agent: '10.0.0.9:9312:part', failures, timeouts, queries }] },
});

test('an agent that fails a hundredth of its queries is named', () => {
  const before = engineWith(agent(5, 1000));
  assert.match(
    evidenceOf(seen('engine-agents', engineWith(agent(6, 1098, 1)), before)),
    /10\.0\.0\.9:9312:part failed 1 and timed out 1 of 100 times/,
  );
  assert.equal(stateOf('engine-agents', engineWith(agent(6, 1500)), before), 'hold');
  assert.equal(stateOf('engine-agents', engineWith(agent(5, 1500)), before), 'fine');
});

test('earlier failures of an agent that nobody asks any more are no finding', () => {
  const failed = engineWith(agent(500, 0));
  assert.equal(stateOf('engine-agents', failed, failed), 'fine');
});

test('an index without documents is a finding for embedded engines too', () => {
  const documents = (count: string) => ({ indexStatus: { known: { index_type: 'disk', indexed_documents: count } } });
  assert.match(evidenceOf(seen('engine-empty', engineWith(documents('0')))), /goods has no documents/);
  assert.equal(stateOf('engine-empty', engineWith({ ...documents('0'), kind: 'sqlite' })), 'raise');
  assert.equal(
    stateOf('engine-empty', engineWith({ indexStatus: { skipped: 'the index is distributed' } })),
    'skipped',
  );
});

test('an index is old by its file or by the file on a seen host, and not by the time of watching', () => {
  const day = 86_400;
  assert.match(
    evidenceOf(seen('engine-index-age', engineWith({ indexAge: { known: { seconds: 3 * day, from: 'file' } } }))),
    /built 72\sh\s00\smin ago/,
  );
  const watched = engineWith({ indexAge: { known: { seconds: 3 * day, from: 'first-seen' } } });
  assert.equal(stateOf('engine-index-age', watched), 'skipped');
  const searchd = { program: 'searchd', pid: 1, port: 9306, indexAgeSeconds: { goods: 2 * day, cars: 1 } };
  const host = hostWith({ servers: { known: [searchd] } });
  assert.equal(seenIn('engine-index-age', windowWith(watched, watched, host)).state, 'raise');
});

test('a replaced index is told for five minutes, with the time for which old pages are served', () => {
  const changed = (seconds: number) => engineWith({ indexAge: { known: { seconds, from: 'change' } } });
  assert.equal(stateOf('engine-rotation', changed(20)), 'raise');
  assert.equal(stateOf('engine-rotation', changed(400)), 'hold');
  assert.equal(stateOf('engine-rotation', changed(700)), 'fine');
  const window = stillWindow({ engines: [changed(20)], service: serviceWith() });
  assert.match(evidenceOf(seenIn('engine-rotation', window)), /up to 1\sh\s00\smin/);
  const service = serviceWith({ domains: [domainWith({ feed: FAKE_FEED })] });
  const fed = stillWindow({ engines: [changed(20)], service });
  assert.equal(seenIn('engine-rotation', fed).state, 'fine', 'a feed of changes has seen it');
});

test('a real-time index is not rotated when its documents change', () => {
  const indexStatus = { known: { table_type: 'rt', indexed_documents: '5' } };
  const live = engineWith({ indexStatus, indexAge: { known: { seconds: 1, from: 'change' } } });
  assert.equal(stateOf('engine-rotation', live), 'skipped');
});

test('the wrong kind is told by the version, and an unknown version tells none', () => {
  const manticore = { known: '29.0.2 2f9c226b6@26081409' };
  assert.match(evidenceOf(seen('engine-kind', engineWith({ version: manticore }))), /kind is sphinx.*29\.0\.2/);
  assert.equal(stateOf('engine-kind', engineWith({ kind: 'manticore', version: manticore })), 'fine');
  assert.equal(stateOf('engine-kind', engineWith({ kind: 'manticore' })), 'raise');
  assert.equal(stateOf('engine-kind', engineWith({ version: { known: '3.7.1 (commit da9f8a4e)' } })), 'fine');
});

test('an embedded engine is judged by its index alone', () => {
  const part = { skipped: 'the engine is embedded' };
  const missing = { rttMs: part, agents: part, threads: part, maxConnections: part };
  const old = { indexAge: { known: { seconds: 90_000, from: 'file' } } } as const;
  const embedded = { ...engineWith({ kind: 'sqlite', endpoint: 'embedded', ...missing, ...old }), status: part };
  assert.deepEqual(raisedBy(ENGINE_CHECKS, windowWith(embedded, embedded)), [
    'engine-index-age: embedded (engine of goods)',
  ]);
});
