import { bytesText, countText, durationText, percentText } from '../../../report/format.ts';
import { formatDuration } from '../../../schema/units.ts';
import type { Outcome } from '../../../search/outcome.ts';
import { quantile } from '../../meter/figures.ts';
import { BIG_PAGE_BYTES } from '../../meter/meter.ts';
import type { CheckRule, Window } from '../check.ts';
import { type DomainFacts, type FleetProcess, known } from '../facts.ts';
import {
  domainsOf,
  each,
  finding,
  grownBy,
  grownEach,
  type Judgement,
  raiseOrHold,
  skip,
  stateAbove,
  tooFew,
  whyMissing,
} from '../window.ts';

/** serpcache itself: permits before the engine, reads and their deadline, lifetimes, the size of pages, and refused entries. */

/** The growth of one domain's counters in a window. */
function trafficOf(now: DomainFacts, before: DomainFacts) {
  const outcomes = counted<Outcome>(grownEach(now.outcomes, before.outcomes));
  return {
    domain: now.domain,
    now,
    /** Searches that the service itself answered or refused: invalid ones, and those whose client left, are not counted. */
    searches: outcomes.sum - outcomes.of('rejected', 'aborted'),
    outcomes,
    shed: counted(grownEach(now.shed, before.shed)),
    misses: counted(grownEach(now.misses, before.misses)),
    reads: counted(grownEach(now.reads, before.reads)),
    /** By the bounds of the meter. */
    readDurations: now.readDurations.map((count, at) => Math.max(0, count - (before.readDurations[at] ?? 0))),
    grown: (of: (facts: DomainFacts) => number) => grownBy({ now, before }, of) ?? 0,
  };
}

/** A look at each domain; skipped without an earlier reading of this process. */
const eachDomain = (judge: (traffic: ReturnType<typeof trafficOf>, window: Window) => Judgement) =>
  each(domainsOf, ({ now, before }, window) =>
    before === undefined ? skip('no two readings of one process') : judge(trafficOf(now, before), window),
  );

function counted<Name extends string = string>(counts: Readonly<Record<string, number>>) {
  const of = (...names: readonly Name[]): number => names.reduce((sum, name) => sum + (counts[name] ?? 0), 0);
  return {
    sum: Object.values(counts).reduce((sum, count) => sum + count, 0),
    of,
    /** `queue-expired 30, queue-full 2`; most first. */
    text: (...names: readonly Name[]): string =>
      names
        .filter((name) => of(name) > 0)
        .toSorted((a, b) => of(b) - of(a))
        .map((name) => `${name} ${of(name)}`)
        .join(', '),
  };
}

/** All processes together; none without a service. */
function fleetOf({ after: { service } }: Window) {
  return service === undefined ? [] : [{ subject: 'fleet', fleet: service.fleet }];
}

const eachFleet = (judge: (processes: readonly FleetProcess[]) => Judgement) =>
  each(fleetOf, ({ fleet }) => {
    const processes = known(fleet);
    return processes === undefined ? skip(whyMissing(fleet)) : judge(processes);
  });

/** At most this many ids in a sentence. */
const MAX_IDS = 5;

/** `3 with a1b2 (x, y, z)`, the most frequent configuration first. */
function groupsOf(processes: readonly FleetProcess[]): readonly string[] {
  return [...Map.groupBy(processes, ({ configuration }) => configuration)]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([value, group]) => {
      const ids = group.slice(0, MAX_IDS).map(({ id }) => id);
      return `${group.length} with ${value} (${ids.join(', ')}${group.length > MAX_IDS ? ', …' : ''})`;
    });
}

const QUEUE = { waitMs: 50, clearWaitMs: 25, shed: 0.01, clearShed: 0.005, least: 50 };
const SLOW = { raises: 0.01, clears: 0.005, least: 20 };
/** One late read of a few is an accident. */
const LEAST_SLOW = 3;
const TTL = { hitRatio: 0.5, clearHitRatio: 0.6, expired: 0.5, clearExpired: 0.4, least: 500 };
const BIG = { raises: 0.05, clears: 0.025, least: 50 };
const REFUSED = { count: 5, share: 0.01, clearCount: 2, clearShare: 0.005 };

/** Values of the store that are not believed, each with its remedy. */
const DISBELIEVED: Readonly<Record<string, (domain: string) => string>> = {
  corrupt: () =>
    'corrupt: another program writes under the prefix sc1: find it (CLIENT LIST), give it a user without these keys (ACL SETUSER … ~other:*).',
  incompatible: () =>
    'incompatible: processes of another version share the store; run one version, or give the new one a store of its own.',
  unsigned: () =>
    'unsigned: the same signing.key in every process; signing.acceptUnsigned: true while a key is being introduced.',
  oversized: (domain) => `oversized: the same domains.${domain}.maxEntryBytes in every process.`,
};
const DISBELIEFS = Object.keys(DISBELIEVED);

