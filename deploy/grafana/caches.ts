import type { Dashboard, Row } from './dashboard.ts';
import { NAMED_DOMAIN, ofDomain, ofRule, orNone, quantile, rate, ratio, sum } from './promql.ts';
import { PIPELINES, STORE } from './stores.ts';

const SEARCHES = ofDomain('serpcache_requests_total', NAMED_DOMAIN, 'outcome!~"rejected|aborted"');

const share = (outcome: string): string =>
  ratio('domain', ofDomain('serpcache_requests_total', NAMED_DOMAIN, `outcome="${outcome}"`), SEARCHES);

const HITS: Row = {
  title: 'Hits',
  panels: [
    {
      kind: 'lines',
      title: 'Hit ratio',
      description:
        'Share of the searches that L1 or L2 answered with a fresh page, over five minutes in the whole fleet. A fall: which reason of misses grew?',
      unit: 'percentunit',
      width: 8,
      min: 0,
      max: 1,
      queries: [{ expression: ofRule('serpcache:hits:ratio5m', NAMED_DOMAIN), legend: '{{domain}}' }],
      alerts: ['SerpcacheAmplification'],
    },
    {
      kind: 'lines',
      title: 'Hits by tier',
      description:
        'L1 is the memory of the process, L2 the store. L1 falls and L2 rises: restarted processes, or L1 too small. L2 falls: the store lost entries or is away.',
      unit: 'percentunit',
      width: 8,
      min: 0,
      max: 1,
      queries: [
        { expression: share('hit-l1'), legend: '{{domain}} L1' },
        { expression: share('hit-l2'), legend: '{{domain}} L2' },
      ],
    },
    {
      kind: 'lines',
      title: 'Stale answers',
      description:
        'Share of the searches answered with a page past its ttl. A rise while hits look fine hides an engine that cannot refresh: look at refreshes in Engine and guard.',
      unit: 'percentunit',
      width: 8,
      min: 0,
      queries: [{ expression: ofRule('serpcache:stale:ratio5m', NAMED_DOMAIN), legend: '{{domain}}' }],
      alerts: ['SerpcacheGraceMasking'],
    },
    {
      kind: 'stack',
      title: 'Misses by reason',
      description:
        'The first reason that applied. unseen: a new query. expired: too old. flushed, suppressed: an operator or a drill. deleted, changed: the feed of changes. node-open and store-…: the store failed. corrupt, incompatible: another version or a damaged entry.',
      unit: 'reqps',
      width: 24,
      min: 0,
      queries: [{ expression: sum('reason', rate(ofDomain('serpcache_misses_total'))), legend: '{{reason}}' }],
    },
  ],
};

const L1: Row = {
  title: 'L1: memory of the processes',
  panels: [
    {
      kind: 'lines',
      title: 'Bytes held',
      description: 'Bytes of pages in all chosen processes, and the maximum. It fills after a start and stays full.',
      unit: 'bytes',
      width: 8,
      min: 0,
      queries: [
        { expression: sum('domain', ofDomain('serpcache_tier_bytes', 'tier="l1"')), legend: '{{domain}}' },
        { expression: sum('domain', ofDomain('serpcache_tier_max_bytes', 'tier="l1"')), legend: '{{domain}} maximum' },
      ],
    },
    {
      kind: 'lines',
      title: 'Entries held',
      description:
        'Pages, and pages without results, which have a bound of their own. Many empty ones: a crawler, or an index that lost documents.',
      unit: 'short',
      width: 8,
      min: 0,
      queries: [{ expression: sum('domain, tier', ofDomain('serpcache_tier_entries')), legend: '{{domain}} {{tier}}' }],
    },
    {
      kind: 'lines',
      title: 'Evictions and ghost hits',
      description:
        'Evictions make room. A ghost hit is a miss of a page evicted a short time ago: a larger L1 would have held it. Ghost hits above a few percent of the searches: raise `maxBytes`.',
      unit: 'ops',
      width: 8,
      min: 0,
      queries: [
        {
          expression: sum('domain', rate(ofDomain('serpcache_tier_evictions_total', 'tier="l1"'))),
          legend: '{{domain}} evictions',
        },
        {
          expression: sum('domain', rate(ofDomain('serpcache_tier_ghost_hits_total', 'tier="l1"'))),
          legend: '{{domain}} ghost hits',
        },
      ],
      alerts: ['SerpcacheEvictionStorm'],
    },
  ],
};

