import type { Dashboard, Row } from './dashboard.ts';
import { max, ofProcess, orNone, quantile, rate, sum } from './promql.ts';
import { ADMISSION_STATES } from './states.ts';

const PROCESSES: Row = {
  title: 'Processes',
  panels: [
    {
      kind: 'table',
      title: 'Versions',
      description:
        'One row per process. Two entry versions: each keeps its own pages in the store, so both caches are colder; normal during an upgrade only.',
      unit: 'none',
      width: 12,
      queries: [
        {
          expression: sum('instance, version, node, entry_version', ofProcess('serpcache_build_info')),
          legend: '{{instance}}',
        },
      ],
      columns: { instance: 'process', version: 'serpcache', node: 'Node', entry_version: 'entry version', Value: 'up' },
      alerts: ['SerpcacheVersionsDiffer'],
    },
    {
      kind: 'lines',
      title: 'Uptime',
      description:
        'Time since the start of each process. A saw: it restarts again and again. Its log ends with the reason.',
      unit: 's',
      width: 6,
      min: 0,
      queries: [{ expression: `time() - ${ofProcess('process_start_time_seconds')}`, legend: '{{instance}}' }],
    },
    {
      kind: 'stat',
      title: 'Restarts in the last hour',
      description: 'All processes together. A deployment restarts each once.',
      unit: 'none',
      width: 6,
      decimals: 0,
      queries: [{ expression: `sum(changes(${ofProcess('process_start_time_seconds')}[1h]))`, legend: 'restarts' }],
      thresholds: { below: 'green', steps: [{ above: 3, color: 'orange' }] },
      alerts: ['SerpcacheProcessRestarts'],
    },
  ],
};

const RESOURCES: Row = {
  title: 'CPU, memory and descriptors',
  panels: [
    {
      kind: 'lines',
      title: 'CPU',
      description:
        'Cores in use, of all threads. The event loop is one of them; the rest is compression, garbage collection and worker threads.',
      unit: 'none',
      width: 8,
      min: 0,
      decimals: 2,
      queries: [{ expression: rate(ofProcess('process_cpu_seconds_total')), legend: '{{instance}}' }],
    },
    {
      kind: 'lines',
      title: 'Resident memory',
      description:
        'L1, heap and connections. It rises while L1 fills, then stays. A steady rise after that is a leak: keep a heap snapshot before the restart.',
      unit: 'bytes',
      width: 8,
      min: 0,
      queries: [{ expression: ofProcess('process_resident_memory_bytes'), legend: '{{instance}}' }],
    },
    {
      kind: 'lines',
      title: 'File descriptors',
      description:
        'Open, as a share of the maximum. At 1 no connection is accepted or opened: raise LimitNOFILE, or look for clients that open too many.',
      unit: 'percentunit',
      width: 8,
      min: 0,
      max: 1,
      queries: [
        {
          expression: `${ofProcess('process_open_fds')} / ${ofProcess('process_max_fds')}`,
          legend: '{{instance}}',
        },
      ],
      thresholds: { below: 'green', steps: [{ above: 0.8, color: 'red' }] },
      alerts: ['SerpcacheFileDescriptorsHigh'],
    },
    {
      kind: 'lines',
      title: 'Heap',
      description:
        'Used and reserved heap of JavaScript. Used near reserved for long: garbage collections become frequent, see below.',
      unit: 'bytes',
      width: 8,
      min: 0,
      queries: [
        { expression: ofProcess('nodejs_heap_size_used_bytes'), legend: '{{instance}} used' },
        { expression: ofProcess('nodejs_heap_size_total_bytes'), legend: '{{instance}} reserved' },
      ],
    },
    {
      kind: 'lines',
      title: 'External memory',
      description:
        'Buffers and native objects: stored pages and bodies on their way. It follows the bytes in L1; far above them, bodies wait for slow clients.',
      unit: 'bytes',
      width: 8,
      min: 0,
      queries: [{ expression: ofProcess('nodejs_external_memory_bytes'), legend: '{{instance}}' }],
    },
    {
      kind: 'lines',
      title: 'Garbage collection',
      description: 'Share of the time in pauses, by kind. major above a few percent: too little heap, or a leak.',
      unit: 'percentunit',
      width: 8,
      min: 0,
      queries: [{ expression: sum('kind', rate(ofProcess('nodejs_gc_duration_seconds_sum'))), legend: '{{kind}}' }],
    },
  ],
};

const LOOP: Row = {
  title: 'Event loop',
  panels: [
    {
      kind: 'lines',
      title: 'Delay',
      description:
        'How late timers run; every search in the process waits for it. p99 above 100 ms: something holds the loop, such as a large body or a full CPU. A long stall is one sample: see the late share beside it.',
      unit: 's',
      width: 12,
      log: true,
      queries: [
        {
          expression: quantile(0.99, 'instance', ofProcess('nodejs_eventloop_delay_seconds_bucket')),
          legend: '{{instance}} p99',
        },
        {
          expression: quantile(0.5, 'instance', ofProcess('nodejs_eventloop_delay_seconds_bucket')),
          legend: '{{instance}} p50',
        },
      ],
      thresholds: { below: 'green', steps: [{ above: 0.1, color: 'red' }] },
      alerts: ['SerpcacheEventLoopLate'],
    },
    {
      kind: 'lines',
      title: 'Busy and late',
      description:
        'Busy: share of the time that the loop works. It uses one core: above 0.85 more load needs more processes. Late: share of the time in which searches wait for a loop that is held.',
      unit: 'percentunit',
      width: 12,
      min: 0,
      max: 1,
      queries: [
        { expression: rate(ofProcess('nodejs_eventloop_busy_seconds_total')), legend: '{{instance}} busy' },
        { expression: rate(ofProcess('nodejs_eventloop_delay_seconds_sum')), legend: '{{instance}} late' },
      ],
      thresholds: { below: 'green', steps: [{ above: 0.85, color: 'red' }] },
      alerts: ['SerpcacheEventLoopBusy'],
    },
  ],
};

