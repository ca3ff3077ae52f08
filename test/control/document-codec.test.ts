import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ControlDocument, tagOf } from '../../src/control/document.ts';
import { decodeDocument, encodeDocument } from '../../src/control/document-codec.ts';
import { plain } from '../plain.ts';
import { pluck } from '../pluck.ts';
import { after, anySteps, storeRef } from './random-document.ts';

const NOW_MS = Date.UTC(2026, 10, 23);
const start: ControlDocument = { revision: 3, stamp: 'abc', generation: 9, ranges: [], purges: [], suppressed: [] };
const range = { from: 0, to: 100, floor: 2, freshFloor: 3, atMs: 5 };
const overlay = {
  drill: 'd',
  owner: 'o',
  leaseMs: 3000,
  mode: 'drop' as const,
  floor: 2,
  ranges: [{ from: 0, to: 10, floor: 4 }],
  nodes: ['a:1'],
  blackout: true,
  cohorts: [[{ from: 0, to: 1 }], []],
};
const shadow = { id: 's', candidate: storeRef('new'), fraction: 0.1, reads: 3, by: 'b', atMs: 5, untilMs: 86_400_000 };
const prepared = {
  id: 'c',
  phase: 'prepared' as const,
  active: storeRef('old'),
  other: storeRef('new'),
  settledBefore: true as const,
  by: 'b',
  atMs: 5,
};
const { other: _other, settledBefore: _before, ...rest } = prepared;
const settled = { ...rest, phase: 'settled' as const };
const many = <Item>(count: number, item: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => item(index));
const faultOf = (fields: object, tag = '3-abc'): string | undefined => {
  const decoded = decodeDocument(
    { tag, value: Buffer.from(JSON.stringify({ format: 2, ...start, ...fields })) },
    NOW_MS,
  );
  return decoded.kind === 'fault' ? decoded.detail : undefined;
};

test('a document survives encoding and decoding', () => {
  fc.assert(
    fc.property(anySteps, (steps) => {
      const document = after(steps);
      if (document.revision === 0) return;
      const encoded = encodeDocument(document);
      assert.equal(encoded.tag, tagOf(document));
      assert.deepEqual(plain(decodeDocument(encoded, NOW_MS)), plain({ kind: 'document', document }));
    }),
  );
  const whole = { ...start, overlay, line: ['2-x'], indexVersion: 'v', ranges: [range] };
  assert.deepEqual(plain(decodeDocument(encodeDocument(whole), NOW_MS)), { kind: 'document', document: whole });
});

test('a document with a placement has format 2, which versions without placements leave alone; any other has format 1', () => {
  const formatOf = (document: ControlDocument): unknown =>
    (JSON.parse(encodeDocument(document).value.toString()) as { readonly format?: unknown }).format;
  for (const placement of [prepared, settled]) {
    const document = { ...start, placement };
    assert.equal(formatOf(document), 2);
    assert.deepEqual(plain(decodeDocument(encodeDocument(document), NOW_MS)), plain({ kind: 'document', document }));
  }
  const shadowed = { ...start, shadow };
  assert.deepEqual([formatOf(start), formatOf(shadowed)], [1, 1]);
  assert.deepEqual(plain(decodeDocument(encodeDocument(shadowed), NOW_MS)), { kind: 'document', document: shadowed });
  assert.match(faultOf({ format: 1, placement: settled }) ?? '', /format 1, which has no placement/);
});

test('a shadow ends 30 days after its start at the latest, and not before its start', () => {
  const untilOf = (atMs: number, untilMs: number): number | undefined => {
    const decoded = decodeDocument(encodeDocument({ ...start, shadow: { ...shadow, atMs, untilMs } }), NOW_MS);
    return decoded.kind === 'document' ? decoded.document.shadow?.untilMs : undefined;
  };
  const thirtyDaysMs = 30 * 86_400_000;
  assert.equal(untilOf(1000, 2000), 2000);
  assert.equal(untilOf(1000, 2 * thirtyDaysMs), 1000 + thirtyDaysMs);
  assert.equal(untilOf(1000, 500), 1000);
  const farMs = NOW_MS + 365 * 86_400_000;
  assert.equal(
    untilOf(farMs, farMs),
    NOW_MS + 2 * 3_600_000 + thirtyDaysMs,
    'a start in the far future is clamped too',
  );
});

