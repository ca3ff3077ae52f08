import { type EntryParts, encodeEntry, etagOf } from '../../src/cache/codec.ts';
import type { Entry, LifetimePolicy } from '../../src/cache/entry.ts';
import type { Signing } from '../../src/cache/signing.ts';
import type { Lookup, Tiers } from '../../src/cache/tiers.ts';
import { type Clock, promised } from '../../src/runtime.ts';

/** A real, encoded entry: an ordinary fresh one, with the given parts replaced. */
export function entryOf(clock: Clock, parts: Partial<EntryParts> = {}, signing?: Signing): Entry {
  const body = parts.body ?? Buffer.from('{"query":"кроссовки","results":[]}');
  return encodeEntry(
    {
      coding: 'identity',
      empty: false,
      degraded: false,
      generation: 1,
      createdAtMs: clock.wallMs(),
      freshForMs: 300_000,
      revalidateForMs: 60_000,
      errorForMs: 3_600_000,
      costMs: 12.5,
      etag: etagOf(body),
      canonical: 'goods@x?q=кроссовки',
      resultIds: ['1', '9007199254740993'],
      ...parts,
      body,
    },
    clock,
    signing,
  );
}

const DAY_MS = 86_400_000;

/** Longer than any lifetime that a test gives an entry. */
export const LONG_LIVED: LifetimePolicy = {
  ttlMs: DAY_MS,
  staleWhileRevalidateMs: DAY_MS,
  staleIfErrorMs: DAY_MS,
  emptyTtlMs: DAY_MS,
  degradedTtlMs: DAY_MS,
  jitter: 0,
};

/** The end of a read of the store. */
export function fromStore(tiers: Tiers, name: Parameters<Tiers['fromStore']>[0]): Promise<Lookup> {
  return promised((done) => tiers.fromStore(name, done));
}
