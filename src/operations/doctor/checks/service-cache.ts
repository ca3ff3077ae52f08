import { bytesText, countText, durationText, percentText } from '../../../report/format.mjs';
import { formatDuration, formatSize } from '../../../schema/units.ts';
import { DURATION_BOUNDS_MS } from '../../meter/figures.ts';
import type { Check, Observation, Window } from '../check.ts';
import { BIG_PAGE_BYTES } from '../collect/tally.ts';
import { fine, skipped, stateAbove } from '../window.ts';
import { perDomain, type ShareRule, type Traffic, tooFew } from './service-figures.ts';

/** serpcache's own tiers: reads and their deadline, memory, lifetimes, the size of pages, and entries that were refused. */

// --- the deadline of reads --------------------------------------------------------------------------------------------

const SLOW: ShareRule = { raises: 0.01, clears: 0.005, least: 20 };
/** One late read of a few is an accident. */
const LEAST_SLOW = 3;

function storeDeadline({ subject, domain, now, reads, readDurations }: Traffic, { after }: Window): Observation {
  const { storeDeadlineMs } = now.settings;
  if (storeDeadlineMs === undefined) return skipped(subject, 'the domain has no store');
  const [slow, sent] = [reads.of('store-slow'), reads.of('value', 'absent', 'store-slow')];
  if (sent < SLOW.least) return tooFew(subject, sent, SLOW.least, 'reads');
  const state = stateAbove(slow / sent, SLOW);
  if (state === 'fine' || slow < LEAST_SLOW) return fine(subject);
  const p99Ms = quantileAmong(readDurations, 0.99);
  const loopDelayMs = after.service?.loop.delayMs ?? 0;
  return {
    ...{ subject, state },
    evidence: `${countText(slow)} of ${countText(sent)} reads (${percentText(slow / sent)}) were not answered within store.deadline ${durationText(storeDeadlineMs)}; 99 % ended within ${durationText(p99Ms)}, and the event loop of this process was ${durationText(loopDelayMs)} late.`,
    figures: { slow, reads: sent, share: slow / sent, p99Ms, deadlineMs: storeDeadlineMs, loopDelayMs },
    advice: [
      'Find the cause first, in the findings of the store, the network and the host: npm run serpcache -- doctor --only store,network,host,pattern',
      `If the store cannot be faster: domains.${domain}.store.deadline: ${formatDuration(2 * storeDeadlineMs)}`,
    ],
  };
}

/** The upper bound of the bucket that holds the quantile. */
function quantileAmong(counts: readonly number[], share: number): number {
  const wanted = share * counts.reduce((sum, count) => sum + count, 0);
  let seen = 0;
  const at = counts.findIndex((count) => {
    seen += count;
    return seen >= wanted;
  });
  return DURATION_BOUNDS_MS[at] ?? DURATION_BOUNDS_MS[DURATION_BOUNDS_MS.length - 1] ?? 0;
}

// --- memory and lifetimes ---------------------------------------------------------------------------------------------

const GHOSTS: ShareRule = { raises: 0.1, clears: 0.05, least: 200 };
const FULL = 0.95;

function smallMemory({ subject, domain, now, outcomes, searches, grown }: Traffic): Observation {
  const { bytes, maxBytes } = now.memory;
  if (bytes < FULL * maxBytes) return fine(subject);
  const missed = searches - outcomes.of('hit-l1');
  if (missed < GHOSTS.least) return tooFew(subject, missed, GHOSTS.least, 'searches that L1 could not answer');
  const ghosts = grown(({ memory }) => memory.ghostHits);
  const state = stateAbove(ghosts / missed, GHOSTS);
  if (state === 'fine') return fine(subject);
  return {
    ...{ subject, state },
    evidence: `L1 is ${percentText(bytes / maxBytes)} full (${bytesText(maxBytes)}), and for ${countText(ghosts)} of ${countText(missed)} searches that it could not answer (${percentText(ghosts / missed)}) it had evicted the page shortly before.`,
    figures: { ghostHits: ghosts, missed, share: ghosts / missed, bytes, maxBytes },
    advice: [
      `domains.${domain}.memory.maxBytes: ${formatSize(2 * maxBytes)}, within memory.maxBytes of the process`,
      'Without memory to spare: balance searches by their URL (consistent hashing), so that each process keeps other pages.',
    ],
  };
}

const TTL = { hitRatio: 0.5, clearHitRatio: 0.6, lapsed: 0.5, clearLapsed: 0.4, least: 500 };

