import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CHECKS, checksNamed } from '../../../src/operations/doctor/checks/checks.ts';
import { PAGE, withChecks } from './checks-page.ts';
import { healthyWindow, raisedBy } from './harness.ts';

test('the page lists every check with its threshold and source', () => {
  const page = readFileSync(PAGE, 'utf8');
  assert.equal(page, withChecks(page), 'node test/operations/doctor/checks-page.ts writes the table');
});

test('a name is of one check, and an area is of all its checks', () => {
  assert.deepEqual(
    checksNamed('store-policy').map(({ id }) => id),
    ['store-policy'],
  );
  assert.deepEqual(
    checksNamed('pattern'),
    CHECKS.filter(({ area }) => area === 'pattern'),
  );
  assert.deepEqual(checksNamed('nothing'), []);
});

test('no check raises anything about a healthy window', () => {
  assert.deepEqual(raisedBy(CHECKS, healthyWindow()), []);
});
