import type { Dashboard, Row } from './dashboard.ts';
import { max, ofDomain, ofRule, quantile, rate, sum } from './promql.ts';
import { ALARM, BREAKER_STATES, REACHED } from './states.ts';

const CALLS: Row = {
  title: 'Calls',
  panels: [
    {
      kind: 'lines',
      title: 'Engine calls',
      description:
        'Calls per second, refreshes and warm-ups included. More calls at the same rate of searches: a cache that lost entries, see amplification.',
      unit: 'reqps',
      width: 8,
      min: 0,
      queries: [{ expression: sum('domain', rate(ofDomain('serpcache_engine_calls_total'))), legend: '{{domain}}' }],
    },
    {
      kind: 'stack',
      title: 'Calls by result',
      description:
        'whole and empty are good; partial: an index or a shard did not answer. engine-timeout: slow. engine-unavailable: no connection. engine-overloaded: the engine itself refuses.',
      unit: 'reqps',
      width: 8,
      min: 0,
      queries: [{ expression: sum('outcome', rate(ofDomain('serpcache_engine_calls_total'))), legend: '{{outcome}}' }],
      colors: {
        whole: 'green',
        empty: 'light-green',
        partial: 'yellow',
        'engine-overloaded': 'orange',
        'engine-timeout': 'dark-orange',
        'engine-unavailable': 'red',
        'engine-rejected': 'purple',
      },
      alerts: ['SerpcacheEngineBreakerOpen'],
    },
    {
      kind: 'lines',
      title: 'Late replies',
      description:
        'Replies after the client was answered without them. They held a permit all that time: the engine is too slow for `engine.deadline`.',
      unit: 'reqps',
      width: 8,
      min: 0,
      queries: [
        { expression: sum('domain', rate(ofDomain('serpcache_engine_late_replies_total'))), legend: '{{domain}}' },
      ],
    },
    {
      kind: 'lines',
      title: 'Duration of calls',
      description:
        'The engine with its network, without the wait for a permit. p99 at the deadline: calls are given up. p50 rises with load: the engine has no CPU left.',
      unit: 's',
      width: 12,
      log: true,
      queries: [
        {
          expression: quantile(0.99, 'domain', ofDomain('serpcache_engine_duration_seconds_bucket')),
          legend: '{{domain}} p99',
        },
        {
          expression: quantile(0.5, 'domain', ofDomain('serpcache_engine_duration_seconds_bucket')),
          legend: '{{domain}} p50',
        },
      ],
    },
    {
      kind: 'heatmap',
      title: 'Distribution of durations',
      description:
        'Calls per second in each bucket. A second band far above the first: some queries, or one endpoint, are slow; a rising band: all are.',
      unit: 's',
      width: 12,
      queries: [
        { expression: sum('le', rate(ofDomain('serpcache_engine_duration_seconds_bucket'))), legend: '{{le}}' },
      ],
    },
  ],
};