test('an unknown field, as a later version may add, is left out', () => {
  const value = Buffer.from(JSON.stringify({ format: 1, ...start, later: [1, 2] }));
  assert.deepEqual(plain(decodeDocument({ tag: '3-abc', value }, NOW_MS)), { kind: 'document', document: start });
});

test('a time that is negative or far in the future is clamped, so that its item can be pruned', () => {
  const [past, future] = [-1, NOW_MS + 365 * 86_400_000];
  const purges = [past, 5, future].map((atMs, index) => ({ text: `${index}`, generation: 1, atMs }));
  const decoded = decodeDocument(encodeDocument({ ...start, purges, ranges: [{ ...range, atMs: future }] }), NOW_MS);
  assert.ok(decoded.kind === 'document');
  const latest = NOW_MS + 2 * 3_600_000;
  assert.deepEqual(pluck([...decoded.document.purges, ...decoded.document.ranges], 'atMs'), [0, 5, latest, latest]);
});

const check = (value: Buffer, tag: string): void => {
  const decoded = decodeDocument({ tag, value }, NOW_MS);
  if (decoded.kind === 'fault') assert.ok(decoded.detail.length > 0);
  else assert.equal(tagOf(decoded.document), tag, 'the tag is that of the document');
};

test('any bytes decode to a document or to a fault with a reason', () => {
  fc.assert(fc.property(fc.uint8Array(), fc.string(), (bytes, tag) => check(Buffer.from(bytes), tag)));
  fc.assert(fc.property(fc.json(), (json) => check(Buffer.from(json), '1-a')));
  const whole = { format: 2, ...start, overlay, halted: undefined, ranges: [range], line: ['1-a'] };
  const placed = { ...whole, overlay: undefined, shadow, placement: prepared };
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(whole), ...Object.keys(overlay)), fc.jsonValue(), (key, foreign) => {
      check(Buffer.from(JSON.stringify({ ...whole, [key]: foreign })), '3-abc');
      check(Buffer.from(JSON.stringify({ ...whole, overlay: { ...overlay, [key]: foreign } })), '3-abc');
      check(Buffer.from(JSON.stringify({ ...whole, ranges: [{ ...range, [key]: foreign }] })), '3-abc');
    }),
  );
  const placedKeys = [...Object.keys(shadow), ...Object.keys(prepared), ...Object.keys(prepared.active)];
  fc.assert(
    fc.property(fc.constantFrom(...placedKeys), fc.jsonValue(), (key, foreign) => {
      const active = { ...prepared.active, [key]: foreign };
      check(Buffer.from(JSON.stringify({ ...placed, shadow: { ...shadow, [key]: foreign } })), '3-abc');
      check(Buffer.from(JSON.stringify({ ...placed, placement: { ...prepared, [key]: foreign } })), '3-abc');
      check(Buffer.from(JSON.stringify({ ...placed, placement: { ...prepared, active } })), '3-abc');
    }),
  );
  for (const document of [
    { ...start, overlay, ranges: [range] },
    { ...start, shadow, placement: prepared },
  ]) {
    const bytes = encodeDocument(document).value;
    for (let at = 0; at < bytes.length; at += 1) {
      for (const byte of [0, 0x22, 0x30, 0xff]) {
        const torn = Buffer.from(bytes);
        torn[at] = byte;
        check(torn, '3-abc');
      }
      check(bytes.subarray(0, at), '3-abc');
    }
  }
});

