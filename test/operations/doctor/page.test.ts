import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { NEEDS } from '../../../src/operations/doctor/check.ts';
import { CHECK_IDS, CHECKS, checksNamed } from '../../../src/operations/doctor/checks/checks.ts';
import { PAGE, withChecks } from './checks-page.ts';
import { healthyWindow, raisedBy } from './harness.ts';

test('the page lists every check with its threshold and source', () => {
  const page = readFileSync(PAGE, 'utf8');
  assert.equal(page, withChecks(page), 'node test/operations/doctor/checks-page.ts writes the table');
});

test('each check has a name of its own that begins with its area, and says everything', () => {
  assert.equal(CHECK_IDS.size, CHECKS.length);
  for (const { id, area, title, minimum, raises, clears, why, source, needs } of CHECKS) {
    assert.ok(id.startsWith(`${area}-`), `${id} is of ${area}`);
    for (const text of [title, minimum, raises, clears, why, source]) assert.notEqual(text.trim(), '', id);
    assert.ok(needs.length > 0 && needs.every((need) => NEEDS.includes(need)), id);
  }
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
