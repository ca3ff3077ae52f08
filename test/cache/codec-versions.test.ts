import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { decodeEntry } from '../../src/cache/codec.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';

const canonical = 'goods@x?q=кроссовки';
const HEADER_BYTES = 62;
const CRC_AT = 58;

/** The right checksum over everything but its own four bytes, computed apart from the codec. */
function sealed(bytes: Buffer): Buffer {
  const rest = Buffer.concat([bytes.subarray(0, CRC_AT), bytes.subarray(CRC_AT + 4)]);
  bytes.writeUInt32BE(crc32(rest), CRC_AT);
  return bytes;
}

/** As a later writer of the same version would: something we do not know between the fingerprints and the body. */
function withExtensions(encoded: Buffer, fingerprints: number, extensions: Buffer): Buffer {
  const at = HEADER_BYTES + Buffer.byteLength(canonical) + fingerprints * 4;
  const bytes = Buffer.concat([encoded.subarray(0, at), extensions, encoded.subarray(at)]);
  bytes.writeUInt16BE(extensions.length, 52);
  return sealed(bytes);
}

test('the checksum is of every byte but its own', () => {
  const { encoded } = entryOf(createFakeClock());
  assert.deepEqual(sealed(Buffer.from(encoded)), encoded);
});

test('extensions of a later writer are skipped, and the rest is read as ever', () => {
  const clock = createFakeClock();
  const entry = entryOf(clock);
  for (const length of [1, 7, 300, 65_535]) {
    const extended = withExtensions(entry.encoded, entry.fingerprints.length, Buffer.alloc(length, 0xa5));
    const decoded = decodeEntry(extended, canonical, clock);
    assert.ok(decoded.kind === 'entry', `${length} bytes: ${decoded.kind}`);
    assert.deepEqual(decoded.entry.body, entry.body);
    assert.deepEqual({ ...decoded.entry, encoded: entry.encoded }, entry);
    assert.deepEqual(decoded.entry.encoded, extended);
  }
});

test('extensions whose length is not theirs are corrupt', () => {
  const clock = createFakeClock();
  const { encoded, fingerprints } = entryOf(clock);
  const extended = withExtensions(encoded, fingerprints.length, Buffer.alloc(8));
  extended.writeUInt16BE(9, 52);
  assert.equal(decodeEntry(sealed(extended), canonical, clock).kind, 'corrupt');
});

test('a coding nobody here knows is incompatible when its checksum is right, and corrupt when not', () => {
  const clock = createFakeClock();
  for (let coding = 3; coding < 256; coding += 1) {
    const later = Buffer.from(entryOf(clock).encoded);
    later[3] = coding;
    assert.equal(decodeEntry(Buffer.from(later), canonical, clock).kind, 'corrupt', `coding ${coding}`);
    assert.equal(decodeEntry(sealed(later), canonical, clock).kind, 'incompatible', `coding ${coding}`);
  }
});
