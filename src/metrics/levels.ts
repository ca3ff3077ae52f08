import type { FeedStatus } from '../changes/feed.ts';
import type { ControlSummary } from '../control/control.ts';
import type { DoctorEvent } from '../operations/doctor/doctor.ts';
import type { DomainStatus } from '../search/status.ts';
import { PLACEMENTS } from './label-values.ts';
import { type MetricSample, type Registries, registerSamples } from './page.ts';

/** Maximum number of nodes shown per store: more than any cluster has, and a bound if a topology is wrong. */
const MAX_NODES = 1000;

/** As numbers, so that an alert can compare with `> 0`. */
const BREAKER_STATES = { closed: 0, 'half-open': 1, open: 2 } as const;
const PART_STATES = { ok: 0, degraded: 1, down: 2 } as const;

/** Metrics that are read at each scrape, by name: gauges, and counters where the name ends in `_total`. */
export type Levels<Source> = Readonly<Record<string, Level<Source>>>;

interface Level<Source> {
  readonly help: string;
  /** The label whose values are the names in `value`. */
  readonly by?: string;
  /** Undefined: the source has no such figure, and the metric no series. */
  readonly value: (source: Source) => number | Readonly<Record<string, number>> | undefined;
}

export interface Labelled<Source> {
  readonly labels: Readonly<Record<string, string>>;
  readonly source: Source;
}

/** Registers the levels of each source that `read` gives at a scrape. */
export function registerLevels<Source>(
  registries: Registries,
  levels: Levels<Source>,
  read: () => readonly Labelled<Source>[],
): void {
  for (const [name, { help, by = '', value }] of Object.entries(levels)) {
    registerSamples(registries, { name, help, type: name.endsWith('_total') ? 'counter' : 'gauge' }, () =>
      read().flatMap(({ labels, source }): readonly MetricSample[] => {
        const found = value(source);
        if (found === undefined) return [];
        if (typeof found === 'number') return [{ labels, value: found }];
        return Object.entries(found).map(([key, each]) => ({ labels: { ...labels, [by]: key }, value: each }));
      }),
    );
  }
}

type Endpoint = DomainStatus['engine']['endpoints'][number];
type StoreNode = NonNullable<DomainStatus['store']>['nodes'][number];

const byEndpoint = ({ engine }: DomainStatus, of: (endpoint: Endpoint) => number) =>
  Object.fromEntries(engine.endpoints.map((endpoint) => [endpoint.name, of(endpoint)]));
const byNode = ({ store }: DomainStatus, of: (node: StoreNode) => number) =>
  Object.fromEntries(store?.nodes.slice(0, MAX_NODES).map((each) => [each.node, of(each)]) ?? []);

