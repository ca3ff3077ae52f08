import type { Clock } from '../clock.ts';
import { type Decoded, decodeEntry } from './codec.ts';
import { heldToPolicy, type LifetimePolicy } from './freshness.ts';
import type { Signing } from './signing.ts';

export interface StoredEntryLimits {
  readonly lifetimes: LifetimePolicy;
  /** What is larger is neither written nor read. */
  readonly maxEntryBytes: number;
  /** With keys, an entry that none of them has signed is a miss. */
  readonly signing?: Signing | undefined;
  readonly clock: Clock;
}

export type StoredEntry = Decoded | { readonly kind: 'oversized' };

/** Five times what a request may ask for. Each lookup checks all of them against the suppressions: 65,535 took 0.2 ms. */
const MAX_RESULTS = 500;

/**
 * What is believed of a value that a store gave for a name. Others may write to the store: the value is no larger, and lives
 * no longer, than this domain lets its own entries. The entry owns its bytes. Its generation is judged at every lookup, by
 * `EntryRules`, since the document that knows which generations exist changes meanwhile.
 */
export function decodeStored(value: Buffer, canonical: string, limits: StoredEntryLimits): StoredEntry {
  if (value.length > limits.maxEntryBytes) return { kind: 'oversized' };
  const decoded = decodeEntry(ownBytes(value), canonical, limits.clock, limits.signing);
  if (decoded.kind !== 'entry') return decoded;
  if (decoded.entry.fingerprints.length > MAX_RESULTS) return { kind: 'corrupt' };
  return { kind: 'entry', entry: heldToPolicy(decoded.entry, limits.lifetimes) };
}

/**
 * ioredis hands out views of what its socket read: a 4 KB value would pin 64 KB, and L1's bound would be a fiction.
 */
function ownBytes(value: Buffer): Buffer {
  if (value.buffer.byteLength === value.length) return value;
  const own = Buffer.allocUnsafeSlow(value.length);
  value.copy(own);
  return own;
}