const AMPLIFICATION: Row = {
  title: 'Amplification',
  panels: [
    {
      kind: 'lines',
      title: 'Engine calls per search',
      description:
        'Over five minutes, and over an hour for comparison, whole fleet. Three times the hour: a lost or flushed cache, or clients that repeat failed searches.',
      unit: 'none',
      width: 8,
      min: 0,
      decimals: 3,
      queries: [
        { expression: ofRule('serpcache:engine_calls_per_search:ratio5m'), legend: '{{domain}} 5m' },
        { expression: ofRule('serpcache:engine_calls_per_search:ratio1h'), legend: '{{domain}} 1h' },
      ],
      alerts: ['SerpcacheAmplification'],
    },
    {
      kind: 'lines',
      title: 'Searches that share a call',
      description:
        'Searches per second that waited for the call of another search. It rises after a flush; otherwise each of them would be a call.',
      unit: 'reqps',
      width: 8,
      min: 0,
      queries: [
        {
          expression: sum('domain', rate(ofDomain('serpcache_requests_total', 'outcome="collapsed"'))),
          legend: '{{domain}}',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Pages being computed',
      description:
        'Distinct pages that these processes compute now, and searches that wait for a page of another process. Both near 0 in quiet times.',
      unit: 'none',
      width: 8,
      min: 0,
      queries: [
        { expression: sum('domain', ofDomain('serpcache_loads')), legend: '{{domain}} computed here' },
        { expression: sum('domain', ofDomain('serpcache_lease_waiters')), legend: '{{domain}} waiting for others' },
      ],
    },
  ],
};

const PERMITS: Row = {
  title: 'Permits and queue',
  panels: [
    {
      kind: 'lines',
      title: 'Permits',
      description:
        'Engine calls running, the number allowed now, and the configured share of these processes. The limit below its ceiling: the guard found the engine overloaded and allows less. Overdue above 0: these permits are lost until the process is restarted.',
      unit: 'none',
      width: 8,
      min: 0,
      queries: [
        { expression: sum('domain', ofDomain('serpcache_engine_permits_in_flight')), legend: '{{domain}} running' },
        { expression: sum('domain', ofDomain('serpcache_engine_permits_limit')), legend: '{{domain}} limit' },
        { expression: sum('domain', ofDomain('serpcache_engine_permits_ceiling')), legend: '{{domain}} ceiling' },
        { expression: sum('domain', ofDomain('serpcache_engine_permits_overdue')), legend: '{{domain}} overdue' },
      ],
      alerts: ['SerpcacheEngineNearLimit', 'SerpcacheEnginePermitsLost'],
    },
    {
      kind: 'lines',
      title: 'Searches waiting for a permit',
      description:
        'A queue that stands for minutes means that more searches miss than the engine can compute. Short peaks after a flush are normal.',
      unit: 'none',
      width: 8,
      min: 0,
      queries: [{ expression: sum('domain', ofDomain('serpcache_engine_permits_queued')), legend: '{{domain}}' }],
    },
    {
      kind: 'lines',
      title: 'Wait for a permit',
      description:
        'Of admitted searches. It is part of what the client waits. Rising waits come before sheds: the engine is at its limit.',
      unit: 's',
      width: 8,
      log: true,
      queries: [
        {
          expression: quantile(0.99, 'domain', ofDomain('serpcache_permit_wait_seconds_bucket')),
          legend: '{{domain}} p99',
        },
      ],
    },
  ],
};

const PROTECTION: Row = {
  title: 'Protection',
  panels: [
    {
      kind: 'lines',
      title: 'Searches shed by reason',
      description:
        'breaker-open: the engine fails. queue-expired, queue-full: more misses than it can compute. stalled: calls past their deadline hold every permit. Clients got a stale page where there was one.',
      unit: 'reqps',
      width: 12,
      min: 0,
      queries: [{ expression: sum('reason', rate(ofDomain('serpcache_shed_total'))), legend: '{{reason}}' }],
      alerts: ['SerpcacheShedding'],
    },
    {
      kind: 'lines',
      title: 'Lifeboat',
      description:
        'Searches sent to the embedded index while the engine cannot answer, by result. Above 0: the engine is away. Always 0 where no lifeboat is configured.',
      unit: 'reqps',
      width: 12,
      min: 0,
      queries: [
        { expression: sum('outcome', rate(ofDomain('serpcache_lifeboat_calls_total'))), legend: '{{outcome}}' },
      ],
    },
    {
      kind: 'states',
      title: 'Breaker before the engine',
      description:
        'The worst state in any process. Open: misses are refused at once, hits go on. It tries again by itself; open for long means that the engine does not answer. A drill can open it on purpose.',
      unit: 'none',
      width: 12,
      queries: [{ expression: max('domain', ofDomain('serpcache_engine_breaker_state')), legend: '{{domain}}' }],
      states: BREAKER_STATES,
    },
    {
      kind: 'states',
      title: 'Engine overloaded',
      description:
        'Yes: waits for a permit have been too long for a while in some process, which now serves new searches first and sheds old ones.',
      unit: 'none',
      width: 12,
      queries: [{ expression: max('domain', ofDomain('serpcache_engine_overloaded')), legend: '{{domain}}' }],
      states: ALARM,
      alerts: ['SerpcacheEngineOverloaded'],
    },
  ],
};

const ENDPOINTS: Row = {
  title: 'Endpoints',
  panels: [
    {
      kind: 'states',
      title: 'Endpoints reached',
      description:
        'Away: some process had no answer to its last probe. One endpoint away: the others carry its load. All away: look at the engine itself.',
      unit: 'none',
      width: 12,
      queries: [
        {
          expression: `min by (domain, endpoint) (${ofDomain('serpcache_engine_endpoint_reachable')})`,
          legend: '{{domain}} {{endpoint}}',
        },
      ],
      states: REACHED,
      alerts: ['SerpcacheEngineAway', 'SerpcacheEngineEndpointAway'],
    },
    {
      kind: 'states',
      title: 'Breakers of the endpoints',
      description: 'The worst state in any process. Open: this endpoint is not asked; the balancer uses the others.',
      unit: 'none',
      width: 12,
      queries: [
        {
          expression: max('domain, endpoint', ofDomain('serpcache_engine_endpoint_breaker_state')),
          legend: '{{domain}} {{endpoint}}',
        },
      ],
      states: BREAKER_STATES,
      alerts: ['SerpcacheEngineBreakerOpen'],
    },
    {
      kind: 'lines',
      title: 'Calls in flight',
      description: 'At each endpoint, all processes. One far above the others is slow: new calls go to the least busy.',
      unit: 'none',
      width: 8,
      min: 0,
      queries: [
        {
          expression: sum('domain, endpoint', ofDomain('serpcache_engine_endpoint_in_flight')),
          legend: '{{domain}} {{endpoint}}',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Failovers and second attempts',
      description:
        'failover: a connection was lost and another endpoint considered. retry: a part of an answer was missing and asked for again. spent: the budget of second attempts was used up.',
      unit: 'ops',
      width: 8,
      min: 0,
      queries: [
        {
          expression: sum('outcome', rate(ofDomain('serpcache_engine_failovers_total'))),
          legend: 'failover {{outcome}}',
        },
        { expression: sum('outcome', rate(ofDomain('serpcache_engine_retries_total'))), legend: 'retry {{outcome}}' },
      ],
    },
    {
      kind: 'lines',
      title: 'Connections and workers',
      description:
        'Connections to engines and worker threads of embedded ones, per second. discarded: closed during a query, which the engine cannot stop. crashed workers restart; a steady rate is a defect.',
      unit: 'ops',
      width: 8,
      min: 0,
      queries: [
        {
          expression: sum('state', rate(ofDomain('serpcache_engine_connections_total'))),
          legend: 'connection {{state}}',
        },
        { expression: sum('state', rate(ofDomain('serpcache_engine_workers_total'))), legend: 'worker {{state}}' },
      ],
    },
  ],
};

const REFRESHES: Row = {
  title: 'Refreshes and strictness',
  panels: [
    {
      kind: 'stack',
      title: 'Refreshes of stale pages',
      description:
        'from-engine and from-store are good, leased is done by another process. over-budget, overloaded and engine-…: the page stays stale, and becomes a miss at the end of its grace.',
      unit: 'ops',
      width: 12,
      min: 0,
      queries: [{ expression: sum('outcome', rate(ofDomain('serpcache_refreshes_total'))), legend: '{{outcome}}' }],
      alerts: ['SerpcacheGraceMasking'],
    },
    {
      kind: 'lines',
      title: 'Relaxed searches',
      description:
        'Searches without results that were repeated with a less strict query, per second. Each is a second call. A rise: an index that lost documents, or words that it does not know.',
      unit: 'ops',
      width: 12,
      min: 0,
      queries: [
        { expression: sum('outcome', rate(ofDomain('serpcache_engine_relaxed_total'))), legend: '{{outcome}}' },
      ],
    },
  ],
};

export const ENGINE: Dashboard = {
  name: 'engine',
  title: 'Engine and guard',
  description: 'The load on the engines, and the protection in front of them.',
  hasDomains: true,
  rows: [CALLS, AMPLIFICATION, PERMITS, PROTECTION, ENDPOINTS, REFRESHES],
};
