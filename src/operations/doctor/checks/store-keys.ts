import { bytesText, countText, percentText } from '../../../report/format.mjs';
import type { Check, Observation, Window } from '../check.ts';
import { type KeyFacts, type KeysFacts, known } from '../facts.ts';
import { fine, mastersOf, type NodeView, reasonOf, skipped, stateAbove } from '../window.ts';
import { cli } from './store-figures.ts';

/** Keys and values of masters, by the sample that the collector has taken so far. */

const KIB = 1024;
const MIB = 1024 * KIB;
const MAX_NAMES = 5;

/** `sc1:<domain>:{<22 characters>}`: a page. */
const ENTRY = /^sc\d+:[^:]+:\{[\w-]{22}\}$/;
const OURS = /^sc\d+:/;

/**
 * Counters, control documents and memberships of serpcache: collections that may be long, with bounds of their own. Some of
 * them have no expiry.
 */
const isBookkeeping = (name: string): boolean => OURS.test(name) && !ENTRY.test(name);

/** One observation for each master; skipped without a sample. */
function eachSample(
  window: Window,
  judge: (view: NodeView, keys: KeysFacts) => Observation | undefined,
): readonly Observation[] {
  return mastersOf(window).flatMap((view): Observation[] => {
    const { node, subject } = view;
    const keys = known(node.keys);
    if (keys === undefined) return [skipped(subject, reasonOf(node.keys))];
    const observation = judge(view, keys);
    return observation === undefined ? [] : [observation];
  });
}

/** A share of a sample: skipped below its minimum. */
function tooFew(subject: string, { sampled }: KeysFacts, minimum: number): Observation | undefined {
  return sampled >= minimum ? undefined : skipped(subject, `fewer than ${minimum} sampled keys`);
}

/** `fine` needs a pass over all keys. A smaller sample gives `skipped`. */
function noneSoFar(subject: string, { seen, total }: KeysFacts): Observation {
  if (seen >= total) return fine(subject);
  return skipped(
    subject,
    `none was found in a sample; ${countText(seen)} of ${countText(total)} keys were seen so far`,
  );
}

const keyText = ({ name, type, bytes }: KeyFacts): string => `${name} (${type}, ${bytesText(bytes)})`;

/** The figures are of this many keys alone. Keys lapse while they are sampled, so the sample may exceed the rest. */
const sampleText = ({ sampled, total }: KeysFacts): string =>
  `${countText(sampled)} of ${countText(Math.max(sampled, total))} keys were sampled`;

/** `900 ≤ 10 KiB, 80 ≤ 100 KiB, 20 larger`; empty buckets are left out. */
function histogramText({ sizes, sampled }: KeysFacts): string {
  const counted = sizes.reduce((sum, { count }) => sum + count, 0);
  const larger = Math.max(0, sampled - counted);
  return [
    ...sizes.flatMap(({ maxBytes, count }) => (count > 0 ? [`${countText(count)} ≤ ${bytesText(maxBytes)}`] : [])),
    ...(larger > 0 ? [`${countText(larger)} larger`] : []),
  ].join(', ');
}

// --- sizes ------------------------------------------------------------------------------------------------------------

const BIG = { raises: MIB, clears: MIB / 2 };

function bigKeys(window: Window): readonly Observation[] {
  return eachSample(window, (view, keys): Observation => {
    const { subject } = view;
    const others = keys.biggest.filter(({ name }) => !isBookkeeping(name)).toSorted((a, b) => b.bytes - a.bytes);
    const [largest] = others;
    const state = stateAbove(largest?.bytes ?? 0, BIG);
    if (largest === undefined || state === 'fine') return noneSoFar(subject, keys);
    const big = others.filter(({ bytes }) => bytes >= BIG.clears).slice(0, MAX_NAMES);
    const histogram = histogramText(keys);
    return {
      ...{ subject, state },
      evidence: `The largest values found: ${big.map(keyText).join(', ')}. ${sampleText(keys)}${histogram === '' ? '' : `: ${histogram}`}.`,
      figures: { largestBytes: largest.bytes, largest: largest.name, big: big.length, sampled: keys.sampled },
      advice: [
        `Find all: ${cli(view, '--bigkeys')}`,
        'Split the value, or compress it; remove it by UNLINK, which frees it outside the main thread.',
        ...(big.some(({ name }) => OURS.test(name)) ? ['A limit for pages: maxEntryBytes in the configuration.'] : []),
      ],
    };
  });
}