test('every bound is checked, and named in the fault', () => {
  const halted = { reason: 'r', by: 'b', atMs: 0 };
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ format: 3 }, /format 3, not of 1 or 2/],
    [{ format: undefined }, /no format/],
    [{ generation: 0 }, /generation/],
    [{ generation: 2 ** 32 }, /generation/],
    [{ generation: 2 ** 29 }, /generation/],
    [{ revision: 0 }, /revision/],
    [{ revision: Number.MAX_SAFE_INTEGER }, /revision/],
    [{ stamp: 'a b' }, /stamp/],
    [{ revision: 4 }, /tagged 3-abc/],
    [{ ranges: [range, { ...range, from: 50, to: 150 }] }, /overlap/],
    [{ ranges: [{ ...range, from: 200, to: 300 }, range] }, /rise/],
    [
      { ranges: many(33, (at) => ({ ...range, from: at * 200, to: at * 200 + 100 })) },
      /ranges must not have more than 32/,
    ],
    [{ ranges: [{ ...range, floor: 4 }] }, /freshFloor/],
    [{ ranges: [{ ...range, freshFloor: 10 }] }, /freshFloor/],
    [{ ranges: [{ ...range, to: 10_001 }] }, /to must/],
    [{ ranges: [{ ...range, atMs: null }] }, /atMs/],
    [{ purges: many(257, (at) => ({ text: `${at}`, generation: 1, atMs: 0 })) }, /purges must not have more than 256/],
    [{ purges: [{ text: '', generation: 1, atMs: 0 }] }, /text/],
    [{ purges: [{ text: 'x', generation: 10, atMs: 0 }] }, /generation/],
    [
      { suppressed: many(4097, (at) => ({ id: `${at}`, generation: 1, atMs: 0 })) },
      /suppressed must not have more than 4096/,
    ],
    [{ suppressed: [{ id: 'x'.repeat(513), generation: 1, atMs: 0 }] }, /id/],
    [{ indexVersion: 'x'.repeat(129) }, /indexVersion/],
    [{ halted: { ...halted, reason: '' } }, /reason/],
    [{ halted, overlay }, /halted/],
    [{ overlay: { ...overlay, mode: 'burn' } }, /mode/],
    [{ overlay: { ...overlay, leaseMs: 0 } }, /leaseMs/],
    [{ overlay: { ...overlay, floor: 10 } }, /floor/],
    [{ overlay: { ...overlay, blackout: 1 } }, /blackout/],
    [{ overlay: { ...overlay, cohorts: many(18, () => []) } }, /cohorts/],
    [{ overlay: { ...overlay, nodes: ['a:1', 2] } }, /nodes/],
    [{ line: many(33, (at) => `${at}-a`) }, /line/],
    [{ line: ['3-a'] }, /line/],
    [{ line: ['no tag'] }, /line/],
    [{ overlay: { ...overlay, leaseMs: 60_001 } }, /leaseMs/],
    [{ halted, shadow }, /halted/],
    [{ halted, placement: prepared }, /halted/],
    [{ overlay, placement: prepared }, /overlay or a cut-over/],
    [{ shadow, placement: { ...prepared, phase: 'committed', settledBefore: undefined } }, /no shadow/],
    [{ shadow: { ...shadow, fraction: 0 } }, /fraction/],
    [{ shadow: { ...shadow, fraction: 1.01 } }, /fraction/],
    [{ shadow: { ...shadow, reads: 6 } }, /reads/],
    [{ shadow: { ...shadow, reads: 1.5 } }, /reads/],
    [{ shadow: { ...shadow, id: '' } }, /id/],
    [{ shadow: { ...shadow, by: 'x'.repeat(257) } }, /by/],
    [{ shadow: { ...shadow, untilMs: '9' } }, /untilMs/],
    [{ shadow: { ...shadow, candidate: 'new' } }, /candidate/],
    [{ shadow: { ...shadow, candidate: { ...shadow.candidate, name: 'x'.repeat(65) } } }, /name/],
    [{ placement: { ...prepared, phase: 'begun' } }, /phase/],
    [{ placement: { ...prepared, other: undefined } }, /other/],
    [{ placement: { ...settled, other: prepared.other } }, /other/],
    [{ placement: { ...prepared, other: { ...prepared.other, fingerprint: 'short' } } }, /fingerprint/],
    [{ placement: { ...prepared, other: { ...prepared.active, name: 'new' } } }, /other is the active store/],
    [{ placement: { ...prepared, settledBefore: false } }, /settledBefore/],
    [{ placement: { ...settled, settledBefore: true } }, /settledBefore/],
    [{ placement: { ...settled, atMs: undefined } }, /atMs/],
  ];
  assert.equal(faultOf({}), undefined);
  for (const [fields, words] of cases) assert.match(faultOf(fields) ?? 'a document', words, JSON.stringify(fields));
});
