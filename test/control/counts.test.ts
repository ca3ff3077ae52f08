import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secondsSince2020, stepFault } from '../../src/control/changes.ts';
import { type ControlDocument, emptyDocument, tagOf } from '../../src/control/document.ts';

const NOW_MS = Date.UTC(2026, 10, 23);
const known: ControlDocument = { ...emptyDocument, revision: 1000, stamp: 'known', generation: 1000 };
const stored = (fields: Partial<ControlDocument>): ControlDocument => ({ ...known, stamp: 'other', ...fields });
const faultOf = (document: ControlDocument, silentMs = 0): string | undefined =>
  stepFault(document, { known, nowMs: NOW_MS, silentMs });

test('a revision a million above the known one is no step, whatever its generation', () => {
  assert.match(faultOf(stored({ revision: 1001 + 2 ** 20 })) ?? '', /^revision \d+ is more than 1048576 above 1000/);
  assert.equal(faultOf(stored({ revision: 1000 + 2 ** 20 })), undefined);
});

test('a generation is no step a million above the known one, or above where a line begins now', () => {
  const begins = secondsSince2020(NOW_MS);
  assert.match(faultOf(stored({ generation: begins + 2 ** 20 + 1 })) ?? '', /^generation \d+ is more than 1048576/);
  assert.equal(
    faultOf(stored({ generation: begins + 2 ** 20 })),
    undefined,
    'the store was wiped and a line begun anew',
  );
});

test('who has not heard of a document for long takes a larger step', () => {
  const step = stored({ revision: 1000 + 2 ** 20 + 100 });
  assert.ok(faultOf(step, 900) !== undefined);
  assert.equal(faultOf(step, 1000), undefined);
});

test('a document that descends from the known one is no step, and where none is known each is the first', () => {
  const far = stored({ revision: 2 ** 28, generation: 2 ** 28 });
  assert.ok(faultOf(far) !== undefined);
  assert.equal(faultOf({ ...far, line: [tagOf(known)] }), undefined);
  assert.equal(stepFault(far, { known: emptyDocument, nowMs: NOW_MS, silentMs: 0 }), undefined);
});
