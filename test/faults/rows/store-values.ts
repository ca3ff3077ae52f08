import { setTimeout as sleep } from 'node:timers/promises';
import { ENTRY_VERSION } from '../../../src/cache/codec.ts';
import type { Changes } from '../configuration.ts';
import { faultEffect } from '../fault-effects.ts';
import { MAX_ATTEMPTS } from '../judge.ts';
import type { FaultEffect, Row } from '../row.ts';
import {
  contentsOf,
  forgeEntry,
  pageBodyOf,
  type RewriteEntry,
  replaceByLists,
  rewriteEntries,
  withWrongId,
} from '../store-entries.ts';

/** At least half of the earlier entries have other bytes. Not all, because popular entries are rewritten at once. */
export const overwritten = faultEffect(
  'entries with other bytes than before',
  (harness) => contentsOf(harness.store()),
  (before, during) => before.size > 0 && changed(before, during) >= before.size / 2,
  (before, during) => `${changed(before, during)} of ${before.size}`,
);

const changed = (before: ReadonlyMap<string, string>, during: ReadonlyMap<string, string>): number =>
  [...before].filter(([name, content]) => during.has(name) && during.get(name) !== content).length;

/** Foreign or damaged values under the service's keys: each is a counted miss, never an answer, and is rewritten. */
export const STORE_VALUES: readonly Row[] = [
  rewriteRow('values-corrupted', 'one flipped bit anywhere in a stored page is a miss', (value, _other, at) => {
    const next = Buffer.from(value);
    const byte = (at * 7919) % next.length;
    next.writeUInt8(next.readUInt8(byte) ^ (1 << (at % 8)), byte);
    return next;
  }),
  rewriteRow(
    'values-truncated',
    'a stored page cut short, down to nothing, is a miss',
    (value, _other, at) => value.subarray(0, Math.floor((value.length * (at % 10)) / 10)),
    'corrupt',
    // Compressed, as by default, to test that the damage is found before decompression.
    { compression: { coding: 'gzip' } },
  ),
  rewriteRow('values-foreign', "foreign bytes under the service's keys are a miss", (_value, _other, at) =>
    Buffer.from(at % 2 === 0 ? '{"results":[],"total":0}' : 'S'.repeat(at % 100)),
  ),
  rewriteRow('values-swapped', 'a valid page of another search under a key is a miss', (_value, other) => other),
  rewriteRow(
    'values-older',
    'pages of an older version are a miss',
    (value) => ofVersion(value, ENTRY_VERSION - 1),
    'incompatible',
  ),
  rewriteRow(
    'values-newer',
    'pages of a newer version are a miss',
    (value) => ofVersion(value, ENTRY_VERSION + 1),
    'incompatible',
  ),
  {
    name: 'values-of-other-type',
    summary: 'lists as values are a miss each and do not open the breaker of the node',
    faultMs: 500,
    begin: async (harness) => replaceByLists(harness.store()),
    effect: overwritten,
    // SET replaces a value of any type, so these entries recover like the others.
    bounds: { hitRatioDuring: 0.4, recoverySeconds: 40 },
  },
];

function rewriteRow(name: string, says: string, rewrite: RewriteEntry, reason = 'corrupt', changes: Changes = {}): Row {
  return {
    name,
    summary: says,
    faultMs: 500,
    changes,
    begin: async (harness) => {
      const rewritten = await rewriteEntries(harness.store(), rewrite);
      if (rewritten === 0) throw new Error('nothing was stored');
    },
    effect: overwritten,
    check: async (_report, harness) => {
      const counted = await harness.subject.metric('serpcache_misses_total', { reason });
      return counted > 0 ? {} : { broken: [`no miss was counted as ${reason}`] };
    },
    bounds: { hitRatioDuring: 0.4, recoverySeconds: 40 },
  };
}

function ofVersion(value: Buffer, version: number): Buffer {
  const next = Buffer.from(value);
  next.writeUInt8(version, 2);
  return next;
}

/** Time in which wrong pages are served before the first attempt is aborted. */
const SERVED_MS = 1500;

/**
 * A row that must be red: one byte of every stored page is changed under a valid checksum, so the subject serves it. The
 * first attempt is aborted and the second finds no effect. Neither may hide the wrong answers, and the last attempt must
 * not decide alone.
 */
export function brokenOnPurpose(): Row {
  let attempts = 0;
  const attemptIndex = (): number => (attempts - 1) % MAX_ATTEMPTS;
  const effect: FaultEffect = {
    watch: async (harness) => {
      const traceOf = await overwritten.watch(harness);
      return async () => (attemptIndex() === 1 ? { found: false, evidence: 'left out on purpose' } : traceOf());
    },
  };
  return {
    name: 'broken-on-purpose',
    summary: 'one wrong byte in every stored page: red in each of three tries, of which two are invalid',
    begin: async (harness) => {
      attempts += 1;
      await rewriteEntries(harness.store(), withWrongByte);
      if (attemptIndex() !== 0) return;
      await sleep(SERVED_MS);
      throw new Error('given up on purpose');
    },
    effect,
  };
}

/** Pages without results stay unchanged. */
function withWrongByte(value: Buffer): Buffer | undefined {
  const body = withWrongId(pageBodyOf(value));
  return body === undefined ? undefined : forgeEntry(value, { body });
}
