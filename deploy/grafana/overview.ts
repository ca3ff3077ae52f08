import type { Dashboard, Row } from './dashboard.ts';
import type { Panel } from './panel.ts';
import { max, NAMED_DOMAIN, ofDomain, ofProcess, ofRule, orNone, quantile, rate, sum } from './promql.ts';
import { OUTCOME_COLORS, PART_STATES } from './states.ts';

const SEARCHES = ofDomain('serpcache_requests_total');
const BAD = 'outcome=~"lifeboat|shed|failed"';
/** The outcomes whose duration the objective of latency judges. */
const GOOD = 'outcome=~"hit-l1|hit-l2|stale|collapsed|engine"';
const DURATIONS = ofDomain('serpcache_request_duration_seconds_bucket', GOOD);

/** The error budget of 30 days that is left, from the rates that the burn rates are made of. */
function budgetLeft(bad: string, all: string, budget: string): string {
  return `1 - ${bad} / clamp_min(${all}, 1e-9) / scalar(${budget})`;
}

const month = (rule: string): string => `avg_over_time(${ofRule(rule, NAMED_DOMAIN)}[30d])`;

/** A Prometheus may evaluate the rules of other services, too. */
const firing = (severity: string): string =>
  `count(ALERTS{alertname=~"Serpcache.*|RedisPipelineStalling", alertstate="firing", severity="${severity}"})`;

function budgetPanel(title: string, description: string, expression: string): Panel {
  return {
    kind: 'stat',
    title,
    description,
    unit: 'percentunit',
    width: 6,
    decimals: 1,
    queries: [{ expression, legend: '{{domain}}', instant: true }],
    thresholds: {
      below: 'red',
      steps: [
        { above: 0, color: 'orange' },
        { above: 0.25, color: 'green' },
      ],
    },
  };
}

function burnPanel(title: string, description: string, rule: string, alerts: readonly string[]): Panel {
  const over = (window: string) => ({ expression: ofRule(`${rule}:ratio${window}`), legend: `{{domain}} ${window}` });
  return {
    kind: 'lines',
    title,
    description,
    unit: 'none',
    width: 12,
    min: 0,
    decimals: 1,
    alerts,
    queries: [over('5m'), over('1h'), over('6h')],
    thresholds: {
      below: 'green',
      steps: [
        { above: 1, color: 'yellow' },
        { above: 6, color: 'orange' },
        { above: 14.4, color: 'red' },
      ],
    },
  };
}

const NOW: Row = {
  title: 'Now',
  panels: [
    {
      kind: 'stat',
      title: 'Alerts firing',
      description: 'By severity. A page needs action now, a ticket within days. Prometheus, Alerts, has the names.',
      unit: 'none',
      width: 6,
      queries: [
        { expression: orNone(firing('page')), legend: 'page' },
        { expression: orNone(firing('ticket')), legend: 'ticket' },
      ],
      thresholds: { below: 'green', steps: [{ above: 1, color: 'red' }] },
    },
    {
      kind: 'stat',
      title: 'Processes',
      description:
        'Processes that Prometheus reaches, and those that it does not. When one is away: is it restarting (dashboard Process), or is the admin listener blocked?',
      unit: 'none',
      width: 6,
      queries: [
        { expression: 'sum(up{job="serpcache"})', legend: 'up' },
        { expression: 'count(up{job="serpcache"} == 0) or on () vector(0)', legend: 'away' },
      ],
      alerts: ['SerpcacheNoProcess', 'SerpcacheProcessAway'],
    },
    budgetPanel(
      'Budget of good answers left',
      'Share of the error budget of 30 days that is left; below 0 the objective is missed. When it falls: which outcome below Errors grew?',
      budgetLeft(
        month('serpcache:searches_bad:rate5m'),
        month('serpcache:searches_counted:rate5m'),
        'serpcache:good_answers_budget:ratio',
      ),
    ),
    budgetPanel(
      'Budget of latency left',
      'The same for answers that took longer than the objective allows. When it falls: is the engine slow, or are there more misses?',
      budgetLeft(
        `(${month('serpcache:searches_timed:rate5m')} - ${month('serpcache:searches_in_time:rate5m')})`,
        month('serpcache:searches_timed:rate5m'),
        'serpcache:latency_budget:ratio',
      ),
    ),
    {
      kind: 'states',
      title: 'State of each domain',
      description:
        'The worst state in any process. Degraded: it answers, but a part is missing. Down: only pages in the memory of a process are answered. `npm run serpcache -- doctor` names the part.',
      unit: 'none',
      width: 24,
      queries: [{ expression: max('domain', ofDomain('serpcache_domain_state')), legend: '{{domain}}' }],
      states: PART_STATES,
    },
  ],
};

