import { metricOf, SEEN_OUTCOMES } from '../../loadtest/k6/kit/outcome.ts';
import type { Dashboard, Row } from './dashboard.ts';
import { max, NAMED_DOMAIN, ofDomain, ofRule, orNone, rate, sum } from './promql.ts';
import { ACTIVE, ALARM, OUTCOME_COLORS } from './states.ts';

const DRILLS: Row = {
  title: 'Drills',
  panels: [
    {
      kind: 'states',
      title: 'Drill live',
      description:
        'Yes: a drill has flushed a part of this domain on purpose. `npm run serpcache -- drill status` names it, `npm run serpcache -- halt` ends all and gives the caches back.',
      unit: 'none',
      width: 12,
      queries: [{ expression: max('domain', ofDomain('serpcache_control_drill_live')), legend: '{{domain}}' }],
      states: ACTIVE,
      alerts: ['SerpcacheDrillLive', 'SerpcacheDrillTooLong'],
    },
    {
      kind: 'states',
      title: 'Drills halted',
      description: 'Yes: an operator halted drills, shadows and cut-overs; none starts until the halt is lifted.',
      unit: 'none',
      width: 12,
      queries: [{ expression: max('domain', ofDomain('serpcache_control_halted')), legend: '{{domain}}' }],
      states: ACTIVE,
    },
    {
      kind: 'lines',
      title: 'Share of keys flushed',
      description: 'By the drill that is live; 0 without one. Each step is a stage.',
      unit: 'percentunit',
      width: 8,
      min: 0,
      max: 1,
      queries: [{ expression: max('domain', ofDomain('serpcache_control_drill_flushed_ratio')), legend: '{{domain}}' }],
    },
    {
      kind: 'lines',
      title: 'Hit ratio',
      description:
        'Share of the searches that a cache answered, over five minutes. It falls by about the share of the flushed keys, and has to return within the time of the plan.',
      unit: 'percentunit',
      width: 8,
      min: 0,
      max: 1,
      queries: [{ expression: ofRule('serpcache:hits:ratio5m', NAMED_DOMAIN), legend: '{{domain}}' }],
    },
    {
      kind: 'lines',
      title: 'Engine permits used',
      description:
        'Share of the calls allowed at once, over five minutes. During a drill it may rise; at 1 for long the engine does not survive the loss: abort.',
      unit: 'percentunit',
      width: 8,
      min: 0,
      max: 1,
      queries: [{ expression: ofRule('serpcache:engine_permits_used:ratio5m'), legend: '{{domain}}' }],
      thresholds: { below: 'green', steps: [{ above: 0.8, color: 'red' }] },
    },
  ],
};

const CONTROL: Row = {
  title: 'Control document',
  panels: [
    {
      kind: 'lines',
      title: 'Revision',
      description:
        'The oldest and the newest document that any process follows. They differ for a second after a change; for longer, a process does not hear the control store.',
      unit: 'none',
      width: 8,
      decimals: 0,
      queries: [
        { expression: max('domain', ofDomain('serpcache_control_revision')), legend: '{{domain}} newest' },
        { expression: `min by (domain) (${ofDomain('serpcache_control_revision')})`, legend: '{{domain}} oldest' },
      ],
    },
    {
      kind: 'lines',
      title: 'Time since the control store answered',
      description:
        'Of the process that heard it last. It is a second or two; above a minute flushes and purges do not reach that process.',
      unit: 's',
      width: 8,
      min: 0,
      queries: [{ expression: max('domain', ofDomain('serpcache_control_heard_seconds')), legend: '{{domain}}' }],
      alerts: ['SerpcacheControlUnheard'],
    },
    {
      kind: 'lines',
      title: 'Decisions in force',
      description:
        'Suppressed documents and purges in the control document. Both have bounds: old purges fall when no page can be so old.',
      unit: 'none',
      width: 8,
      min: 0,
      queries: [
        { expression: max('domain', ofDomain('serpcache_control_suppressed')), legend: '{{domain}} suppressed' },
        { expression: max('domain', ofDomain('serpcache_control_purges')), legend: '{{domain}} purges' },
      ],
    },
    {
      kind: 'states',
      title: 'Document corrupt',
      description:
        'Yes: some process finds a document that it cannot believe, and refuses changes. Another key, or a damaged value.',
      unit: 'none',
      width: 12,
      queries: [{ expression: max('domain', ofDomain('serpcache_control_corrupt')), legend: '{{domain}}' }],
      states: ALARM,
      alerts: ['SerpcacheControlCorrupt'],
    },
    {
      kind: 'lines',
      title: 'Events of the control document',
      description:
        'Per second, all processes; one line at 0 until the first. control-away and control-back in turns: an unreliable control store.',
      unit: 'ops',
      width: 12,
      min: 0,
      queries: [
        { expression: orNone(sum('event', rate(ofDomain('serpcache_control_events_total')))), legend: '{{event}}' },
      ],
    },
  ],
};

