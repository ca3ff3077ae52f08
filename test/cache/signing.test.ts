import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { decodeEntry } from '../../src/cache/codec.ts';
import { createSigning, seal, unseal } from '../../src/cache/signing.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';

const [OLD, NEW, FOREIGN] = ['o'.repeat(32), 'n'.repeat(32), 'f'.repeat(32)];
const current = createSigning({ key: NEW, previousKey: OLD, required: true }, 'goods');
const before = createSigning({ key: OLD, required: true }, 'goods');
const foreign = createSigning({ key: FOREIGN, required: true }, 'goods');
const introducing = createSigning({ key: NEW, previousKey: OLD, required: false }, 'goods');
const otherDomain = createSigning({ key: NEW, required: true }, 'auto');

const canonical = 'goods@x?q=кроссовки';
const CRC_AT = 58;

/** Sets the right checksum, as an attacker would. */
function checked(bytes: Buffer): Buffer {
  bytes.writeUInt32BE(crc32(bytes.subarray(CRC_AT + 4), crc32(bytes.subarray(0, CRC_AT))), CRC_AT);
  return bytes;
}

test('an entry is read with the key that signed it, with it as the previous key, and without any key', () => {
  const clock = createFakeClock();
  const { encoded, body } = entryOf(clock, {}, before);
  for (const signing of [before, current, introducing, undefined]) {
    const decoded = decodeEntry(Buffer.from(encoded), canonical, clock, signing);
    assert.ok(decoded.kind === 'entry', decoded.kind);
    assert.deepEqual(decoded.entry.body, body);
  }
});

test('an entry without a signature of our keys for this domain is unsigned', () => {
  const clock = createFakeClock();
  const kind = (encoded: Buffer, signing = current) =>
    decodeEntry(Buffer.from(encoded), canonical, clock, signing).kind;
  const [signed, wrong, other, plain] = [current, foreign, otherDomain, undefined].map(
    (signing) => entryOf(clock, {}, signing).encoded,
  );
  assert.ok(signed && wrong && other && plain);
  assert.deepEqual(
    [signed, wrong, other, plain].map((one) => kind(one)),
    ['entry', 'unsigned', 'unsigned', 'unsigned'],
  );
  assert.deepEqual(
    [signed, wrong, other, plain].map((one) => kind(one, introducing)),
    ['entry', 'unsigned', 'unsigned', 'entry'],
    'a wrong signature is never accepted',
  );
  assert.equal(signed.length, plain.length + 20);
});

test('a signed entry with any changed byte is not served, even with a right checksum', () => {
  const clock = createFakeClock();
  const { encoded } = entryOf(clock, {}, current);
  for (let at = 0; at < encoded.length; at += 1) {
    const planted = Buffer.from(encoded);
    planted.writeUInt8(planted.readUInt8(at) ^ 1, at);
    const { kind } = decodeEntry(checked(planted), canonical, clock, current);
    // The checksum is computed again, so a change of its own bytes has no effect.
    assert.equal(kind === 'entry', at >= CRC_AT && at < CRC_AT + 4, `byte ${at}: ${kind}`);
  }
});

test('random bytes as extensions never throw and are never a signature', () => {
  const clock = createFakeClock();
  const plain = entryOf(clock);
  const at = plain.encoded.length - plain.body.length;
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (junk) => {
      const bytes = Buffer.concat([plain.encoded.subarray(0, at), junk, plain.encoded.subarray(at)]);
      bytes.writeUInt16BE(junk.length, 52);
      assert.equal(decodeEntry(checked(bytes), canonical, clock, current).kind, 'unsigned');
    }),
  );
});

test('sealed bytes are opened only for their purpose, id, domain and key', () => {
  const bytes = Buffer.from('{"a":1}');
  const sealed = seal(current, 'report', 'drill', bytes);
  assert.deepEqual(unseal(current, 'report', 'drill', sealed), { kind: 'bytes', bytes, isWeak: false });
  assert.deepEqual(unseal(undefined, 'report', 'drill', sealed), { kind: 'bytes', bytes, isWeak: false });
  assert.equal(unseal(current, 'report', 'other', sealed).kind, 'refused');
  assert.equal(unseal(current, 'document', 'drill', sealed).kind, 'refused');
  assert.equal(unseal(otherDomain, 'report', 'drill', sealed).kind, 'refused');
  assert.equal(unseal(foreign, 'report', 'drill', sealed).kind, 'refused');
  assert.deepEqual(unseal(current, 'report', 'drill', seal(before, 'report', 'drill', bytes)), {
    kind: 'bytes',
    bytes,
    isWeak: true,
  });
  assert.deepEqual(seal(undefined, 'report', 'drill', bytes), bytes);
  for (let at = 0; at < sealed.length; at += 1) {
    const planted = Buffer.from(sealed);
    planted.writeUInt8(planted.readUInt8(at) ^ 4, at);
    assert.equal(unseal(current, 'report', 'drill', planted).kind, 'refused', `byte ${at}`);
    assert.equal(unseal(current, 'report', 'drill', sealed.subarray(0, at)).kind, 'refused', `${at} bytes`);
  }
});