export const SERVICE_CHECKS: readonly CheckRule[] = [
  {
    id: 'service-permits-queue',
    severity: 'warning',
    title: 'searches queue for permits',
    needs: ['service'],
    minimum: `${QUEUE.least} searches before the engine in the window`,
    raises: `a mean wait ≥ ${QUEUE.waitMs} ms, or ≥ ${percentText(QUEUE.shed)} of the searches refused in the queue`,
    clears: `< ${QUEUE.clearWaitMs} ms and < ${percentText(QUEUE.clearShed)}`,
    why: 'The engine gets more misses than it clears; the next burst is refused.',
    source: `${formatDuration(QUEUE.waitMs)} are 6 % of the default deadline: from 4 % on for another 5 %, the queue counts as standing`,
    look: eachDomain(({ domain, now, searches, shed, grown }) => {
      const [count, waitedMs] = [grown(({ permits }) => permits.count), grown(({ permits }) => permits.waitedMs)];
      const refused = shed.of('queue-full', 'queue-expired');
      if (count + refused < QUEUE.least) return tooFew(count + refused, QUEUE.least, 'searches before the engine');
      const meanMs = count === 0 ? 0 : waitedMs / count;
      const share = refused / Math.max(1, searches);
      if (meanMs < QUEUE.clearWaitMs && share < QUEUE.clearShed) return 'fine';
      const { queued, inFlight, maxConcurrent, ceiling } = now.engine;
      return finding(raiseOrHold(meanMs >= QUEUE.waitMs || share >= QUEUE.shed), () => ({
        evidence: `${countText(count)} engine calls waited ${durationText(meanMs)} each for a permit, and ${countText(refused)} were refused in the queue; now ${inFlight} of ${maxConcurrent} permits are in use (at most ${ceiling} in this process) and ${queued} wait.`,
        figures: { permits: count, meanWaitMs: meanMs, refused, share, inFlight, maxConcurrent, ceiling, queued },
        advice: [
          'The engine is slower than its load: its findings come first. npm run serpcache -- doctor --only engine,host',
          `When its cores are idle: domains.${domain}.engine.maxConcurrent: ${2 * now.settings.engineMaxConcurrent}`,
          `Another server with the same index: domains.${domain}.engine.mirrors: [host:9306]`,
        ],
      }));
    }),
  },
  {
    id: 'service-store-deadline',
    severity: 'warning',
    title: 'reads miss the store deadline',
    needs: ['service'],
    minimum: `${SLOW.least} reads in the window`,
    raises: `≥ ${percentText(SLOW.raises)} of reads without an answer within store.deadline`,
    clears: `< ${percentText(SLOW.clears)}`,
    why: 'Such a search goes on without the store: the engine computes a page that the store has.',
    source: 'from 1 % on, the 99th percentile of reads is the deadline itself',
    look: eachDomain(({ domain, now, reads, readDurations }, { after }) => {
      const { storeDeadlineMs } = now.settings;
      if (storeDeadlineMs === undefined) return skip('the domain has no store');
      const [slow, sent] = [reads.of('store-slow'), reads.of('value', 'absent', 'store-slow')];
      if (sent < SLOW.least) return tooFew(sent, SLOW.least, 'reads');
      if (slow < LEAST_SLOW) return 'fine';
      const share = slow / sent;
      const p99Ms = quantile(readDurations, 0.99) ?? 0;
      const loopDelayMs = after.service?.loop.delayMs ?? 0;
      return finding(stateAbove(share, SLOW), () => ({
        evidence: `${countText(slow)} of ${countText(sent)} reads (${percentText(share)}) were not answered within store.deadline ${durationText(storeDeadlineMs)}; 99 % ended within ${durationText(p99Ms)}, and the event loop of this process was ${durationText(loopDelayMs)} late.`,
        figures: { slow, reads: sent, share, p99Ms, deadlineMs: storeDeadlineMs, loopDelayMs },
        advice: [
          'Find the cause first, in the findings of the store, the network and the host: npm run serpcache -- doctor --only store,network,host,pattern',
          `If the store cannot be faster: domains.${domain}.store.deadline: ${formatDuration(2 * storeDeadlineMs)}`,
        ],
      }));
    }),
  },
  {
    id: 'service-ttl',
    severity: 'info',
    title: 'pages expire before they are asked for again',
    needs: ['service'],
    minimum: `${TTL.least} searches in the window`,
    raises: `< ${percentText(TTL.hitRatio)} hits, and ≥ ${percentText(TTL.expired)} of the misses found a page whose time was over`,
    clears: `≥ ${percentText(TTL.clearHitRatio)} hits, or < ${percentText(TTL.clearExpired)} of the misses`,
    why: 'The store keeps these pages, and the engine computes them again.',
    source: 'by definition of the two ratios',
    look: eachDomain(({ domain, now, outcomes, searches, misses }) => {
      if (searches < TTL.least) return tooFew(searches, TTL.least, 'searches');
      const hitRatio = outcomes.of('hit-l1', 'hit-l2') / searches;
      const [missed, over] = [misses.sum - misses.of('bypass'), misses.of('expired')];
      const share = missed === 0 ? 0 : over / missed;
      if (hitRatio >= TTL.clearHitRatio || share < TTL.clearExpired) return 'fine';
      const { ttlMs } = now.settings;
      return finding(raiseOrHold(hitRatio < TTL.hitRatio && share >= TTL.expired), () => ({
        evidence: `${percentText(hitRatio)} of ${countText(searches)} searches were hits, and ${countText(over)} of ${countText(missed)} misses (${percentText(share)}) found a page whose time was over; ttl is ${durationText(ttlMs)}.`,
        figures: { hitRatio, searches, expired: over, misses: missed, ttlMs },
        advice: [
          `domains.${domain}.freshness.ttl: ${formatDuration(2 * ttlMs)}, and purge what changes: npm run serpcache -- purge ${domain} QUERY`,
          `Or serve them while they are computed again: domains.${domain}.freshness.staleWhileRevalidate: ${formatDuration(2 * ttlMs)}`,
        ],
      }));
    }),
  },
  {
    id: 'service-big-pages',
    severity: 'info',
    title: 'pages are big',
    needs: ['service'],
    minimum: `${BIG.least} stored pages in the window`,
    raises: `≥ ${percentText(BIG.raises)} larger than ${bytesText(BIG_PAGE_BYTES)}`,
    clears: `< ${percentText(BIG.clears)}`,
    why: 'The network carries each at every hit of L2, and a big reply delays the small ones behind it.',
    source: `${bytesText(BIG_PAGE_BYTES)} take 0.8 ms of 1 Gbit/s; field report: big keys as the most frequent cause of slow replies`,
    look: eachDomain(({ domain, now, grown }) => {
      const [count, big] = [grown(({ pages }) => pages.count), grown(({ pages }) => pages.big)];
      if (count < BIG.least) return tooFew(count, BIG.least, 'stored pages');
      const share = big / count;
      const meanBytes = grown(({ pages }) => pages.bytes) / count;
      const { largestBytes } = now.pages;
      return finding(stateAbove(share, BIG), () => ({
        evidence: `${countText(big)} of ${countText(count)} stored pages (${percentText(share)}) are larger than ${bytesText(BIG_PAGE_BYTES)}; they have ${bytesText(meanBytes)} on average, and the largest since the start has ${bytesText(largestBytes)}.`,
        figures: { big, pages: count, share, meanBytes: Math.round(meanBytes), largestBytes },
        advice: [
          'Ask for fewer results on a page (limit), and keep long texts out of the index.',
          `domains.${domain}.engine.snippetLength: 120`,
          'compression.coding: zstd, when every client accepts it',
        ],
      }));
    }),
  },
  {
    id: 'service-refused-entries',
    severity: 'warning',
    title: 'values of the store are not believed',
    needs: ['service'],
    raises: `≥ ${REFUSED.count} and ≥ ${percentText(REFUSED.share)} of reads: ${DISBELIEFS.join(', ')}`,
    clears: `< ${REFUSED.clearCount} or < ${percentText(REFUSED.clearShare)}`,
    why: 'Each is a miss. Something else writes to these keys, or processes do not agree on format, key or limits.',
    source: 'a store of serpcache alone has none',
    look: eachDomain(({ domain, misses, reads }) => {
      const refused = misses.of(...DISBELIEFS);
      const share = reads.sum === 0 ? 0 : refused / reads.sum;
      if (refused < REFUSED.clearCount || share < REFUSED.clearShare) return 'fine';
      return finding(raiseOrHold(refused >= REFUSED.count && share >= REFUSED.share), () => ({
        evidence: `${countText(refused)} of ${countText(reads.sum)} reads of the store (${percentText(share)}) found a value that was not believed: ${misses.text(...DISBELIEFS)}.`,
        figures: { refused, reads: reads.sum, share },
        advice: Object.entries(DISBELIEVED).flatMap(([reason, remedy]) =>
          misses.of(reason) > 0 ? [remedy(domain)] : [],
        ),
      }));
    }),
  },
  {
    id: 'service-configurations',
    severity: 'warning',
    title: 'processes have different configurations',
    needs: ['service', 'fleet'],
    minimum: 'two processes that share a control store',
    raises: 'different digests; addresses of listeners, the log, credentials, TLS and paths do not count',
    why: 'They may compute pages by different rules, or count permits for another number of processes, into one store.',
    source: 'by definition; true for a while during a roll-out',
    look: eachFleet((processes) => {
      const groups = groupsOf(processes);
      return finding(groups.length > 1, () => ({
        evidence: `${countText(processes.length)} processes have ${groups.length} different configurations: ${groups.slice(0, MAX_IDS).join('; ')}.`,
        figures: { processes: processes.length, different: groups.length },
        advice: [
          'Compare the file and the environment of these processes, on each host: npm run serpcache -- config check; sha256sum "$SERPCACHE_CONFIG"',
          'Then restart those with the old one. The end of an id is the pid of its process in base 36; the pid stands in the log.',
        ],
      }));
    }),
  },
];