const dayOf = (metric: string): string => sum('domain', `increase(${ofDomain(metric)}[1d])`);
const [AUDITED, STALE] = [dayOf('serpcache_audited_answers_total'), dayOf('serpcache_stale_answers_total')];
/** A bound of Wilson's interval of 95 %, in stale answers per million: the form of 1.96² = 3.84. */
const wilson = (sign: '+' | '-'): string =>
  `1e6 * (${STALE} + 1.92 ${sign} 1.96 * sqrt(${STALE} * (1 - ${STALE} / ${AUDITED}) + 0.96)) / (${AUDITED} + 3.84)`;

const FEED: Row = {
  title: 'Freshness: the feed of changes',
  panels: [
    {
      kind: 'lines',
      title: 'Stale answers per million',
      description:
        'Hits that the engine would have answered otherwise, as the audit found in the last day, with the interval that has the true figure with 95 % confidence. A gap: nothing was audited, because the domain has no feed or few hits.',
      unit: 'short',
      width: 8,
      min: 0,
      queries: [
        { expression: `1e6 * ${STALE} / ${AUDITED}`, legend: '{{domain}}' },
        { expression: wilson('-'), legend: '{{domain}} from' },
        { expression: wilson('+'), legend: '{{domain}} to' },
      ],
      alerts: ['SerpcacheStaleAnswers'],
    },
    {
      kind: 'lines',
      title: 'Changes, and pages refreshed by them',
      description:
        'Changes of documents in force per second and process, and pages that they made stale, by reason. unknown: the feed has a gap, or its memory is too small.',
      unit: 'ops',
      width: 8,
      min: 0,
      queries: [
        {
          expression: orNone(`avg by (domain) (${rate(ofDomain('serpcache_changes_total'))})`),
          legend: '{{domain}} changes',
        },
        {
          expression: orNone(sum('domain, reason', rate(ofDomain('serpcache_pages_changed_total')))),
          legend: '{{domain}} {{reason}}',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Lag of the feed, p99',
      description:
        'Time from adding a change to the stream until it is in force in a process. Above a second: the stream or the processes are late.',
      unit: 's',
      width: 8,
      min: 0,
      queries: [
        {
          expression: orNone(quantile(0.99, 'domain', ofDomain('serpcache_changes_lag_seconds_bucket'))),
          legend: '{{domain}}',
        },
      ],
    },
  ],
};

const FILLING: Row = {
  title: 'Filling',
  panels: [
    {
      kind: 'lines',
      title: 'Entries stored',
      description: 'Per second and tier. L2 below L1: pages are not stored, see beside.',
      unit: 'ops',
      width: 6,
      min: 0,
      queries: [{ expression: sum('tier', rate(ofDomain('serpcache_stored_total'))), legend: '{{tier}}' }],
    },
    {
      kind: 'lines',
      title: 'Pages not stored',
      description:
        'Served, but not stored, by reason; one line at 0 until the first. too-large: the page exceeds the limit of an entry. node-open, store-…: the store takes no writes, so these searches miss again.',
      unit: 'ops',
      width: 6,
      min: 0,
      queries: [
        {
          expression: orNone(sum('tier, reason', rate(ofDomain('serpcache_not_stored_total')))),
          legend: '{{tier}} {{reason}}',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Leases',
      description:
        'One process computes a missing page, others wait for it. waited: it came. crowded: too many wait. open: no lease, because the store failed. fenced: the page came too late.',
      unit: 'ops',
      width: 6,
      min: 0,
      queries: [{ expression: sum('outcome', rate(ofDomain('serpcache_leases_total'))), legend: '{{outcome}}' }],
    },
    {
      kind: 'lines',
      title: 'Entries written back',
      description:
        'A node that lost its data gets the hot pages of L1 back. stored: written. kept: it had them. dropped: given up. Any rise means that a node was restarted or flushed.',
      unit: 'ops',
      width: 6,
      min: 0,
      queries: [{ expression: sum('outcome', rate(ofDomain('serpcache_backfilled_total'))), legend: '{{outcome}}' }],
    },
  ],
};

export const CACHES: Dashboard = {
  name: 'caches',
  title: 'Caches and stores',
  description: 'What L1 and L2 answer, why searches miss, and how the stores behave.',
  hasDomains: true,
  rows: [HITS, FEED, L1, STORE, PIPELINES, FILLING],
};