function shortTtl({ subject, domain, now, outcomes, searches, misses }: Traffic): Observation {
  if (searches < TTL.least) return tooFew(subject, searches, TTL.least, 'searches');
  const hitRatio = outcomes.of('hit-l1', 'hit-l2') / searches;
  const missed = misses.sum - misses.of('bypass');
  const lapsed = missed === 0 ? 0 : misses.of('lapsed') / missed;
  if (hitRatio >= TTL.clearHitRatio || lapsed < TTL.clearLapsed) return fine(subject);
  const { ttlMs } = now.settings;
  return {
    ...{ subject, state: hitRatio < TTL.hitRatio && lapsed >= TTL.lapsed ? 'raise' : 'hold' },
    evidence: `${percentText(hitRatio)} of ${countText(searches)} searches were hits, and ${countText(misses.of('lapsed'))} of ${countText(missed)} misses (${percentText(lapsed)}) found a page whose time was over; ttl is ${durationText(ttlMs)}.`,
    figures: { hitRatio, searches, lapsed: misses.of('lapsed'), misses: missed, ttlMs },
    advice: [
      `domains.${domain}.freshness.ttl: ${formatDuration(2 * ttlMs)}, and purge what changes: npm run serpcache -- purge ${domain} QUERY`,
      `Or serve them while they are computed again: domains.${domain}.freshness.staleWhileRevalidate: ${formatDuration(2 * ttlMs)}`,
    ],
  };
}

// --- pages ------------------------------------------------------------------------------------------------------------

const BIG: ShareRule = { raises: 0.05, clears: 0.025, least: 50 };

function bigPages({ subject, domain, now, grown }: Traffic): Observation {
  const [count, big] = [grown(({ pages }) => pages.count), grown(({ pages }) => pages.big)];
  if (count < BIG.least) return tooFew(subject, count, BIG.least, 'stored pages');
  const state = stateAbove(big / count, BIG);
  if (state === 'fine') return fine(subject);
  const meanBytes = grown(({ pages }) => pages.bytes) / count;
  const { largestBytes } = now.pages;
  return {
    ...{ subject, state },
    evidence: `${countText(big)} of ${countText(count)} stored pages (${percentText(big / count)}) are larger than ${bytesText(BIG_PAGE_BYTES)}; they have ${bytesText(meanBytes)} on average, and the largest since the start has ${bytesText(largestBytes)}.`,
    figures: { big, pages: count, share: big / count, meanBytes: Math.round(meanBytes), largestBytes },
    advice: [
      'Ask for fewer results on a page (limit), and keep long texts out of the index.',
      `domains.${domain}.engine.snippetLength: 120`,
      'compression.coding: zstd, when every client accepts it',
    ],
  };
}

const REFUSED = { count: 5, share: 0.01, clearCount: 2, clearShare: 0.005 };
const REFUSALS = ['corrupt', 'incompatible', 'unsigned', 'oversized'] as const;
const REMEDIES: Readonly<Record<(typeof REFUSALS)[number], (domain: string) => string>> = {
  corrupt: () =>
    'corrupt: another program writes under the prefix sc1: find it (CLIENT LIST), give it a user without these keys (ACL SETUSER … ~other:*).',
  incompatible: () =>
    'incompatible: processes of another version share the store; run one version, or give the new one a store of its own.',
  unsigned: () =>
    'unsigned: the same signing.key in every process; signing.acceptUnsigned: true while a key is being introduced.',
  oversized: (domain) => `oversized: the same domains.${domain}.maxEntryBytes in every process.`,
};

function refusedEntries({ subject, domain, misses, reads }: Traffic): Observation {
  const refused = misses.of(...REFUSALS);
  const share = reads.sum === 0 ? 0 : refused / reads.sum;
  if (refused < REFUSED.clearCount || share < REFUSED.clearShare) return fine(subject);
  return {
    ...{ subject, state: refused >= REFUSED.count && share >= REFUSED.share ? 'raise' : 'hold' },
    evidence: `${countText(refused)} of ${countText(reads.sum)} reads of the store (${percentText(share)}) found a value that was not believed: ${misses.text(...REFUSALS)}.`,
    figures: { refused, reads: reads.sum, share },
    advice: REFUSALS.filter((reason) => misses.of(reason) > 0).map((reason) => REMEDIES[reason](domain)),
  };
}

const LOST = { count: 10, share: 0.05, clearCount: 4, clearShare: 0.025 };
const LOSSES = ['too-large', 'refused', 'node-open', 'store-down', 'store-saturated', 'store-slow'] as const;

