import { hash } from 'node:crypto';
import { ENTRY_VERSION } from '../cache/codec.ts';
import { BUCKETS } from '../cache/rules.ts';

export interface SearchKey {
  /** 22 base64url characters: 128 bits of SHA-256. */
  readonly key: string;
  /** `sc1:<domain>:{<key>}`: the tag puts an entry and its lease on one slot, and spreads keys evenly over slots. */
  readonly storeName: string;
  readonly bucket: number;
}

export function keyOf(canonical: string, domain: string): SearchKey {
  const key = hash('sha256', canonical, 'buffer').toString('base64url', 0, 16);
  return { key, ...storedNameOf(key, domain) };
}

/** What follows from a key alone. */
export function storedNameOf(key: string, domain: string): Omit<SearchKey, 'key'> {
  // Six characters carry the first 36 bits of the hash.
  const bucket = Buffer.from(key.slice(0, 6), 'base64url').readUInt32BE(0) % BUCKETS;
  return { storeName: `sc${ENTRY_VERSION}:${domain}:{${key}}`, bucket };
}
