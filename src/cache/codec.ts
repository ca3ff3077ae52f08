import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, crc32, gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib';
import type { Clock } from '../runtime.ts';
import { type Coding, type Entry, type FeedMark, MAX_SKEW_MS } from './entry.ts';
import { SIGNATURE_BYTES, type Signing } from './signing.ts';

/**
 * The binary form of an entry: a fixed header, then the canonical form, the result-id fingerprints, extensions, and the
 * body. Big-endian. A reader of this version skips extensions it does not know; a change that old readers must not
 * misread raises the version, and the key prefix `sc1` with it, so that replicas of two versions run side by side.
 *
 *   0  u16 magic "SC"       18 12 B  etag (96 bits)          50 u16 fingerprint count
 *   2  u8  version          30 u32   fresh for, ms           52 u16 extensions length
 *   3  u8  coding           34 u32   revalidate for, ms      54 u32 body length
 *   4  u16 flags            38 u32   error for, ms           58 u32 crc32 of all but this field
 *   6  u16 reserved, 0      42 u32   engine cost, µs         62 …   canonical, fingerprints, extensions, body
 *   8  u32 generation       46 u32   canonical length
 *  12  u48 created at, ms
 *
 * Extensions are a list of: u16 type, u16 length, bytes. Type 1 is a signature of everything but itself and the checksum,
 * type 2 the position in the feed of changes, a double.
 */
export const ENTRY_VERSION = 1;
const MAGIC = 0x5343;
const CRC_AT = 58;
const HEADER_BYTES = 62;
const EXTENSION_SIGNATURE = 1;
const EXTENSION_FEED = 2;
const FEED_BYTES = 8;
const EXTENSION_HEADER_BYTES = 4;
const FLAG_EMPTY = 1;
const FLAG_DEGRADED = 2;
const U32_MAX = 0xffff_ffff;
export const CODINGS: readonly Coding[] = ['identity', 'gzip', 'zstd'];

/** The parts of an entry. The codec adds lengths and checksum. */
export interface EntryParts extends Omit<Entry, 'encoded' | 'fingerprints' | 'bornMs' | 'feed'> {
  /** When given, a wall clock that was stepped since `createdAtMs` changes no age. */
  readonly bornMs?: number;
  readonly feed?: FeedMark | undefined;
  readonly canonical: string;
  /** At most 65 535; stored as 32-bit fingerprints. */
  readonly resultIds: readonly string[];
}

export type DecodedEntry =
  | { readonly kind: 'entry'; readonly entry: Entry }
  /** Another version of this format, written by an older or newer serpcache. */
  | { readonly kind: 'incompatible' }
  /** Not an entry, a damaged entry, or the entry of another search. */
  | { readonly kind: 'corrupt' }
  /** Its signature is missing, or was made with another key. */
  | { readonly kind: 'unsigned' };

/** @param signing signs the entry, when given */
export function encodeEntry(parts: EntryParts, clock: Clock, signing?: Signing): Entry {
  const { body, feed } = parts;
  const canonical = Buffer.from(parts.canonical);
  const fingerprints = parts.resultIds.map(fingerprint);
  const extensionsAt = HEADER_BYTES + canonical.length + fingerprints.length * 4;
  const feedLength = feed === undefined ? 0 : EXTENSION_HEADER_BYTES + FEED_BYTES;
  const extensionsLength = feedLength + (signing === undefined ? 0 : EXTENSION_HEADER_BYTES + SIGNATURE_BYTES);
  const bodyAt = extensionsAt + extensionsLength;
  const out = Buffer.allocUnsafeSlow(bodyAt + body.length);
  out.writeUInt16BE(MAGIC, 0);
  out.writeUInt8(ENTRY_VERSION, 2);
  out.writeUInt8(CODINGS.indexOf(parts.coding), 3);
  out.writeUInt16BE((parts.empty ? FLAG_EMPTY : 0) | (parts.degraded ? FLAG_DEGRADED : 0), 4);
  out.writeUInt16BE(0, 6);
  out.writeUInt32BE(parts.generation, 8);
  out.writeUIntBE(Math.floor(parts.createdAtMs), 12, 6);
  out.write(parts.etag, 18, 12, 'base64url');
  out.writeUInt32BE(u32(parts.freshForMs), 30);
  out.writeUInt32BE(u32(parts.revalidateForMs), 34);
  out.writeUInt32BE(u32(parts.errorForMs), 38);
  out.writeUInt32BE(u32(parts.costMs * 1000), 42);
  out.writeUInt32BE(canonical.length, 46);
  out.writeUInt16BE(fingerprints.length, 50);
  out.writeUInt16BE(extensionsLength, 52);
  out.writeUInt32BE(body.length, 54);
  canonical.copy(out, HEADER_BYTES);
  fingerprints.forEach((value, i) => {
    out.writeUInt32BE(value, HEADER_BYTES + canonical.length + i * 4);
  });
  body.copy(out, bodyAt);
  if (feed !== undefined) {
    out.writeUInt16BE(EXTENSION_FEED, extensionsAt);
    out.writeUInt16BE(FEED_BYTES, extensionsAt + 2);
    out.writeDoubleBE(feed.position, extensionsAt + EXTENSION_HEADER_BYTES);
  }
  if (signing !== undefined) {
    const signedAt = extensionsAt + feedLength;
    out.writeUInt16BE(EXTENSION_SIGNATURE, signedAt);
    out.writeUInt16BE(SIGNATURE_BYTES, signedAt + 2);
    const signatureAt = signedAt + EXTENSION_HEADER_BYTES;
    signing.sign('entry', '', signedParts(out, signatureAt)).copy(out, signatureAt);
  }
  out.writeUInt32BE(checksum(out), CRC_AT);
  const decoded = decodeEntry(out, parts.canonical, clock);
  if (decoded.kind !== 'entry') throw new Error(`the codec cannot read what it wrote: ${decoded.kind}`);
  return { ...decoded.entry, bornMs: parts.bornMs ?? decoded.entry.bornMs, feed };
}

