import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { decodeEntry, ENTRY_VERSION, etagOf, fingerprint } from '../../src/cache/codec.ts';
import type { Coding } from '../../src/cache/entry.ts';
import { createSigning } from '../../src/cache/signing.ts';
import { anyCharacter } from '../any-character.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { entryOf } from '../fakes/entry.ts';

const canonical = 'goods@x?q=кроссовки';

test('every entry is decoded as it was encoded', () => {
  const clock = createFakeClock();
  fc.assert(
    fc.property(
      fc.record({
        coding: fc.constantFrom<Coding>('identity', 'gzip', 'zstd'),
        empty: fc.boolean(),
        degraded: fc.boolean(),
        generation: fc.nat({ max: 0xffff_ffff }),
        freshForMs: fc.nat({ max: 0xffff_ffff }),
        revalidateForMs: fc.nat({ max: 0xffff_ffff }),
        errorForMs: fc.nat({ max: 0xffff_ffff }),
        canonical: fc.string({ unit: anyCharacter, maxLength: 300 }),
        resultIds: fc.array(fc.string(), { maxLength: 100 }),
        body: fc.uint8Array({ maxLength: 2000 }).map((bytes) => Buffer.from(bytes)),
      }),
      (parts) => {
        const entry = entryOf(clock, parts);
        const decoded = decodeEntry(Buffer.from(entry.encoded), parts.canonical, clock);
        assert.equal(decoded.kind, 'entry');
        if (decoded.kind !== 'entry') return;
        assert.deepEqual(decoded.entry, entry);
        assert.deepEqual([...decoded.entry.fingerprints], parts.resultIds.map(fingerprint));
        assert.deepEqual(decoded.entry.body, parts.body);
        for (const name of ['coding', 'empty', 'degraded', 'generation', 'freshForMs', 'errorForMs'] as const) {
          assert.equal(decoded.entry[name], parts[name], name);
        }
      },
    ),
  );
});

test('a value with one changed byte is never an entry', () => {
  const clock = createFakeClock();
  const { encoded } = entryOf(clock);
  for (let at = 0; at < encoded.length; at += 1) {
    const damaged = Buffer.from(encoded);
    damaged[at] = (damaged[at] ?? 0) ^ 0x01;
    assert.notEqual(decodeEntry(damaged, canonical, clock).kind, 'entry', `byte ${at}`);
  }
});

test('a value that is too short or too long is never an entry and never throws', () => {
  const clock = createFakeClock();
  const { encoded } = entryOf(clock);
  for (let length = 0; length < encoded.length; length += 1) {
    assert.equal(decodeEntry(encoded.subarray(0, length), canonical, clock).kind, 'corrupt', `${length} bytes`);
  }
  assert.equal(decodeEntry(Buffer.concat([encoded, Buffer.from('!')]), canonical, clock).kind, 'corrupt');
});

test('foreign bytes are corrupt', () => {
  const clock = createFakeClock();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      assert.equal(decodeEntry(Buffer.from(bytes), canonical, clock).kind, 'corrupt');
    }),
  );
});

test('every older and newer version is incompatible, not corrupt', () => {
  const clock = createFakeClock();
  for (let version = 0; version < 256; version += 1) {
    if (version === ENTRY_VERSION) continue;
    const other = Buffer.from(entryOf(clock).encoded);
    other[2] = version;
    assert.equal(decodeEntry(other, canonical, clock).kind, 'incompatible', `version ${version}`);
    assert.equal(decodeEntry(other.subarray(0, 10), canonical, clock).kind, 'incompatible');
  }
});

test('an entry of another search is corrupt: a hash collision is a miss, never a wrong answer', () => {
  const clock = createFakeClock();
  const { encoded } = entryOf(clock);
  assert.equal(decodeEntry(encoded, 'goods@x?q=кроссовка', clock).kind, 'corrupt');
  assert.equal(decodeEntry(encoded, 'goods@x?q=кроссовки&page=2', clock).kind, 'corrupt');
});

test('an entry created in the future counts as created on its arrival', () => {
  const clock = createFakeClock();
  const { encoded } = entryOf(clock, { createdAtMs: clock.wallMs() + 3_600_000 });
  const decoded = decodeEntry(encoded, canonical, clock);
  assert.ok(decoded.kind === 'entry');
  assert.equal(decoded.entry.createdAtMs, clock.wallMs());
  assert.equal(decoded.entry.bornMs, clock.monotonicMs());
});

test('the tag is the hash of the identity body: the same page has the same tag', () => {
  assert.equal(etagOf(Buffer.from('a')), etagOf(Buffer.from('a')));
  assert.notEqual(etagOf(Buffer.from('a')), etagOf(Buffer.from('b')));
  assert.match(etagOf(Buffer.from('a')), /^[A-Za-z0-9_-]{16}$/);
});

