import { crc32 } from 'node:zlib';

/** What a foreign client says in an entry that it writes: what is left out stays as it was. */
export interface Claims {
  readonly generation?: number;
  readonly createdAtMs?: number;
  /** Of all three lifetimes. */
  readonly lifetimesMs?: number;
  /** 12 bytes. */
  readonly etag?: Buffer;
  readonly body?: Buffer;
}

/** The layout of src/cache/codec.ts, version 1. A client that only knows the format writes by it. */
const GENERATION_AT = 8;
const CREATED_AT = 12;
const ETAG_AT = 18;
const LIFETIMES_AT = [30, 34, 38];
const CANONICAL_LENGTH_AT = 46;
const FINGERPRINTS_AT = 50;
const EXTENSIONS_LENGTH_AT = 52;
const BODY_LENGTH_AT = 54;
const CRC_AT = 58;
const HEADER_BYTES = 62;

/** The entry with other claims, whole and under a checksum that fits. */
export function claiming(value: Buffer, claims: Claims): Buffer {
  const at = bodyAt(value);
  const body = claims.body ?? value.subarray(at);
  const next = Buffer.concat([value.subarray(0, at), body]);
  next.writeUInt32BE(body.length, BODY_LENGTH_AT);
  if (claims.generation !== undefined) next.writeUInt32BE(claims.generation, GENERATION_AT);
  if (claims.createdAtMs !== undefined) next.writeUIntBE(claims.createdAtMs, CREATED_AT, 6);
  if (claims.lifetimesMs !== undefined) for (const each of LIFETIMES_AT) next.writeUInt32BE(claims.lifetimesMs, each);
  claims.etag?.copy(next, ETAG_AT, 0, 12);
  next.writeUInt32BE(crc32(next.subarray(CRC_AT + 4), crc32(next.subarray(0, CRC_AT))), CRC_AT);
  return next;
}

/** The stored page, where it is not compressed. */
export function bodyIn(value: Buffer): Buffer {
  return value.subarray(bodyAt(value));
}

/** The page with the first digit of the first result's id turned into its neighbour; undefined: it has no results. */
export function wrongPage(body: Buffer): Buffer | undefined {
  const id = body.indexOf('"id":"');
  if (id < 0) return undefined;
  const next = Buffer.from(body);
  const digit = id + '"id":"'.length;
  next.writeUInt8(next.readUInt8(digit) ^ 1, digit);
  return next;
}

function bodyAt(value: Buffer): number {
  const fingerprintBytes = value.readUInt16BE(FINGERPRINTS_AT) * 4;
  return (
    HEADER_BYTES + value.readUInt32BE(CANONICAL_LENGTH_AT) + fingerprintBytes + value.readUInt16BE(EXTENSIONS_LENGTH_AT)
  );
}
