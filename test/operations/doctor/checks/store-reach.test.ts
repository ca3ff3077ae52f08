import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REACH_CHECKS } from '../../../../src/operations/doctor/checks/store-reach.ts';
import type { NodeFacts } from '../../../../src/operations/doctor/facts.ts';
import {
  evidenceOf,
  healthyWindow,
  lookerOf,
  nodeWith,
  onlyOf,
  raisedBy,
  snapshotWith,
  storeWindow,
  storeWith,
  windowOf,
} from '../harness.ts';

const look = (id: string) => lookerOf(REACH_CHECKS, id);
const silentAs = (role: NodeFacts['role'], address = '127.0.0.1:6379'): NodeFacts =>
  nodeWith({ address, role, parts: { info: { skipped: `connect ECONNREFUSED ${address}` } } });

test('a healthy store answers', () => {
  assert.deepEqual(raisedBy(REACH_CHECKS, healthyWindow()), []);
});

test('a master that did not answer INFO is unreachable, and the evidence has the reason', () => {
  const observation = onlyOf(look('store-unreachable')(storeWindow([nodeWith()], [silentAs('master')])));
  assert.equal(observation.subject, '127.0.0.1:6379 (store of goods)');
  assert.match(evidenceOf(observation), /^The master .*ECONNREFUSED/);
  assert.equal(onlyOf(look('store-unreachable')(storeWindow([silentAs('master')], [nodeWith()]))).state, 'fine');
});

test('a silent replica or sentinel is a warning, since no key is lost with it', () => {
  for (const role of ['replica', 'sentinel'] as const) {
    const window = storeWindow([], [silentAs(role)]);
    assert.deepEqual(look('store-unreachable')(window), []);
    assert.match(evidenceOf(onlyOf(look('store-replica-unreachable')(window))), new RegExp(`^The ${role} did not`));
  }
  const [first, second] = REACH_CHECKS.map(({ severity }) => severity);
  assert.deepEqual([first, second], ['critical', 'warning']);
});

test('each node is the subject of exactly one of the two checks', () => {
  const nodes = [silentAs('master', 'a:1'), silentAs('replica', 'b:1'), silentAs('sentinel', 'c:1'), nodeWith()];
  const subjects = REACH_CHECKS.flatMap((check) => check.look(storeWindow([], nodes)).map(({ subject }) => subject));
  assert.deepEqual(subjects.toSorted(), nodes.map(({ address }) => `${address} (store of goods)`).toSorted());
});

test('a node that refuses INFO is reachable', () => {
  for (const role of ['master', 'replica'] as const) {
    const node = nodeWith({
      role,
      parts: { info: { skipped: 'INFO is refused: NOPERM this user has no permissions' } },
    });
    const states = REACH_CHECKS.flatMap((check) => check.look(storeWindow([], [node])).map(({ state }) => state));
    assert.deepEqual(states, ['skipped']);
  }
});

test('a store of which no node tells the others is unreachable as a whole', () => {
  const at = snapshotWith({ stores: [storeWith({ nodes: { skipped: 'connect ETIMEDOUT' } })] });
  const observation = onlyOf(look('store-unreachable')(windowOf(at, at)));
  assert.equal(observation.subject, 'store of goods');
  assert.match(evidenceOf(observation), /ETIMEDOUT/);
});

test('a server that lets nobody in is unreachable, and the credentials are named; a right that is missing is not', () => {
  const refusing = (words: string): NodeFacts =>
    nodeWith({ parts: { info: { skipped: `INFO is refused: ${words}` } } });
  for (const words of [
    'WRONGPASS invalid username-password pair or user is disabled.',
    'NOAUTH Authentication required.',
  ]) {
    const found = onlyOf(look('store-unreachable')(storeWindow([], [refusing(words)])));
    assert.ok(found.state === 'raise', words);
    assert.match(found.advice.join('\n'), /^Set username and password of this store/);
  }
  const noRight = refusing("NOPERM this user has no permissions to run the 'info' command");
  assert.equal(onlyOf(look('store-unreachable')(storeWindow([], [noRight]))).state, 'skipped');
  const late = nodeWith({ parts: { info: { skipped: 'there was no time left for it' } } });
  assert.equal(onlyOf(look('store-unreachable')(storeWindow([], [late]))).state, 'skipped', 'it was not asked');
});