function notStored({ subject, domain, now, notStored: counts, grown }: Traffic): Observation {
  const lost = counts.of(...LOSSES);
  const computed = Math.max(
    lost,
    grown(({ engine }) => engine.calls),
  );
  if (lost < LOST.clearCount || lost < LOST.clearShare * computed) return fine(subject);
  return {
    ...{ subject, state: lost >= LOST.count && lost >= LOST.share * computed ? 'raise' : 'hold' },
    evidence: `${countText(lost)} of ${countText(computed)} computed pages (${percentText(lost / computed)}) could not be stored: ${counts.text(...LOSSES)}.`,
    figures: { lost, computed, share: lost / computed },
    advice: [
      ...(counts.of('too-large') > 0
        ? [`too-large: domains.${domain}.maxEntryBytes: ${formatSize(2 * now.settings.maxEntryBytes)}`]
        : []),
      ...(counts.of('refused') > 0
        ? [
            'refused: the store may not write (OOM, READONLY, NOPERM): redis-cli -h HOST -p PORT INFO errorstats names the error.',
          ]
        : []),
      ...(counts.of('node-open', 'store-down', 'store-saturated', 'store-slow') > 0
        ? ['The others are faults of the store: npm run serpcache -- doctor --only store,network']
        : []),
    ],
  };
}

export const CACHE_CHECKS: readonly Check[] = [
  {
    ...{ id: 'service-store-deadline', area: 'service', severity: 'warning', title: 'reads miss the store deadline' },
    needs: ['service'],
    minimum: `${SLOW.least} reads in the window`,
    raises: `≥ ${percentText(SLOW.raises)} of reads without an answer within store.deadline`,
    clears: `< ${percentText(SLOW.clears)}`,
    why: 'Such a search goes on without the store: the engine computes a page that the store has.',
    source: 'from 1 % on, the 99th percentile of reads is the deadline itself',
    look: perDomain(storeDeadline),
  },
  {
    ...{ id: 'service-l1-small', area: 'service', severity: 'info', title: 'L1 is too small for the traffic' },
    needs: ['service'],
    minimum: `${GHOSTS.least} searches in the window that L1 could not answer`,
    raises: `L1 ≥ ${percentText(FULL)} full, and ≥ ${percentText(GHOSTS.raises)} of them asked for a page that it had evicted lately`,
    clears: `< ${percentText(GHOSTS.clears)}, or not full`,
    why: 'A hit in L1 costs no round trip. About twice the memory would have had these pages.',
    source: 'ghost lists: Megiddo and Modha, ARC, FAST ’03',
    look: perDomain(smallMemory),
  },
  {
    ...{ id: 'service-ttl', area: 'service', severity: 'info', title: 'pages lapse before they are asked for again' },
    needs: ['service'],
    minimum: `${TTL.least} searches in the window`,
    raises: `< ${percentText(TTL.hitRatio)} hits, and ≥ ${percentText(TTL.lapsed)} of the misses found a page whose time was over`,
    clears: `≥ ${percentText(TTL.clearHitRatio)} hits, or < ${percentText(TTL.clearLapsed)} of the misses`,
    why: 'The store keeps these pages, and the engine computes them again.',
    source: 'by definition of the two ratios',
    look: perDomain(shortTtl),
  },
  {
    ...{ id: 'service-big-pages', area: 'service', severity: 'info', title: 'pages are big' },
    needs: ['service'],
    minimum: `${BIG.least} stored pages in the window`,
    raises: `≥ ${percentText(BIG.raises)} larger than ${bytesText(BIG_PAGE_BYTES)}`,
    clears: `< ${percentText(BIG.clears)}`,
    why: 'The network carries each at every hit of L2, and a big reply delays the small ones behind it.',
    source: `${bytesText(BIG_PAGE_BYTES)} take 0.8 ms of 1 Gbit/s; field report: big keys as the most frequent cause of slow replies`,
    look: perDomain(bigPages),
  },
  {
    ...{
      id: 'service-refused-entries',
      area: 'service',
      severity: 'warning',
      title: 'values of the store are not believed',
    },
    ...{ needs: ['service'], minimum: 'none' },
    raises: `≥ ${REFUSED.count} and ≥ ${percentText(REFUSED.share)} of reads: ${REFUSALS.join(', ')}`,
    clears: `< ${REFUSED.clearCount} or < ${percentText(REFUSED.clearShare)}`,
    why: 'Each is a miss. Something else writes to these keys, or processes do not agree on format, key or limits.',
    source: 'a store of serpcache alone has none',
    look: perDomain(refusedEntries),
  },
  {
    ...{ id: 'service-not-stored', area: 'service', severity: 'warning', title: 'computed pages are not stored' },
    ...{ needs: ['service'], minimum: 'none' },
    raises: `≥ ${LOST.count} and ≥ ${percentText(LOST.share)} of the computed pages: ${LOSSES.join(', ')}`,
    clears: `< ${LOST.clearCount} or < ${percentText(LOST.clearShare)}`,
    why: 'The next search for such a page, in any process, asks the engine again.',
    source: 'a healthy store takes every page',
    look: perDomain(notStored),
  },
];