/** The state of each domain. */
export const DOMAIN_LEVELS: Levels<DomainStatus> = {
  serpcache_domain_state: {
    help: 'State of the domain: 0 ok, 1 degraded (answers, but a part is missing), 2 down (only pages in memory are answered).',
    value: ({ state }) => PART_STATES[state],
  },
  serpcache_tier_entries: {
    help: 'Entries in the memory of the process (L1). l1-empty: pages without results, which have their own limit.',
    by: 'tier',
    value: ({ memory }) => ({ l1: memory.entries, 'l1-empty': memory.emptyEntries }),
  },
  serpcache_tier_bytes: {
    help: 'Bytes of the entries in the memory of the process (L1). l1-empty: pages without results.',
    by: 'tier',
    value: ({ memory }) => ({ l1: memory.bytes, 'l1-empty': memory.emptyBytes }),
  },
  serpcache_tier_max_bytes: {
    help: 'Maximum of tier_bytes. At the maximum each new entry evicts others.',
    by: 'tier',
    value: ({ memory }) => ({ l1: memory.maxBytes, 'l1-empty': memory.emptyMaxBytes }),
  },
  serpcache_tier_evictions_total: {
    help: 'Entries removed from L1 to make room. A rate near the one of stored_total means that L1 is too small for its traffic.',
    by: 'tier',
    value: ({ memory }) => ({ l1: memory.evictions }),
  },
  serpcache_tier_ghost_hits_total: {
    help: 'L1 misses of keys that were evicted lately: they would be hits in a larger L1.',
    by: 'tier',
    value: ({ memory }) => ({ l1: memory.ghostHits }),
  },
  serpcache_loads: {
    help: 'Pages being computed now, one per key. Many searches may wait for one of them.',
    value: ({ loads }) => loads,
  },
  serpcache_engine_breaker_state: {
    help: 'Circuit breaker before the engine: 0 closed (calls pass), 1 half-open (trial calls only), 2 open (no calls: stale pages and refusals).',
    value: ({ engine }) => BREAKER_STATES[engine.breaker],
  },
  serpcache_engine_reachable: {
    help: 'Whether any endpoint of the engine answered its last health probe: 0 or 1.',
    value: ({ engine }) => Number(engine.reachable),
  },
  serpcache_engine_permits_in_flight: {
    help: 'Engine calls in flight; each holds a permit.',
    value: ({ engine }) => engine.inFlight,
  },
  serpcache_engine_permits_queued: {
    help: 'Searches that wait for a permit, the right to one of the concurrent engine calls. Above 0 for long: the engine is at its limit.',
    value: ({ engine }) => engine.queued,
  },
  serpcache_engine_permits_limit: {
    help: 'Maximum of concurrent engine calls of this process now. Below engine_permits_ceiling the engine answers slowly and the limit was lowered.',
    value: ({ engine }) => engine.maxConcurrent,
  },
  serpcache_engine_permits_ceiling: {
    help: "This process's share of the concurrent engine calls configured for the fleet.",
    value: ({ engine }) => engine.ceiling,
  },
  serpcache_engine_permits_overdue: {
    help: 'Permits held for longer than any engine call may take. Always 0; above it the process loses capacity for engine calls until its restart.',
    value: ({ engine }) => engine.overdue,
  },
  serpcache_engine_overloaded: {
    help: 'Whether waits for a permit have been too long for a while: 0 or 1. At 1 the newest searches are served first and older ones are refused.',
    value: ({ engine }) => Number(engine.overloaded),
  },
  serpcache_processes: {
    help: 'Live processes that share the store, as this process last counted them. A fall means that one is gone or does not reach the store.',
    value: ({ processes }) => processes,
  },
  serpcache_lease_waiters: {
    help: 'Searches that wait for a page which another process is computing.',
    value: ({ leaseWaiters }) => leaseWaiters,
  },
  serpcache_engine_endpoint_breaker_state: {
    help: 'Circuit breaker before one endpoint of the engine: 0 closed, 1 half-open, 2 open (not asked).',
    by: 'endpoint',
    value: (status) => byEndpoint(status, ({ breaker }) => BREAKER_STATES[breaker]),
  },
  serpcache_engine_endpoint_reachable: {
    help: 'Whether the endpoint answered its last health probe: 0 or 1.',
    by: 'endpoint',
    value: (status) => byEndpoint(status, ({ reachable }) => Number(reachable)),
  },
  serpcache_engine_endpoint_in_flight: {
    help: 'Engine calls in flight at one endpoint.',
    by: 'endpoint',
    value: (status) => byEndpoint(status, ({ inFlight }) => inFlight),
  },
  serpcache_store_state: {
    help: 'State of the store (L2): 0 ok, 1 degraded (a node is away), 2 down (all reads miss).',
    value: ({ store }) => store && PART_STATES[store.state],
  },
  serpcache_store_node_breaker_state: {
    help: 'Circuit breaker before the store node: 0 closed, 1 half-open, 2 open (its keys miss at once).',
    by: 'node',
    value: (status) => byNode(status, ({ breaker }) => BREAKER_STATES[breaker]),
  },
  serpcache_store_node_connected: {
    help: 'Whether this process has a usable connection to the store node: 0 or 1.',
    by: 'node',
    value: (status) => byNode(status, ({ connected }) => Number(connected)),
  },
  serpcache_store_node_outstanding: {
    help: 'Commands sent to the store node and not yet answered. A rising count means that the node is slow.',
    by: 'node',
    value: (status) => byNode(status, ({ outstanding }) => outstanding),
  },
};

/** The admission of the public listener: how near the process is to its own limits. */
export interface AdmissionFigures {
  readonly inFlight: number;
  readonly maxInFlight: number;
  readonly loopDelayMs: number;
  readonly state: keyof typeof PART_STATES;
}

export const ADMISSION_LEVELS: Levels<AdmissionFigures> = {
  serpcache_admission_state: {
    help: 'Admission control of the public listener, by the load of this process itself: 0 ok, 1 near its limits (/readyz is 503), 2 refuses searches that are not in memory.',
    value: ({ state }) => PART_STATES[state],
  },
  serpcache_in_flight: {
    help: 'Searches of this process that wait for a store or an engine.',
    value: ({ inFlight }) => inFlight,
  },
  serpcache_in_flight_max: {
    help: 'Maximum of in_flight (maxInFlight); further searches that are not in memory are refused with 503.',
    value: ({ maxInFlight }) => maxInFlight,
  },
  serpcache_loop_delay_seconds: {
    help: 'Delay of the event loop, as admission control measures it (moving average). Above maxLoopDelay only searches in memory are answered.',
    value: ({ loopDelayMs }) => loopDelayMs / 1000,
  },
};

/** The way of known requests before Node's HTTP parser; undefined while it is off. */
export interface LaneFigures {
  readonly connections: number;
  readonly handedOver: number;
  readonly searches: number;
}

