import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ControlDocument, emptyDocument, secondsSince2020, tagOf } from '../../src/control/document.ts';
import { stepFault } from '../../src/control/document-codec.ts';

const NOW_MS = Date.UTC(2026, 10, 23);
const known: ControlDocument = { ...emptyDocument, revision: 1000, stamp: 'known', generation: 1000 };
const stored = (fields: Partial<ControlDocument>): ControlDocument => ({ ...known, stamp: 'other', ...fields });
const faultOf = (document: ControlDocument, silentMs = 0): string | undefined =>
  stepFault(document, { known, nowMs: NOW_MS, silentMs });

test('a revision a million above the known one is refused, whatever its generation', () => {
  assert.match(faultOf(stored({ revision: 1001 + 2 ** 20 })) ?? '', /^revision \d+ is more than 1048576 above 1000/);
  assert.equal(faultOf(stored({ revision: 1000 + 2 ** 20 })), undefined);
});

test('a generation a million above the known one, and above a history that begins now, is refused', () => {
  const begins = secondsSince2020(NOW_MS);
  assert.match(faultOf(stored({ generation: begins + 2 ** 20 + 1 })) ?? '', /^generation \d+ is more than 1048576/);
  assert.equal(
    faultOf(stored({ generation: begins + 2 ** 20 })),
    undefined,
    'the store was wiped and a new history began',
  );
});

test('a process without a valid read for a while accepts a larger step', () => {
  const step = stored({ revision: 1000 + 2 ** 20 + 100 });
  assert.ok(faultOf(step, 900) !== undefined);
  assert.equal(faultOf(step, 1000), undefined);
});

test('a descendant of the known document is never refused, nor is any document where none is known', () => {
  const far = stored({ revision: 2 ** 28, generation: 2 ** 28 });
  assert.ok(faultOf(far) !== undefined);
  assert.equal(faultOf({ ...far, line: [tagOf(known)] }), undefined);
  assert.equal(stepFault(far, { known: emptyDocument, nowMs: NOW_MS, silentMs: 0 }), undefined);
});
