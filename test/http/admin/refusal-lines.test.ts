import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createRefusalSampler } from '../../../src/http/admin/audit.ts';
import type { AuditEntry } from '../../../src/operations/audit/audit.ts';
import { createFakeClock } from '../../fakes/clock.ts';

function rig(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const entries: AuditEntry[] = [];
  const lines = createRefusalSampler({ record: (entry) => entries.push(entry), clock: createFakeClock() });
  const note = (address: string): void => lines.note(address, { action: 'halt', by: address, result: 'unauthorized' });
  return { entries, note };
}

test('what is held back is written down after ten seconds, though nobody asks again', (t) => {
  const { entries, note } = rig(t);
  for (let i = 0; i < 9; i += 1) note('192.0.2.1');
  t.mock.timers.tick(9_999);
  assert.equal(entries.length, 5);
  t.mock.timers.tick(1);
  assert.deepEqual(entries.slice(5), [{ action: 'refusals', by: '192.0.2.1', result: 'held-back', heldBack: 4 }]);
  t.mock.timers.tick(60_000);
  assert.equal(entries.length, 6, 'once');
});

test('of more addresses than are remembered the number is bounded, and every refusal is counted', (t) => {
  const { entries, note } = rig(t);
  for (let i = 0; i < 3000; i += 1) note(`192.0.${i >> 8}.${i & 255}`);
  t.mock.timers.tick(10_000);
  const { by, heldBack } = entries.at(-1) ?? assert.fail();
  assert.deepEqual([by, heldBack], ['more than 1000 addresses', 2980]);
});
