import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Observation, Window } from '../../../../src/operations/doctor/check.ts';
import { FLEET_CHECKS } from '../../../../src/operations/doctor/checks/service-fleet.ts';
import type { Figure, FleetProcess } from '../../../../src/operations/doctor/facts.ts';
import { GAP } from '../../../../src/report/format.mjs';
import {
  evidenceOf,
  lookerOf,
  nodeWith,
  onlyOf,
  raisedBy,
  serviceWith,
  snapshotWith,
  storeWith,
  windowOf,
} from '../harness.ts';

const look = (id: string) => lookerOf(FLEET_CHECKS, `service-${id}`);
const said = (observation: Observation): string => evidenceOf(observation).replaceAll(GAP, ' ');

const process = (id: string, own: Partial<FleetProcess> = {}): FleetProcess => ({
  ...{ id, configuration: 'one', version: '1.0.0', clockOffsetMs: 0, ...own },
});

/** @param offsets of the clocks of the store's nodes, in milliseconds */
function fleetOf(fleet: Figure<readonly FleetProcess[]>, ...offsets: readonly number[]): Window {
  const nodes = offsets.map((offsetMs, at) =>
    nodeWith({ address: `10.0.0.${at}:6379`, parts: { clockOffsetMs: { known: offsetMs } } }),
  );
  const facts = snapshotWith({
    stores: [storeWith({}, nodes)],
    service: serviceWith({ processId: 'a', fleet }),
  });
  return windowOf(facts, facts);
}
const withProcesses = (...processes: readonly FleetProcess[]): Window => fleetOf({ known: processes }, 0.3);

test('processes that are alike have no finding, and neither has a process alone', () => {
  assert.deepEqual(raisedBy(FLEET_CHECKS, withProcesses(process('a'), process('b'), process('c'))), []);
  assert.deepEqual(raisedBy(FLEET_CHECKS, withProcesses(process('a'))), []);
});

test('different configurations are told with the ids of the processes, the most frequent first', () => {
  const other = process('b', { configuration: 'two' });
  const found = onlyOf(look('configurations')(withProcesses(process('a'), other, process('c'))));
  assert.equal(found.state, 'raise');
  assert.equal(said(found), '3 processes have 2 different configurations: 2 with one (a, c); 1 with two (b).');
});

test('a large fleet names only some of its processes', () => {
  const many = Array.from({ length: 200 }, (_, n) => process(`p${n}`, { configuration: n < 100 ? 'one' : `own${n}` }));
  assert.ok(said(onlyOf(look('configurations')(withProcesses(...many)))).length < 300);
});

test('different versions are told apart from different configurations', () => {
  const window = withProcesses(process('a'), process('b', { version: '1.1.0' }));
  assert.deepEqual(raisedBy(FLEET_CHECKS, window), ['service-versions: fleet']);
});

const clocks = (window: Window) => look('clocks')(window).map(({ subject, state }) => `${subject}: ${state}`);

test('clocks of processes half a second apart are a finding, and a quarter keeps it', () => {
  const apart = (clockOffsetMs: number) =>
    withProcesses(process('a', { clockOffsetMs: 100 }), process('b', { clockOffsetMs }));
  assert.deepEqual(clocks(apart(-400)), ['fleet: raise', 'process a: fine']);
  const [found] = look('clocks')(apart(-400));
  assert.ok(found);
  assert.match(said(found), /up to 500 ms apart: a is ahead of b/);
  assert.deepEqual(clocks(apart(-200)), ['fleet: hold', 'process a: fine']);
  assert.deepEqual(clocks(apart(50)), ['fleet: fine', 'process a: fine']);
});

test('the clock of this process is wrong when it differs from most store nodes, not from one', () => {
  const alone = { known: [process('a')] };
  assert.deepEqual(clocks(fleetOf(alone, 3000, 3001, 2999)), ['fleet: skipped', 'process a: raise']);
  const [, found] = look('clocks')(fleetOf(alone, 3000, 3001, 2999));
  assert.ok(found);
  assert.match(said(found), /3 s behind its store: the median of 3 nodes/);
  assert.deepEqual(clocks(fleetOf(alone, 0, 5000, 1)), ['fleet: skipped', 'process a: fine']);
  assert.deepEqual(clocks(fleetOf(alone, -700)), ['fleet: skipped', 'process a: hold']);
  assert.deepEqual(clocks(fleetOf(alone)), ['fleet: skipped', 'process a: skipped']);
});

test('when one of two store nodes has a wrong clock, this process is not blamed, whichever way the node is off', () => {
  const alone = { known: [process('a')] };
  for (const offsets of [
    [-5000, 0],
    [5000, 0],
    [-5000, 5000],
    [0, 1, 5000, 5000],
    [-5000, -5000, 0, 1],
  ]) {
    assert.deepEqual(clocks(fleetOf(alone, ...offsets)), ['fleet: skipped', 'process a: fine'], String(offsets));
  }
  assert.deepEqual(clocks(fleetOf(alone, -5000, -4000)), ['fleet: skipped', 'process a: raise']);
});

test('processes that measured their clocks against different servers are not compared', () => {
  const against = (clockServer: string, clockOffsetMs: number, id: string) =>
    process(id, { clockServer, clockOffsetMs });
  const apart = withProcesses(against('one', 0, 'a'), against('two', 5000, 'b'));
  assert.deepEqual(clocks(apart), ['fleet: skipped', 'process a: fine']);
  const both = withProcesses(against('one', 0, 'a'), against('two', 5000, 'b'), against('one', 600, 'c'));
  const [found] = look('clocks')(both);
  assert.ok(found);
  assert.match(said(found), /of 2 processes are up to 600 ms apart: c is ahead of a/);
});

test('a fleet that is not known is skipped with its reason', () => {
  const found = onlyOf(look('configurations')(fleetOf({ skipped: 'the control store does not answer' })));
  assert.deepEqual(found, { subject: 'fleet', state: 'skipped', reason: 'the control store does not answer' });
});
