import { bytesText, countText, percentText } from '../../../report/format.ts';
import { MIB } from '../../../schema/units.ts';
import type { CheckRule } from '../check.ts';
import { type KeyFacts, type KeysFacts, known } from '../facts.ts';
import { each, finding, type Judgement, mastersOf, type NodeView, skip, stateAbove, whyMissing } from '../window.ts';
import { cli } from './store-figures.ts';

/** Keys and values of masters, by the sample that the collector has taken so far. */

const MAX_NAMES = 5;

/** `sc1:<domain>:{<22 characters>}`: a page. */
const ENTRY = /^sc\d+:[^:]+:\{[\w-]{22}\}$/;
const OURS = /^sc\d+:/;

/**
 * Counters, control documents and memberships of serpcache: collections that may be long, with bounds of their own. Some of
 * them have no expiry.
 */
const isBookkeeping = ({ name }: KeyFacts): boolean => OURS.test(name) && !ENTRY.test(name);

/** A look at each sample; skipped without one. */
const eachSample = (judge: (keys: KeysFacts, view: NodeView) => Judgement) =>
  each(mastersOf, (view) => {
    const keys = known(view.node.keys);
    return keys === undefined ? skip(whyMissing(view.node.keys)) : judge(keys, view);
  });

/** `fine` needs a pass over all keys. A smaller sample gives `skipped`. */
function noneSoFar({ seen, total }: KeysFacts): Judgement {
  if (seen >= total) return 'fine';
  return skip(`none was found in a sample; ${countText(seen)} of ${countText(total)} keys were seen so far`);
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

const BIG = { raises: MIB, clears: MIB / 2 };
const LONG = { raises: 10_000, clears: 5000 };
const LASTING = { raises: 3, clears: 1 };
const FOREIGN = { raises: 0.1, clears: 0.05, sampled: 100 };

export const KEY_CHECKS: readonly CheckRule[] = [
  {
    id: 'store-big-keys',
    severity: 'warning',
    title: 'very large values',
    needs: ['info', 'keys'],
    raises: `a value of ≥ ${bytesText(BIG.raises)}; bookkeeping of serpcache is left out`,
    clears: `none of ≥ ${bytesText(BIG.clears)}`,
    why: 'To read, copy or free it takes the main thread milliseconds, and its reply holds up the others on the network.',
    source: 'Redis documentation, “redis-cli”: scanning for big keys; twice the default of maxEntryBytes',
    look: eachSample((keys, view) => {
      const others = keys.biggest.filter((key) => !isBookkeeping(key)).toSorted((a, b) => b.bytes - a.bytes);
      const [largest] = others;
      const state = stateAbove(largest?.bytes ?? 0, BIG);
      if (largest === undefined || state === 'fine') return noneSoFar(keys);
      const big = others.filter(({ bytes }) => bytes >= BIG.clears).slice(0, MAX_NAMES);
      const histogram = histogramText(keys);
      return finding(state, () => ({
        evidence: `The largest values found: ${big.map(keyText).join(', ')}. ${sampleText(keys)}${histogram === '' ? '' : `: ${histogram}`}.`,
        figures: { largestBytes: largest.bytes, largest: largest.name, big: big.length, sampled: keys.sampled },
        advice: [
          `Find all: ${cli(view, '--bigkeys')}`,
          'Split the value, or compress it; remove it by UNLINK, which frees it outside the main thread.',
          ...(big.some(({ name }) => OURS.test(name))
            ? ['A limit for pages: maxEntryBytes in the configuration.']
            : []),
        ],
      }));
    }),
  },
  {
    id: 'store-big-collections',
    severity: 'warning',
    title: 'very long hashes, lists or sets',
    needs: ['info', 'keys'],
    raises: `a collection of ≥ ${countText(LONG.raises)} members; bookkeeping of serpcache is left out`,
    clears: `none of ≥ ${countText(LONG.clears)} members`,
    why: 'HGETALL, SMEMBERS, DEL and expiry take time for each member, and every other command waits.',
    source: 'Redis documentation: complexity O(n) of these commands, about a millisecond for 10,000 members',
    look: eachSample((keys) => {
      const others = keys.longest.filter((key) => !isBookkeeping(key)).toSorted((a, b) => b.members - a.members);
      const [longest] = others;
      const state = stateAbove(longest?.members ?? 0, LONG);
      if (longest === undefined || state === 'fine') return noneSoFar(keys);
      const long = others.filter(({ members }) => members >= LONG.clears).slice(0, MAX_NAMES);
      const names = long.map(
        ({ name, type, members, bytes }) => `${name} (${type} of ${countText(members)} members, ${bytesText(bytes)})`,
      );
      return finding(state, () => ({
        evidence: `The longest collections found: ${names.join(', ')}; ${sampleText(keys)}.`,
        figures: { members: longest.members, longest: longest.name, long: long.length, sampled: keys.sampled },
        advice: [
          'Split it by a hash of the member into keys of at most some thousand members.',
          'Read it by HSCAN, SSCAN or ZRANGE in steps, never as a whole; remove it by UNLINK.',
        ],
      }));
    }),
  },
  {
    id: 'store-no-expiry',
    severity: 'warning',
    title: 'entries without an expiry',
    needs: ['info', 'keys'],
    minimum: `${LASTING.raises} such entries in the sample`,
    raises: `≥ ${LASTING.raises} sampled entries of serpcache without an expiry`,
    clears: 'none in the sample',
    why: 'They stay for ever, take memory from pages that are asked for, and volatile-* policies cannot evict them.',
    source: 'serpcache writes every entry with PX (src/stores/redis/store.ts)',
    // Control documents and epochs have no expiry, and need none: the collector counts entries alone.
    look: eachSample((keys, view) => {
      if (!view.store.isCache) return undefined;
      const [domain = 'DOMAIN'] = view.store.domains;
      return finding(stateAbove(keys.oursWithoutExpiry, LASTING), () => ({
        evidence: `${countText(keys.oursWithoutExpiry)} of ${countText(keys.ours)} sampled keys of serpcache are entries without an expiry; ${sampleText(keys)}.`,
        figures: { withoutExpiry: keys.oursWithoutExpiry, ours: keys.ours, sampled: keys.sampled },
        advice: [
          'serpcache writes every entry with an expiry: find what copies, restores or PERSISTs these keys.',
          `Names: ${cli(view, `--scan --pattern 'sc1:${domain}:{*'`)}, and PTTL of each: −1 is without an expiry. Then EXPIRE NAME 3600.`,
        ],
      }));
    }),
  },
  {
    id: 'store-foreign-keys',
    severity: 'info',
    title: 'the store is shared with other applications',
    needs: ['info', 'keys'],
    minimum: `${FOREIGN.sampled} sampled keys`,
    raises: `≥ ${percentText(FOREIGN.raises)} of the sampled keys are not of serpcache`,
    clears: `< ${percentText(FOREIGN.clears)}`,
    why: 'They share memory, policy and the main thread: one evicts the other, and FLUSHDB empties both.',
    source: 'Redis documentation, “Key eviction”: two instances rather than one for two uses',
    look: eachSample(({ sampled, foreign }, view) => {
      if (!view.store.isCache) return undefined;
      if (sampled < FOREIGN.sampled) return skip(`fewer than ${FOREIGN.sampled} sampled keys`);
      const share = foreign / sampled;
      return finding(stateAbove(share, FOREIGN), () => ({
        evidence: `${countText(foreign)} of ${countText(sampled)} sampled keys belong to other applications (${percentText(share)}).`,
        figures: { foreign, sampled, share },
        advice: [
          'Give serpcache a server of its own: then a flush of the node, its memory and its policy concern it alone.',
          `Names: ${cli(view, "--scan | grep -v '^sc[0-9]*:' | head")}`,
        ],
      }));
    }),
  },
];