/** The canonical form that an entry carries: the search it answers. */
export function canonicalIn({ encoded }: Pick<Entry, 'encoded'>): string {
  return encoded.toString('utf8', HEADER_BYTES, HEADER_BYTES + encoded.readUInt32BE(46));
}

/** The claims of an entry of this version about itself, unverified. Undefined: the bytes are no such entry. */
export function identityOf(bytes: Buffer) {
  if (bytes.length < HEADER_BYTES || bytes.readUInt16BE(0) !== MAGIC || bytes.readUInt8(2) !== ENTRY_VERSION) {
    return undefined;
  }
  const canonicalEnd = HEADER_BYTES + bytes.readUInt32BE(46);
  if (canonicalEnd > bytes.length) return undefined;
  return {
    canonical: bytes.toString('utf8', HEADER_BYTES, canonicalEnd),
    generation: bytes.readUInt32BE(8),
    createdAtMs: bytes.readUIntBE(12, 6),
    /** From `createdAtMs` to the end of the longest window. */
    lifeMs: bytes.readUInt32BE(30) + Math.max(bytes.readUInt32BE(34), bytes.readUInt32BE(38)),
  };
}

/**
 * Verifies magic, version, lengths, checksum and the canonical form before it uses any field, so that a hash collision or
 * a foreign value is a miss, never a wrong answer. Never throws. Copies nothing: `body` is a view.
 * @param signing verifies the signature; when absent, signatures are ignored
 */
export function decodeEntry(bytes: Buffer, canonicalForm: string, clock: Clock, signing?: Signing): DecodedEntry {
  if (bytes.length < 3 || bytes.readUInt16BE(0) !== MAGIC) return { kind: 'corrupt' };
  if (bytes.readUInt8(2) !== ENTRY_VERSION) return { kind: 'incompatible' };
  if (bytes.length < HEADER_BYTES) return { kind: 'corrupt' };
  const coding = CODINGS[bytes.readUInt8(3)];
  const canonicalLength = bytes.readUInt32BE(46);
  const fingerprintCount = bytes.readUInt16BE(50);
  const fingerprintsAt = HEADER_BYTES + canonicalLength;
  const extensionsAt = fingerprintsAt + fingerprintCount * 4;
  const bodyAt = extensionsAt + bytes.readUInt16BE(52);
  if (bytes.length !== bodyAt + bytes.readUInt32BE(54)) return { kind: 'corrupt' };
  if (!isTextAt(bytes, HEADER_BYTES, fingerprintsAt, canonicalForm)) return { kind: 'corrupt' };
  if (checksum(bytes) !== bytes.readUInt32BE(CRC_AT)) return { kind: 'corrupt' };
  if (signing !== undefined && !isSigned(bytes, extensionsAt, bodyAt, signing)) return { kind: 'unsigned' };
  if (coding === undefined) return { kind: 'incompatible' };

  const flags = bytes.readUInt16BE(4);
  const wallMs = clock.wallMs();
  const claimedAtMs = bytes.readUIntBE(12, 6);
  const createdAtMs = Math.min(claimedAtMs, wallMs);
  const fingerprints: number[] = [];
  for (let at = fingerprintsAt; at < extensionsAt; at += 4) fingerprints.push(bytes.readUInt32BE(at));
  return {
    kind: 'entry',
    entry: {
      coding,
      empty: (flags & FLAG_EMPTY) !== 0,
      degraded: (flags & FLAG_DEGRADED) !== 0,
      generation: bytes.readUInt32BE(8),
      createdAtMs,
      bornMs: clock.monotonicMs() - (wallMs - createdAtMs),
      // `createdAtMs` is limited to now at every read, so without this check an entry from the far future would stay
      // fresh for ever.
      freshForMs: claimedAtMs - wallMs > MAX_SKEW_MS ? 0 : bytes.readUInt32BE(30),
      revalidateForMs: bytes.readUInt32BE(34),
      errorForMs: bytes.readUInt32BE(38),
      costMs: bytes.readUInt32BE(42) / 1000,
      etag: bytes.toString('base64url', 18, 30),
      fingerprints,
      feed: feedIn(bytes, extensionsAt, bodyAt),
      body: bytes.subarray(bodyAt),
      encoded: bytes,
    },
  };
}