const SHADOW: Row = {
  title: 'Shadow: trying another store',
  panels: [
    {
      kind: 'lines',
      title: 'Share of keys copied',
      description: 'Share of the keys whose commands also go to the candidate store; 0 without a shadow.',
      unit: 'percentunit',
      width: 6,
      min: 0,
      max: 1,
      queries: [{ expression: max('domain', ofDomain('serpcache_shadow_fraction')), legend: '{{domain}}' }],
    },
    {
      kind: 'stack',
      title: 'Copies',
      description:
        'Copied reads and writes per second; one line at 0 without a shadow. dropped or failed: the candidate does not keep up, do not cut over.',
      unit: 'ops',
      width: 6,
      min: 0,
      queries: [
        {
          expression: orNone(sum('type, outcome', rate(ofDomain('serpcache_shadow_copies_total')))),
          legend: '{{type}} {{outcome}}',
        },
      ],
      alerts: ['SerpcacheShadowCopiesDropped'],
    },
    {
      kind: 'stack',
      title: 'Agreement of the candidate',
      description:
        'Its values compared with those of the primary. older and missing fall as it fills. wrong has to be 0: another page under the same key.',
      unit: 'ops',
      width: 6,
      min: 0,
      queries: [
        { expression: sum('outcome', rate(ofDomain('serpcache_shadow_compared_total'))), legend: '{{outcome}}' },
      ],
      colors: {
        equal: 'green',
        older: 'yellow',
        newer: 'light-blue',
        missing: 'orange',
        surplus: 'purple',
        wrong: 'red',
      },
    },
    {
      kind: 'lines',
      title: 'Processes in each phase of a cut-over',
      description:
        'configured: the store of the configuration is in use. All processes of a domain change together; two phases at once for long: one does not hear.',
      unit: 'none',
      width: 6,
      min: 0,
      decimals: 0,
      queries: [
        { expression: sum('domain, phase', ofDomain('serpcache_store_placement')), legend: '{{domain}} {{phase}}' },
      ],
    },
  ],
};

const LOAD: Row = {
  title: 'Load run: k6 as the client',
  panels: [
    {
      kind: 'lines',
      title: 'Searches sent and answered',
      description:
        'Per second, as the load generator counts them. Answered below sent: searches in flight, or lost. Dropped: the generator had no free virtual user, so the run is not valid. 0 without a run.',
      unit: 'reqps',
      width: 12,
      min: 0,
      queries: [
        { expression: orNone(`sum(${rate('k6_sent_total')})`), legend: 'sent' },
        { expression: orNone(`sum(${rate('k6_searches_total')})`), legend: 'answered' },
        { expression: orNone(`sum(${rate('k6_dropped_iterations_total')})`), legend: 'dropped by the generator' },
      ],
    },
    {
      kind: 'stack',
      title: 'Outcomes as the client saw them',
      description:
        'unanswered: no answer at all. unknown: an answer without the headers of the service, from a proxy. Each is a line at 0 until its first.',
      unit: 'reqps',
      width: 12,
      min: 0,
      queries: outcomeQueries(),
      colors: { ...OUTCOME_COLORS, unanswered: 'dark-red', unknown: 'dark-purple' },
    },
    {
      kind: 'lines',
      title: 'Duration, p99',
      description:
        'Of all searches of the step so far, with connecting, as the client measures it. Above the service’s own p99: network, or the generator’s machine is busy.',
      unit: 's',
      width: 8,
      log: true,
      queries: [{ expression: orNone(max('step', 'k6_search_duration_p99')), legend: '{{step}}' }],
    },
    {
      kind: 'lines',
      title: 'Hits and errors',
      description:
        'Share of the searches of the step so far. An error is no page, unless the script allows refusals in that step.',
      unit: 'percentunit',
      width: 8,
      min: 0,
      max: 1,
      queries: [
        { expression: orNone(max('step', 'k6_hits_rate')), legend: 'hits {{step}}' },
        { expression: orNone(max('step', 'k6_errors_rate')), legend: 'errors {{step}}' },
      ],
    },
    {
      kind: 'lines',
      title: 'Engine calls and connections',
      description:
        'Engine calls of the whole service during the run, and connections that the generator opened. Connections above 0 after the start: the service closes them.',
      unit: 'ops',
      width: 8,
      min: 0,
      queries: [
        { expression: orNone(`sum(${rate('k6_engine_calls_total')})`), legend: 'engine calls' },
        { expression: orNone(`sum(${rate('k6_connections_opened_total')})`), legend: 'connections opened' },
      ],
    },
    {
      kind: 'lines',
      title: 'Virtual users',
      description:
        'Busy and reserved users of the generator. All busy: the service answers too slowly for the rate, or the generator is too small.',
      unit: 'none',
      width: 24,
      min: 0,
      queries: [
        { expression: orNone('sum(k6_vus)'), legend: 'in use' },
        { expression: orNone('sum(k6_vus_max)'), legend: 'reserved' },
      ],
    },
  ],
};

/** k6 has one metric per outcome, and Prometheus cannot add rates of several names. */
function outcomeQueries() {
  const [first, ...rest] = SEEN_OUTCOMES.map((outcome) => ({
    expression: orNone(`sum(${rate(`k6_${metricOf(outcome)}_total`)})`),
    legend: outcome,
  }));
  if (first === undefined) throw new Error('no outcomes');
  return [first, ...rest] as const;
}

export const RUNS: Dashboard = {
  name: 'runs',
  title: 'Drills and load runs',
  description: 'Losses of the cache on purpose, their effect, the control document, shadows, and load tests with k6.',
  hasDomains: true,
  rows: [DRILLS, CONTROL, SHADOW, LOAD],
};