const LARGE = { bytes: 100 * KIB, raises: 0.05, clears: 0.03, sampled: 200 };

/** Values above the bound, of buckets that lie above it as a whole. */
function countAbove({ sizes, sampled }: KeysFacts, bytes: number): number {
  const sorted = sizes.toSorted((a, b) => a.maxBytes - b.maxBytes);
  const upTo = sorted.filter((_, at) => (sorted[at - 1]?.maxBytes ?? 0) < bytes);
  return Math.max(0, sampled - upTo.reduce((sum, { count }) => sum + count, 0));
}

function largeValues(window: Window): readonly Observation[] {
  return eachSample(window, (view, keys): Observation => {
    const { subject } = view;
    const few = tooFew(subject, keys, LARGE.sampled);
    if (few !== undefined) return few;
    const large = countAbove(keys, LARGE.bytes);
    const state = stateAbove(large / keys.sampled, LARGE);
    if (state === 'fine') return fine(subject);
    return {
      ...{ subject, state },
      evidence: `${countText(large)} of ${countText(keys.sampled)} sampled values are above ${bytesText(LARGE.bytes)} (${percentText(large / keys.sampled)}); ${sampleText(keys)}: ${histogramText(keys)}.`,
      figures: { large, sampled: keys.sampled, share: large / keys.sampled },
      advice: [
        'Smaller pages: fewer results per page, no long texts in results, compression.coding: zstd.',
        `Find the largest: ${cli(view, '--bigkeys')}`,
      ],
    };
  });
}

const LONG = { raises: 10_000, clears: 5000 };

function bigCollections(window: Window): readonly Observation[] {
  return eachSample(window, (view, keys): Observation => {
    const { subject } = view;
    const others = keys.longest.filter(({ name }) => !isBookkeeping(name)).toSorted((a, b) => b.members - a.members);
    const [longest] = others;
    const state = stateAbove(longest?.members ?? 0, LONG);
    if (longest === undefined || state === 'fine') return noneSoFar(subject, keys);
    const long = others.filter(({ members }) => members >= LONG.clears).slice(0, MAX_NAMES);
    return {
      ...{ subject, state },
      evidence: `The longest collections found: ${long.map((key) => `${key.name} (${key.type} of ${countText(key.members)} members, ${bytesText(key.bytes)})`).join(', ')}; ${sampleText(keys)}.`,
      figures: { members: longest.members, longest: longest.name, long: long.length, sampled: keys.sampled },
      advice: [
        'Split it by a hash of the member into keys of at most some thousand members.',
        'Read it by HSCAN, SSCAN or ZRANGE in steps, never as a whole; remove it by UNLINK.',
      ],
    };
  });
}

// --- expiry and owners ------------------------------------------------------------------------------------------------

const LASTING = { raises: 3, clears: 1 };

/** Control documents and epochs have no expiry, and need none: the collector counts entries alone. */
function noExpiry(window: Window): readonly Observation[] {
  return eachSample(window, (view, keys): Observation | undefined => {
    const { subject, store } = view;
    if (!store.isCache) return undefined;
    const state = stateAbove(keys.oursWithoutExpiry, LASTING);
    if (state === 'fine') return fine(subject);
    const [domain = 'DOMAIN'] = store.domains;
    return {
      ...{ subject, state },
      evidence: `${countText(keys.oursWithoutExpiry)} of ${countText(keys.ours)} sampled keys of serpcache are entries without an expiry; ${sampleText(keys)}.`,
      figures: { withoutExpiry: keys.oursWithoutExpiry, ours: keys.ours, sampled: keys.sampled },
      advice: [
        'serpcache writes every entry with an expiry: find what copies, restores or PERSISTs these keys.',
        `Names: ${cli(view, `--scan --pattern 'sc1:${domain}:{*'`)}, and PTTL of each: −1 is without an expiry. Then EXPIRE NAME 3600.`,
      ],
    };
  });
}