const LISTENER: Row = {
  title: 'Public listener',
  panels: [
    {
      kind: 'states',
      title: 'Admission',
      description:
        'Shedding: too many searches wait, or the event loop is late; only pages in memory are answered. Near its limits: /readyz is 503, so that the balancer sends less.',
      unit: 'none',
      width: 12,
      queries: [{ expression: ofProcess('serpcache_admission_state'), legend: '{{instance}}' }],
      states: ADMISSION_STATES,
    },
    {
      kind: 'lines',
      title: 'Waiting searches',
      description: 'Searches that wait for a store or an engine, as a share of the maximum. Hits in memory never wait.',
      unit: 'percentunit',
      width: 6,
      min: 0,
      max: 1,
      queries: [
        {
          expression: `${ofProcess('serpcache_in_flight')} / ${ofProcess('serpcache_in_flight_max')}`,
          legend: '{{instance}}',
        },
      ],
      thresholds: { below: 'green', steps: [{ above: 0.75, color: 'red' }] },
    },
    {
      kind: 'lines',
      title: 'Delay as admission measures it',
      description: 'A smoothed delay of the event loop, which decides on shedding. Compare with `maxLoopDelay`.',
      unit: 's',
      width: 6,
      min: 0,
      queries: [{ expression: ofProcess('serpcache_loop_delay_seconds'), legend: '{{instance}}' }],
    },
    {
      kind: 'lines',
      title: 'Connections in the fast path',
      description:
        'Connections on which plain searches are read before Node’s HTTP parser. Connections with anything else on them are handed over to Node, once and for good.',
      unit: 'none',
      width: 6,
      min: 0,
      queries: [{ expression: ofProcess('serpcache_lane_connections'), legend: '{{instance}}' }],
    },
    {
      kind: 'lines',
      title: 'Share of searches in the fast path',
      description:
        'Hits there cost less CPU. A fall: clients or a balancer send a header or method that it does not know.',
      unit: 'percentunit',
      width: 6,
      min: 0,
      max: 1,
      queries: [
        {
          expression: `sum(${rate(ofProcess('serpcache_lane_searches_total'))}) / sum(${rate(ofProcess('serpcache_requests_total'))})`,
          legend: 'share',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Connections cut or handed over',
      description:
        'Refused or closed by this service, by reason: slow clients, an attack, or a limit that is too low. Handed over to Node’s parser: something on them was no plain search.',
      unit: 'ops',
      width: 6,
      min: 0,
      queries: [
        { expression: sum('reason', rate(ofProcess('serpcache_client_connections_cut_total'))), legend: '{{reason}}' },
        { expression: `sum(${rate(ofProcess('serpcache_lane_handed_over_total'))})`, legend: 'handed over' },
      ],
    },
    {
      kind: 'lines',
      title: 'Refused tokens',
      description:
        'wrong and throttled: the admin token is guessed, or an operator uses an old one. ignored: a token sent to the public listener.',
      unit: 'ops',
      width: 6,
      min: 0,
      queries: [
        { expression: sum('reason', rate(ofProcess('serpcache_http_refused_tokens_total'))), legend: '{{reason}}' },
      ],
      alerts: ['SerpcacheTokenGuessing'],
    },
  ],
};

const OBSERVATION: Row = {
  title: 'Findings and observation',
  panels: [
    {
      kind: 'table',
      title: 'Findings of the doctor',
      description:
        'Standing findings, without acknowledged ones; an empty row with 0: none. `npm run serpcache -- doctor` shows the evidence and the way to mend each.',
      unit: 'none',
      width: 12,
      queries: [
        {
          expression: orNone(`${max('severity, check', ofProcess('serpcache_doctor_findings'))} > 0`),
          legend: '{{check}}',
        },
      ],
      columns: { severity: 'severity', check: 'check', Value: 'subjects' },
      alerts: ['SerpcacheDoctorCritical'],
    },
    {
      kind: 'lines',
      title: 'Time of scrapes and looks',
      description:
        'Time that a process takes to make its page of metrics, and to look through the doctor’s cheap checks. Both are on the event loop.',
      unit: 's',
      width: 6,
      min: 0,
      queries: [
        { expression: `max(${ofProcess('serpcache_scrape_duration_seconds')})`, legend: 'metrics' },
        { expression: `max(${ofProcess('serpcache_doctor_duration_seconds')})`, legend: 'doctor' },
      ],
    },
    {
      kind: 'lines',
      title: 'Spans',
      description: 'Spans exported to the collector, and dropped because it was away or slow. 0 while tracing is off.',
      unit: 'ops',
      width: 6,
      min: 0,
      queries: [
        { expression: orNone(sum('outcome', rate(ofProcess('serpcache_spans_total')))), legend: '{{outcome}}' },
      ],
      alerts: ['SerpcacheSpansDropped'],
    },
  ],
};

export const PROCESS: Dashboard = {
  name: 'process',
  title: 'Process',
  description: 'Versions, CPU, memory, event loop, listener and findings of each process.',
  hasDomains: false,
  rows: [PROCESSES, RESOURCES, LOOP, LISTENER, OBSERVATION],
};
