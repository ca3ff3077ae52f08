import type { Dashboard, Row } from './dashboard.ts';
import { NAMED_DOMAIN, ofDomain, ofRule, orNone, rate, ratio, sum } from './promql.ts';
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
  rows: [HITS, L1, STORE, PIPELINES, FILLING],
};