const RATE: Row = {
  title: 'Rate',
  panels: [
    {
      kind: 'lines',
      title: 'Searches',
      description:
        'Searches per second of each domain; `none` are requests refused before their domain was known. A step without a release or a campaign: a crawler, or a client that retries.',
      unit: 'reqps',
      width: 12,
      min: 0,
      queries: [{ expression: sum('domain', rate(SEARCHES)), legend: '{{domain}}' }],
      alerts: ['SerpcacheTrafficGone'],
    },
    {
      kind: 'stack',
      title: 'Searches by outcome',
      description:
        'Each search has exactly one outcome. Green: a cache answered. Blue: the engine. Orange and red: no page. More blue at the same rate is a cache that lost entries.',
      unit: 'reqps',
      width: 12,
      min: 0,
      queries: [{ expression: sum('outcome', rate(SEARCHES)), legend: '{{outcome}}' }],
      colors: OUTCOME_COLORS,
    },
  ],
};

const ERRORS: Row = {
  title: 'Errors',
  panels: [
    {
      kind: 'lines',
      title: 'Share of searches without a good answer',
      description:
        'Shed, failed or degraded, by domain, over five minutes in the whole fleet. The dashed line is the objective. Above it: look at the outcome beside, then at Engine and guard.',
      unit: 'percentunit',
      width: 8,
      min: 0,
      queries: [
        {
          expression: `${ofRule('serpcache:searches_bad:rate5m')} / clamp_min(${ofRule('serpcache:searches_counted:rate5m')}, 1e-9)`,
          legend: '{{domain}}',
        },
      ],
      thresholds: { below: 'green', steps: [{ above: 0.001, color: 'red' }] },
    },
    {
      kind: 'lines',
      title: 'Searches without a good answer',
      description:
        'Shed: refused to protect the engine. Failed: no page. Lifeboat: a degraded page while the engine is away. Shed alone: more load than the engine takes; failed: an engine or a store that breaks.',
      unit: 'reqps',
      width: 8,
      min: 0,
      queries: [{ expression: sum('outcome', rate(ofDomain('serpcache_requests_total', BAD))), legend: '{{outcome}}' }],
      colors: OUTCOME_COLORS,
    },
    {
      kind: 'lines',
      title: 'Responses by status',
      description:
        'HTTP status of all searches, of all domains. 4xx are faults of clients and do not count against the objective; 503 has a Retry-After.',
      unit: 'reqps',
      width: 8,
      min: 0,
      queries: [{ expression: sum('status', rate(ofProcess('serpcache_responses_total'))), legend: '{{status}}' }],
    },
  ],
};

