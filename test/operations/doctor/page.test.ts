import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CHECKS, checksNamed } from '../../../src/operations/doctor/checks/checks.ts';
import { pluck } from '../../pluck.ts';
import { PAGE, withChecks } from './checks-page.ts';
import { healthyWindow, raisedBy } from './harness.ts';

test('the page lists every check with its threshold and source', () => {
  const page = readFileSync(PAGE, 'utf8');
  assert.equal(page, withChecks(page), 'node test/operations/doctor/checks-page.ts writes the table');
});

test('each check has an id of its own, and none of its texts is empty', () => {
  assert.equal(new Set(pluck(CHECKS, 'id')).size, CHECKS.length);
  for (const check of CHECKS) {
    for (const [name, text] of Object.entries(check)) {
      if (typeof text === 'string') assert.notEqual(text.trim(), '', `${check.id}: ${name}`);
    }
  }
});

test('a name is of one check, and an area is of all its checks', () => {
  assert.deepEqual(pluck(checksNamed('store-policy'), 'id'), ['store-policy']);
  assert.deepEqual(
    checksNamed('pattern'),
    CHECKS.filter(({ area }) => area === 'pattern'),
  );
  assert.deepEqual(checksNamed('nothing'), []);
});

test('no check raises anything about a healthy window', () => {
  assert.deepEqual(raisedBy(CHECKS, healthyWindow()), []);
});