const FOREIGN = { raises: 0.1, clears: 0.05, sampled: 100 };

function foreignKeys(window: Window): readonly Observation[] {
  return eachSample(window, (view, keys): Observation | undefined => {
    const { subject, store } = view;
    if (!store.isCache) return undefined;
    const few = tooFew(subject, keys, FOREIGN.sampled);
    if (few !== undefined) return few;
    const share = keys.foreign / keys.sampled;
    const state = stateAbove(share, FOREIGN);
    if (state === 'fine') return fine(subject);
    return {
      ...{ subject, state },
      evidence: `${countText(keys.foreign)} of ${countText(keys.sampled)} sampled keys belong to other applications (${percentText(share)}).`,
      figures: { foreign: keys.foreign, sampled: keys.sampled, share },
      advice: [
        'Give serpcache a server of its own: then a flush of the node, its memory and its policy concern it alone.',
        `Names: ${cli(view, "--scan | grep -v '^sc[0-9]*:' | head")}`,
      ],
    };
  });
}

const HERE = { area: 'store', needs: ['info', 'keys'] } as const;

export const KEY_CHECKS: readonly Check[] = [
  {
    ...{ ...HERE, id: 'store-big-keys', severity: 'warning', title: 'very large values' },
    minimum: 'none',
    raises: `a value of ≥ ${bytesText(BIG.raises)}; bookkeeping of serpcache is left out`,
    clears: `none of ≥ ${bytesText(BIG.clears)}`,
    why: 'To read, copy or free it takes the main thread milliseconds, and its reply holds up the others on the network.',
    source: 'Redis documentation, “redis-cli”: scanning for big keys; twice the default of maxEntryBytes',
    look: bigKeys,
  },
  {
    ...{ ...HERE, id: 'store-large-values', severity: 'info', title: 'many large values' },
    minimum: `${LARGE.sampled} sampled keys`,
    raises: `≥ ${percentText(LARGE.raises)} of the sampled values above ${bytesText(LARGE.bytes)}`,
    clears: `< ${percentText(LARGE.clears)}`,
    why: 'Some large replies among small ones make the small ones slow: the network sends one after another.',
    source: 'field report: big replies are slow because the network carries them while the CPU idles',
    look: largeValues,
  },
  {
    ...{ ...HERE, id: 'store-big-collections', severity: 'warning', title: 'very long hashes, lists or sets' },
    minimum: 'none',
    raises: `a collection of ≥ ${countText(LONG.raises)} members; bookkeeping of serpcache is left out`,
    clears: `none of ≥ ${countText(LONG.clears)} members`,
    why: 'HGETALL, SMEMBERS, DEL and expiry take time for each member, and every other command waits.',
    source: 'Redis documentation: complexity O(n) of these commands, about a millisecond for 10,000 members',
    look: bigCollections,
  },
  {
    ...{ ...HERE, id: 'store-no-expiry', severity: 'warning', title: 'entries without an expiry' },
    minimum: `${LASTING.raises} such entries in the sample`,
    raises: `≥ ${LASTING.raises} sampled entries of serpcache without an expiry`,
    clears: 'none in the sample',
    why: 'They stay for ever, take memory from pages that are asked for, and volatile-* policies cannot evict them.',
    source: 'serpcache writes every entry with PX (src/stores/redis/store.ts)',
    look: noExpiry,
  },
  {
    ...{ ...HERE, id: 'store-foreign-keys', severity: 'info', title: 'the store is shared with other applications' },
    minimum: `${FOREIGN.sampled} sampled keys`,
    raises: `≥ ${percentText(FOREIGN.raises)} of the sampled keys are not of serpcache`,
    clears: `< ${percentText(FOREIGN.clears)}`,
    why: 'They share memory, policy and the main thread: one evicts the other, and FLUSHDB empties both.',
    source: 'Redis documentation, “Key eviction”: two instances rather than one for two uses',
    look: foreignKeys,
  },
];