const LATENCY: Row = {
  title: 'Latency',
  panels: [
    {
      kind: 'lines',
      title: 'Duration of good answers',
      description:
        'Half of the answers are faster than p50, 99 of 100 faster than p99. Points are traced requests: click one for its trace. p99 up, p50 not: misses are slow or more frequent. Both up: the event loop is late.',
      unit: 's',
      width: 12,
      log: true,
      queries: [
        { expression: quantile(0.99, 'domain', DURATIONS), legend: '{{domain}} p99', exemplars: true },
        { expression: quantile(0.5, 'domain', DURATIONS), legend: '{{domain}} p50' },
      ],
      thresholds: { below: 'green', steps: [{ above: 0.5, color: 'red' }] },
    },
    {
      kind: 'heatmap',
      title: 'Distribution of durations',
      description:
        'Searches per second in each bucket. Two bands are normal: hits below 1 ms, misses at the speed of the engine. The upper band rising is the engine; the lower one is this service.',
      unit: 's',
      width: 12,
      queries: [{ expression: sum('le', rate(DURATIONS)), legend: '{{le}}', exemplars: true }],
    },
  ],
};

const BUDGET: Row = {
  title: 'Objectives',
  panels: [
    burnPanel(
      'Burn rate of good answers',
      'At 1 the error budget lasts exactly 30 days. Above 14.4 over five minutes and an hour, or 6 over 30 minutes and six hours, the alert pages.',
      'serpcache:good_answers_burn',
      ['SerpcacheGoodAnswersFastBurn', 'SerpcacheGoodAnswersSlowBurn'],
    ),
    burnPanel(
      'Burn rate of latency',
      'The same for answers slower than the objective. Slow answers while few searches miss: look at the event loop (Process); otherwise at the engine.',
      'serpcache:latency_burn',
      ['SerpcacheLatencyFastBurn', 'SerpcacheLatencySlowBurn'],
    ),
  ],
};

const SATURATION: Row = {
  title: 'Saturation',
  panels: [
    {
      kind: 'lines',
      title: 'Engine permits used',
      description:
        'Share of the engine calls allowed at once that are running, over five minutes. Near 1 misses queue and are shed next: fewer misses (warm up, longer ttl) or a larger engine.',
      unit: 'percentunit',
      width: 8,
      min: 0,
      max: 1,
      queries: [{ expression: ofRule('serpcache:engine_permits_used:ratio5m'), legend: '{{domain}}' }],
      thresholds: { below: 'green', steps: [{ above: 0.8, color: 'red' }] },
      alerts: ['SerpcacheEngineNearLimit'],
    },
    {
      kind: 'lines',
      title: 'L1 fill',
      description:
        'Share of the memory for pages in use, of the fullest process. Full is normal; ghost hits (Caches and stores) say whether more would help.',
      unit: 'percentunit',
      width: 8,
      min: 0,
      max: 1,
      queries: [
        {
          expression: max(
            'domain',
            `${ofDomain('serpcache_tier_bytes', 'tier="l1"')} / ${ofDomain('serpcache_tier_max_bytes', 'tier="l1"')}`,
          ),
          legend: '{{domain}}',
        },
      ],
      alerts: ['SerpcacheEvictionStorm'],
    },
    {
      kind: 'lines',
      title: 'Busiest process',
      description:
        'Share of the time that the event loop works, and of the searches allowed to wait, of the fullest process. Above 0.8: add processes.',
      unit: 'percentunit',
      width: 8,
      min: 0,
      max: 1,
      queries: [
        { expression: `max(${rate(ofProcess('nodejs_eventloop_busy_seconds_total'))})`, legend: 'event loop' },
        {
          expression: `max(${ofProcess('serpcache_in_flight')} / ${ofProcess('serpcache_in_flight_max')})`,
          legend: 'waiting searches',
        },
      ],
      thresholds: { below: 'green', steps: [{ above: 0.8, color: 'red' }] },
      alerts: ['SerpcacheEventLoopBusy'],
    },
  ],
};

export const OVERVIEW: Dashboard = {
  name: 'overview',
  title: 'Overview',
  description: 'The four golden signals of each domain, and its objectives. Begin here.',
  hasDomains: true,
  rows: [NOW, RATE, ERRORS, LATENCY, BUDGET, SATURATION],
};
