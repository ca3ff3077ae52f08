import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ControlDocument, tagOf } from '../../src/control/document.ts';
import { decodeDocument, encodeDocument } from '../../src/control/document-codec.ts';
import { after, anySteps } from './random-document.ts';

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
const many = <Item>(count: number, item: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => item(index));
const faultOf = (fields: object, tag = '3-abc'): string | undefined => {
  const decoded = decodeDocument(
    { tag, value: Buffer.from(JSON.stringify({ format: 1, ...start, ...fields })) },
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
      assert.deepEqual(decodeDocument(encoded, NOW_MS), { kind: 'document', document });
    }),
  );
  const whole = { ...start, overlay, line: ['2-x'], indexVersion: 'v', ranges: [range] };
  assert.deepEqual(decodeDocument(encodeDocument(whole), NOW_MS), { kind: 'document', document: whole });
});

test('an unknown field, as a later version may add, is left out', () => {
  const value = Buffer.from(JSON.stringify({ format: 1, ...start, later: [1, 2] }));
  assert.deepEqual(decodeDocument({ tag: '3-abc', value }, NOW_MS), { kind: 'document', document: start });
});

test('a time that is negative or far in the future is clamped, so that its item can be pruned', () => {
  const [past, future] = [-1, NOW_MS + 365 * 86_400_000];
  const purges = [past, 5, future].map((atMs, index) => ({ text: `${index}`, generation: 1, atMs }));
  const decoded = decodeDocument(encodeDocument({ ...start, purges, ranges: [{ ...range, atMs: future }] }), NOW_MS);
  assert.ok(decoded.kind === 'document');
  const latest = NOW_MS + 2 * 3_600_000;
  assert.deepEqual(
    [...decoded.document.purges, ...decoded.document.ranges].map(({ atMs }) => atMs),
    [0, 5, latest, latest],
  );
});

test('any bytes decode to a document or to a fault with a reason', () => {
  const check = (value: Buffer, tag: string): void => {
    const decoded = decodeDocument({ tag, value }, NOW_MS);
    if (decoded.kind === 'fault') assert.ok(decoded.detail.length > 0);
    else assert.equal(tagOf(decoded.document), tag, 'the tag is that of the document');
  };
  fc.assert(fc.property(fc.uint8Array(), fc.string(), (bytes, tag) => check(Buffer.from(bytes), tag)));
  fc.assert(fc.property(fc.json(), (json) => check(Buffer.from(json), '1-a')));
  const whole = { format: 1, ...start, overlay, halted: undefined, ranges: [range], line: ['1-a'] };
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(whole), ...Object.keys(overlay)), fc.jsonValue(), (key, foreign) => {
      check(Buffer.from(JSON.stringify({ ...whole, [key]: foreign })), '3-abc');
      check(Buffer.from(JSON.stringify({ ...whole, overlay: { ...overlay, [key]: foreign } })), '3-abc');
      check(Buffer.from(JSON.stringify({ ...whole, ranges: [{ ...range, [key]: foreign }] })), '3-abc');
    }),
  );
  const bytes = encodeDocument({ ...start, overlay, ranges: [range] }).value;
  for (let at = 0; at < bytes.length; at += 1) {
    for (const byte of [0, 0x22, 0x30, 0xff]) {
      const torn = Buffer.from(bytes);
      torn[at] = byte;
      check(torn, '3-abc');
    }
    check(bytes.subarray(0, at), '3-abc');
  }
});

test('every bound is checked, and named in the fault', () => {
  const halted = { reason: 'r', by: 'b', atMs: 0 };
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ format: 2 }, /format 2/],
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
    [{ ranges: many(33, (at) => ({ ...range, from: at * 200, to: at * 200 + 100 })) }, /at most 32/],
    [{ ranges: [{ ...range, floor: 4 }] }, /freshFloor/],
    [{ ranges: [{ ...range, freshFloor: 10 }] }, /freshFloor/],
    [{ ranges: [{ ...range, to: 10_001 }] }, /to is/],
    [{ ranges: [{ ...range, atMs: null }] }, /atMs/],
    [{ purges: many(257, (at) => ({ text: `${at}`, generation: 1, atMs: 0 })) }, /at most 256/],
    [{ purges: [{ text: '', generation: 1, atMs: 0 }] }, /text/],
    [{ purges: [{ text: 'x', generation: 10, atMs: 0 }] }, /generation/],
    [{ suppressed: many(4097, (at) => ({ id: `${at}`, generation: 1, atMs: 0 })) }, /at most 4096/],
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
  ];
  assert.equal(faultOf({}), undefined);
  for (const [fields, words] of cases) assert.match(faultOf(fields) ?? 'a document', words, JSON.stringify(fields));
});
