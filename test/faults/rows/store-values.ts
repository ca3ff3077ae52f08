import { setTimeout as sleep } from 'node:timers/promises';
import { ENTRY_VERSION } from '../../../src/cache/codec.ts';
import { faultEffect } from '../fault-effects.ts';
import { MAX_ATTEMPTS } from '../judge.ts';
import type { FaultEffect, Row } from '../row.ts';
import type { Changes } from '../service.ts';
import {
  contentsOf,
  forgeEntry,
  pageBodyOf,
  type RewriteEntry,
  replaceByLists,
  rewriteEntries,
  withWrongId,
} from '../store-entries.ts';

/**
 * Half of the entries that stood before stand there with other bytes. Not all: those that are asked most are written
 * anew at once.
 */
export const overwritten = faultEffect(
  'entries with other bytes than before',
  (harness) => contentsOf(harness.store()),
  (before, during) => before.size > 0 && changed(before, during) >= before.size / 2,
  (before, during) => `${changed(before, during)} of ${before.size}`,
);

const changed = (before: ReadonlyMap<string, string>, during: ReadonlyMap<string, string>): number =>
  [...before].filter(([name, content]) => during.has(name) && during.get(name) !== content).length;

/** What lies under our names is not what we wrote: each is a counted miss, never an answer, and is written anew. */
export const STORE_VALUES: readonly Row[] = [
  spoiltRow('values-corrupted', 'one flipped bit anywhere in a stored page is a miss', (value, _other, at) => {
    const next = Buffer.from(value);
    const byte = (at * 7919) % next.length;
    next.writeUInt8(next.readUInt8(byte) ^ (1 << (at % 8)), byte);
    return next;
  }),
  spoiltRow(
    'values-truncated',
    'a stored page cut short, down to nothing, is a miss',
    (value, _other, at) => value.subarray(0, Math.floor((value.length * (at % 10)) / 10)),
    'corrupt',
    // Compressed, as by default: damage must not reach the inflater either.
    { compression: { coding: 'gzip' } },
  ),
  spoiltRow('values-foreign', "somebody else's bytes under our names are a miss", (_value, _other, at) =>
    Buffer.from(at % 2 === 0 ? '{"results":[],"total":0}' : 'S'.repeat(at % 100)),
  ),
  spoiltRow(
    'values-swapped',
    "another search's page under our name, whole and valid, is a miss",
    (_value, other) => other,
  ),
  spoiltRow(
    'values-older',
    'pages of an older version are a miss',
    (value) => ofVersion(value, ENTRY_VERSION - 1),
    'incompatible',
  ),
  spoiltRow(
    'values-newer',
    'pages of a newer version are a miss',
    (value) => ofVersion(value, ENTRY_VERSION + 1),
    'incompatible',
  ),
  {
    name: 'values-of-other-type',
    summary: 'lists under our names are a miss each, and no reason to give the node up',
    faultMs: 500,
    begin: async (harness) => replaceByLists(harness.store()),
    effect: overwritten,
    // SET overwrites a value of any type, so these heal like the others.
    bounds: { hitRatioDuring: 0.4, recoverySeconds: 40 },
  },
];

function spoiltRow(name: string, says: string, spoil: RewriteEntry, reason = 'corrupt', changes: Changes = {}): Row {
  return {
    name,
    summary: says,
    faultMs: 500,
    changes,
    begin: async (harness) => {
      const rewritten = await rewriteEntries(harness.store(), spoil);
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

/** Time in which wrong pages are served before the first try is given up. */
const SERVED_MS = 1500;

/**
 * A row that must be red: one byte of every stored page is another one, under a checksum that fits, so the subject serves
 * it. Its first try is given up in the middle and its second proves nothing, as on a bad day; neither may hide the wrong
 * answers, and the last try must not be taken for the whole row.
 */
export function brokenOnPurpose(): Row {
  let begun = 0;
  const which = (): number => (begun - 1) % MAX_ATTEMPTS;
  const effect: FaultEffect = {
    watch: async (harness) => {
      const traceOf = await overwritten.watch(harness);
      return async () => (which() === 1 ? { found: false, evidence: 'left out on purpose' } : traceOf());
    },
  };
  return {
    name: 'broken-on-purpose',
    summary: 'one wrong byte in every stored page: red in each of three tries, of which two are invalid',
    begin: async (harness) => {
      begun += 1;
      await rewriteEntries(harness.store(), withWrongByte);
      if (which() !== 0) return;
      await sleep(SERVED_MS);
      throw new Error('given up on purpose');
    },
    effect,
  };
}

/** Pages without results stay. */
function withWrongByte(value: Buffer): Buffer | undefined {
  const body = withWrongId(pageBodyOf(value));
  return body === undefined ? undefined : forgeEntry(value, { body });
}