const HEADER_BYTES = 62;
const CRC_AT = 58;

/** Sets the right checksum of all bytes but its own four, computed without the codec. */
function sealed(bytes: Buffer): Buffer {
  const rest = Buffer.concat([bytes.subarray(0, CRC_AT), bytes.subarray(CRC_AT + 4)]);
  bytes.writeUInt32BE(crc32(rest), CRC_AT);
  return bytes;
}

/** The bytes of a later writer of the same version: unknown extensions between the fingerprints and the body. */
function withExtensions(encoded: Buffer, fingerprints: number, extensions: Buffer): Buffer {
  const at = HEADER_BYTES + Buffer.byteLength(canonical) + fingerprints * 4;
  const bytes = Buffer.concat([encoded.subarray(0, at), extensions, encoded.subarray(at)]);
  bytes.writeUInt16BE(extensions.length, 52);
  return sealed(bytes);
}

test('the checksum covers every byte but its own', () => {
  const { encoded } = entryOf(createFakeClock());
  assert.deepEqual(sealed(Buffer.from(encoded)), encoded);
});

test('unknown extensions of a later writer are skipped, and the rest is read as usual', () => {
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

const placed = (position: number) => ({ position, judged: 3, change: undefined, interest: undefined });
const unjudged = (position: number) => ({ ...placed(position), judged: Number.NaN });

test('the place in the feed of changes comes back unjudged, with a signature and without', () => {
  const clock = createFakeClock();
  const signing = createSigning({ key: 'x'.repeat(32), required: true }, 'goods');
  for (const signed of [undefined, signing]) {
    for (const position of [0, 1, 1.8e15, 2 ** 53 - 1, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const entry = entryOf(clock, { feed: placed(position) }, signed);
      assert.equal(entry.feed?.judged, 3, 'the process that computed it keeps its judgement');
      const decoded = decodeEntry(entry.encoded, canonical, clock, signed);
      assert.ok(decoded.kind === 'entry', `${position}: ${decoded.kind}`);
      assert.deepEqual(decoded.entry.feed, unjudged(position));
      assert.deepEqual(decoded.entry.body, entry.body);
    }
    const without = decodeEntry(entryOf(clock, {}, signed).encoded, canonical, clock, signed);
    assert.ok(without.kind === 'entry' && without.entry.feed === undefined);
  }
});

test('a changed place of a signed entry is not believed', () => {
  const clock = createFakeClock();
  const signing = createSigning({ key: 'x'.repeat(32), required: true }, 'goods');
  const entry = entryOf(clock, { feed: placed(1000) }, signing);
  const at = entry.encoded.indexOf(doubleOf(1000));
  const planted = Buffer.from(entry.encoded);
  doubleOf(1e15).copy(planted, at);
  assert.equal(decodeEntry(sealed(planted), canonical, clock, signing).kind, 'unsigned');
});

test('the place is read behind an unknown extension, and a cut one counts as none', () => {
  const clock = createFakeClock();
  const entry = entryOf(clock);
  const extendedWith = (bytes: Buffer) => {
    const extended = withExtensions(entry.encoded, entry.fingerprints.length, bytes);
    const decoded = decodeEntry(extended, canonical, clock);
    assert.ok(decoded.kind === 'entry', decoded.kind);
    return decoded.entry.feed;
  };
  const unknown = Buffer.from([0x7f, 0xff, 0, 3, 1, 2, 3]);
  const place = Buffer.concat([Buffer.from([0, 2, 0, 8]), doubleOf(77)]);
  assert.deepEqual(extendedWith(Buffer.concat([unknown, place])), unjudged(77));
  for (let length = 1; length < place.length; length += 1) {
    assert.equal(extendedWith(place.subarray(0, length)), undefined, `${length} bytes`);
  }
});

function doubleOf(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes;
}

test('extensions with a wrong length are corrupt', () => {
  const clock = createFakeClock();
  const { encoded, fingerprints } = entryOf(clock);
  const extended = withExtensions(encoded, fingerprints.length, Buffer.alloc(8));
  extended.writeUInt16BE(9, 52);
  assert.equal(decodeEntry(sealed(extended), canonical, clock).kind, 'corrupt');
});

test('an unknown coding is incompatible with a right checksum, and corrupt with a wrong one', () => {
  const clock = createFakeClock();
  for (let coding = 3; coding < 256; coding += 1) {
    const later = Buffer.from(entryOf(clock).encoded);
    later[3] = coding;
    assert.equal(decodeEntry(Buffer.from(later), canonical, clock).kind, 'corrupt', `coding ${coding}`);
    assert.equal(decodeEntry(sealed(later), canonical, clock).kind, 'incompatible', `coding ${coding}`);
  }
});
