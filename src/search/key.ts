import { hash } from 'node:crypto';
import { ENTRY_VERSION } from '../cache/codec.ts';

/** What flushes and drills count in. */
export const BUCKETS = 10_000;

export interface SearchKey {
  /** 22 base64url characters: 128 bits of SHA-256. */
  readonly key: string;
  /** `sc1:<domain>:{<key>}`: the tag puts an entry and its lease on one slot, and spreads keys evenly over slots. */
  readonly storeName: string;
  readonly bucket: number;
}

export function keyOf(canonical: string, domain: string): SearchKey {
  const digest = hash('sha256', canonical, 'buffer');
  const key = digest.toString('base64url', 0, 16);
  return { key, storeName: `sc${ENTRY_VERSION}:${domain}:{${key}}`, bucket: digest.readUInt32BE(0) % BUCKETS };
}