export const LANE_LEVELS: Levels<LaneFigures | undefined> = {
  serpcache_lane_connections: {
    help: 'Client connections in the fast path, whose own reader of plain searches stands before the HTTP parser of Node.',
    value: (lane) => lane?.connections ?? 0,
  },
  serpcache_lane_handed_over_total: {
    help: 'Connections that the fast path gave to the HTTP parser of Node, because a request was not plain. It costs CPU only; a rise follows from other clients or proxies.',
    value: (lane) => lane?.handedOver ?? 0,
  },
  serpcache_lane_searches_total: {
    help: 'Searches answered in the fast path; divide by serpcache_requests_total for their share.',
    value: (lane) => lane?.searches ?? 0,
  },
};

/** The control document of each domain. */
export const CONTROL_LEVELS: Levels<ControlSummary> = {
  serpcache_control_revision: {
    help: 'Revision of the control document (the decisions of operators) that this process follows. Processes that differ for more than some seconds do not hear each other.',
    value: ({ revision }) => revision,
  },
  serpcache_control_heard_seconds: {
    help: 'Time since the last valid answer of the store of the control document. While it rises, flushes and drills do not reach this process.',
    value: ({ heardMsAgo }) => heardMsAgo / 1000,
  },
  serpcache_control_corrupt: {
    help: 'Whether the stored control document cannot be read or is not signed: 0 or 1. The last known one stays in force.',
    value: ({ standing }) => Number(standing === 'corrupt'),
  },
  serpcache_control_drill_flushed_ratio: {
    help: 'Share of the keys that a running drill (a rehearsed loss of the cache) treats as lost: 0 to 1; 0 without a drill.',
    value: ({ drill }) => drill?.flushed ?? 0,
  },
  serpcache_control_drill_live: {
    help: 'Whether a drill (a rehearsed loss of the cache) runs in this domain: 0 or 1.',
    value: ({ drill }) => Number(drill !== undefined),
  },
  serpcache_control_halted: {
    help: 'Whether an operator has halted all drills: 0 or 1.',
    value: ({ halted }) => Number(halted),
  },
  serpcache_control_suppressed: {
    help: 'Documents that must not be shown, by decision of operators.',
    value: ({ suppressed }) => suppressed,
  },
  serpcache_control_purges: {
    help: 'Purges of single searches in force.',
    value: ({ purges }) => purges,
  },
  serpcache_shadow_fraction: {
    help: 'Share of the keys whose commands are copied to a candidate, a store that may replace the present one: 0 to 1.',
    value: ({ shadow }) => shadow?.fraction ?? 0,
  },
  serpcache_store_placement: {
    help: 'Phase of the change to another store (cut-over): the one in force has 1, the others 0. configured: no change, the store of the configuration.',
    by: 'phase',
    value: ({ placement }) => {
      const inForce = placement?.phase ?? 'configured';
      return Object.fromEntries(PLACEMENTS.map((phase) => [phase, Number(phase === inForce)]));
    },
  },
};

/** The feed of changes of each domain that has one. */
export const FEED_LEVELS: Levels<FeedStatus> = {
  serpcache_changes_heard_seconds: {
    help: 'Time since this process has read the stream of changes to its end. Above a second, pages older than a few seconds count as changed.',
    value: ({ heardMsAgo }) => heardMsAgo / 1000,
  },
  serpcache_changes_table_used_ratio: {
    help: 'Share of the newer half of the memory of changed documents that is used: 0 to 1. When it is full, the older half is forgotten, and pages older than it count as changed.',
    value: ({ filled }) => filled,
  },
};

type DoctorWindow = Extract<DoctorEvent, { readonly kind: 'doctor-window' }>;

const FINDING_LEVELS: Levels<DoctorWindow['findings'][number]> = {
  serpcache_doctor_findings: {
    help: 'Faults that the checks inside the service see now, by check and severity, without those that an operator acknowledged. `serpcache doctor` explains each.',
    value: ({ count }) => count,
  },
};

const DOCTOR_LEVELS: Levels<DoctorWindow | undefined> = {
  serpcache_doctor_duration_seconds: {
    help: 'Time that the last run of the checks inside the service took.',
    value: (window) => (window?.durationMs ?? 0) / 1000,
  },
};

/** The findings of the last look of the cheap checks. Every such check has a series, 0 while it finds nothing. */
export function createDoctorLevels(registries: Registries): (event: DoctorEvent) => void {
  let last: DoctorWindow | undefined;
  registerLevels(registries, FINDING_LEVELS, () =>
    (last?.findings ?? []).map((source) => ({ labels: { check: source.check, severity: source.severity }, source })),
  );
  registerLevels(registries, DOCTOR_LEVELS, () => [{ labels: {}, source: last }]);
  return (event) => {
    if (event.kind === 'doctor-window') last = event;
  };
}