/** One buffer for all comparisons, large enough for most canonical forms in UTF-8. */
const scratch = Buffer.allocUnsafeSlow(2048);

/** Whether the bytes from `from` to `to` are the text in UTF-8. A code unit takes at most three bytes. */
function isTextAt(bytes: Buffer, from: number, to: number, text: string): boolean {
  if (text.length * 3 > scratch.length) return Buffer.from(text).equals(bytes.subarray(from, to));
  const length = scratch.write(text);
  return length === to - from && scratch.compare(bytes, from, to, 0, length) === 0;
}

/** Whether one of our keys made the signature. A missing signature is accepted while `signing.required` is false. */
function isSigned(bytes: Buffer, extensionsAt: number, bodyAt: number, signing: Signing): boolean {
  const at = extensionIn(bytes, extensionsAt, bodyAt, EXTENSION_SIGNATURE);
  if (at === undefined) return !signing.required;
  const end = at + SIGNATURE_BYTES;
  if (bytes.readUInt16BE(at - 2) !== SIGNATURE_BYTES || end > bodyAt) return false;
  return signing.verify('entry', '', signedParts(bytes, at), bytes.subarray(at, end)) !== 'wrong';
}

function feedIn(bytes: Buffer, extensionsAt: number, bodyAt: number): FeedMark | undefined {
  const at = extensionIn(bytes, extensionsAt, bodyAt, EXTENSION_FEED);
  if (at === undefined || at + FEED_BYTES > bodyAt) return undefined;
  return { position: bytes.readDoubleBE(at), judged: Number.NaN, change: undefined, interest: undefined };
}

/** The place of the bytes of the first extension of a type. */
function extensionIn(bytes: Buffer, extensionsAt: number, bodyAt: number, wanted: number): number | undefined {
  for (let at = extensionsAt; at + EXTENSION_HEADER_BYTES <= bodyAt; ) {
    const valueAt = at + EXTENSION_HEADER_BYTES;
    if (bytes.readUInt16BE(at) === wanted) return valueAt;
    at = valueAt + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

function signedParts(bytes: Buffer, signatureAt: number): readonly Buffer[] {
  return [
    bytes.subarray(0, CRC_AT),
    bytes.subarray(HEADER_BYTES, signatureAt),
    bytes.subarray(signatureAt + SIGNATURE_BYTES),
  ];
}

/** First 32 bits of SHA-256: with 100 ids a page and 1,024 suppressed ids, one page in 40,000 is dropped in error. */
export function fingerprint(resultId: string): number {
  return hash('sha256', resultId, 'buffer').readUInt32BE(0);
}

/** Hash of the identity body: the same page has the same tag in every process. */
export function etagOf(identityBody: Buffer): string {
  return hash('sha256', identityBody, 'buffer').toString('base64url', 0, 12);
}

/** The checksum of the header is computed here: a view and a native call cost more than 58 table look-ups. */
function checksum(bytes: Buffer): number {
  let header = 0xffff_ffff;
  for (let at = 0; at < CRC_AT; at += 1) header = (CRC_TABLE[(header ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (header >>> 8);
  return crc32(bytes.subarray(CRC_AT + 4), (header ^ 0xffff_ffff) >>> 0);
}

/** CRC-32 as zlib's: reflected polynomial 0xEDB88320, one entry per byte. */
const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb8_8320 : crc >>> 1;
  return crc >>> 0;
});

function u32(value: number): number {
  return Math.min(U32_MAX, Math.max(0, Math.round(value)));
}

const gzipAsync = promisify(gzip);
const gunzipAsync = promisify(gunzip);
const zstdCompressAsync = promisify(zstdCompress);
const zstdDecompressAsync = promisify(zstdDecompress);

/** Suffix of an entry's ETag in each coding: the same page in two codings is two representations (RFC 9110 §8.8.3). */
export const ETAG_SUFFIX: Readonly<Record<Coding, string>> = { identity: '', gzip: '-gz', zstd: '-zst' };

/** Runs on the thread pool, so that compression does not block the event loop. */
export async function compress(identity: Buffer, coding: Coding): Promise<Buffer> {
  switch (coding) {
    case 'identity':
      return identity;
    case 'gzip':
      return gzipAsync(identity, { level: 6 });
    case 'zstd':
      return zstdCompressAsync(identity, { params: { [constants.ZSTD_c_compressionLevel]: 3 } });
  }
}

/** @throws when the body has another coding or inflates past `maxBytes` */
export async function decompress(body: Buffer, coding: Coding, maxBytes: number): Promise<Buffer> {
  switch (coding) {
    case 'identity':
      return body;
    case 'gzip':
      return gunzipAsync(body, { maxOutputLength: maxBytes });
    case 'zstd':
      return zstdDecompressAsync(body, { maxOutputLength: maxBytes });
  }
}
