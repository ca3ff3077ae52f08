import { Counter, Gauge, type Registry } from 'prom-client';
import type { ControlSummary } from '../control/control.ts';
import type { DoctorEvent } from '../operations/doctor/doctor.ts';
import type { DomainStatus } from '../search/status.ts';
import { PLACEMENTS } from './label-values.ts';

/** Maximum number of nodes shown per store: more than any cluster has, and a bound if a topology is wrong. */
const MAX_NODES = 1000;

/** As numbers, so that an alert can compare with `> 0`. */
const BREAKER_STATES = { closed: 0, 'half-open': 1, open: 2 } as const;
const PART_STATES = { ok: 0, degraded: 1, down: 2 } as const;

/** The state of each domain, read at every scrape. */
export function createStatusGauges(registry: Registry): (statuses: readonly DomainStatus[]) => void {
  const registers = [registry];
  const gauge = <T extends string>(name: string, help: string, ...more: readonly T[]): Gauge<T | 'domain'> =>
    new Gauge({ name: `serpcache_${name}`, help, labelNames: ['domain', ...more], registers });

  const states = gauge(
    'domain_state',
    'State of the domain: 0 ok, 1 degraded (answers, but a part is missing), 2 down (only pages in memory are answered).',
  );
  const entries = gauge(
    'tier_entries',
    'Entries in the memory of the process (L1). l1-empty: pages without results, which have their own limit.',
    'tier',
  );
  const bytes = gauge(
    'tier_bytes',
    'Bytes of the entries in the memory of the process (L1). l1-empty: pages without results.',
    'tier',
  );
  const maxBytes = gauge(
    'tier_max_bytes',
    'Maximum of tier_bytes. At the maximum each new entry evicts others.',
    'tier',
  );
  const evictions = new Counter({
    name: 'serpcache_tier_evictions_total',
    help: 'Entries removed from L1 to make room. A rate near the one of stored_total means that L1 is too small for its traffic.',
    labelNames: ['domain', 'tier'],
    registers,
  });
  const ghostHits = new Counter({
    name: 'serpcache_tier_ghost_hits_total',
    help: 'L1 misses of keys that were evicted lately: they would be hits in a larger L1.',
    labelNames: ['domain', 'tier'],
    registers,
  });
  const flights = gauge('flights', 'Pages being computed now, one per key. Many searches may wait for one of them.');
  const engineBreaker = gauge(
    'engine_breaker_state',
    'Circuit breaker before the engine: 0 closed (calls pass), 1 half-open (trial calls only), 2 open (no calls: stale pages and refusals).',
  );
  const reachable = gauge(
    'engine_reachable',
    'Whether any endpoint of the engine answered its last health probe: 0 or 1.',
  );
  const inFlight = gauge('engine_permits_in_flight', 'Engine calls in flight; each holds a permit.');
  const queued = gauge(
    'engine_permits_queued',
    'Searches that wait for a permit, the right to one of the concurrent engine calls. Above 0 for long: the engine is at its limit.',
  );
  const limit = gauge(
    'engine_permits_limit',
    'Maximum of concurrent engine calls of this process now. Below engine_permits_ceiling the engine answers slowly and the limit was lowered.',
  );
  const ceiling = gauge(
    'engine_permits_ceiling',
    "This process's share of the concurrent engine calls configured for the fleet.",
  );
  const overdue = gauge(
    'engine_permits_overdue',
    'Permits held for longer than any engine call may take. Always 0; above it the process loses capacity for engine calls until its restart.',
  );
  const overloaded = gauge(
    'engine_overloaded',
    'Whether waits for a permit have been too long for a while: 0 or 1. At 1 the newest searches are served first and older ones are refused.',
  );
  const processes = gauge(
    'processes',
    'Live processes that share the store, as this process last counted them. A fall means that one is gone or does not reach the store.',
  );
  const leaseWaiters = gauge('lease_waiters', 'Searches that wait for a page which another process is computing.');
  const endpointBreaker = gauge(
    'engine_endpoint_breaker_state',
    'Circuit breaker before one endpoint of the engine: 0 closed, 1 half-open, 2 open (not asked).',
    'endpoint',
  );
  const endpointReachable = gauge(
    'engine_endpoint_reachable',
    'Whether the endpoint answered its last health probe: 0 or 1.',
    'endpoint',
  );
  const endpointInFlight = gauge('engine_endpoint_in_flight', 'Engine calls in flight at one endpoint.', 'endpoint');
  const storeState = gauge(
    'store_state',
    'State of the store (L2): 0 ok, 1 degraded (a node is away), 2 down (all reads miss).',
  );
  const nodeBreaker = gauge(
    'store_node_breaker_state',
    'Circuit breaker before the store node: 0 closed, 1 half-open, 2 open (its keys miss at once).',
    'node',
  );
  const connected = gauge(
    'store_node_connected',
    'Whether this process has a usable connection to the store node: 0 or 1.',
    'node',
  );
  const outstanding = gauge(
    'store_node_outstanding',
    'Commands sent to the store node and not yet answered. A rising count means that the node is slow.',
    'node',
  );
  // Reset at every scrape, so that a node that left the topology is not shown any more.
  const changing = [storeState, nodeBreaker, connected, outstanding];

  return (statuses) => {
    for (const metric of changing) metric.reset();
    evictions.reset();
    ghostHits.reset();
    for (const { domain, state, memory, engine, store, flights: flying, ...status } of statuses) {
      states.set({ domain }, PART_STATES[state]);
      entries.set({ domain, tier: 'l1' }, memory.entries);
      entries.set({ domain, tier: 'l1-empty' }, memory.emptyEntries);
      bytes.set({ domain, tier: 'l1' }, memory.bytes);
      bytes.set({ domain, tier: 'l1-empty' }, memory.emptyBytes);
      maxBytes.set({ domain, tier: 'l1' }, memory.maxBytes);
      maxBytes.set({ domain, tier: 'l1-empty' }, memory.emptyMaxBytes);
      evictions.inc({ domain, tier: 'l1' }, memory.evictions);
      ghostHits.inc({ domain, tier: 'l1' }, memory.ghostHits);
      flights.set({ domain }, flying);
      engineBreaker.set({ domain }, BREAKER_STATES[engine.breaker]);
      reachable.set({ domain }, engine.reachable ? 1 : 0);
      inFlight.set({ domain }, engine.inFlight);
      queued.set({ domain }, engine.queued);
      limit.set({ domain }, engine.maxConcurrent);
      ceiling.set({ domain }, engine.ceiling);
      overdue.set({ domain }, engine.overdue);
      overloaded.set({ domain }, engine.overloaded ? 1 : 0);
      processes.set({ domain }, status.processes);
      leaseWaiters.set({ domain }, status.leaseWaiters);
      for (const { name: endpoint, breaker, reachable: up, inFlight: calls } of engine.endpoints) {
        endpointBreaker.set({ domain, endpoint }, BREAKER_STATES[breaker]);
        endpointReachable.set({ domain, endpoint }, up ? 1 : 0);
        endpointInFlight.set({ domain, endpoint }, calls);
      }
      if (store === undefined) continue;
      storeState.set({ domain }, PART_STATES[store.state]);
      for (const { node, breaker, connected: up, outstanding: waiting } of store.nodes.slice(0, MAX_NODES)) {
        nodeBreaker.set({ domain, node }, BREAKER_STATES[breaker]);
        connected.set({ domain, node }, up ? 1 : 0);
        outstanding.set({ domain, node }, waiting);
      }
    }
  };
}

/** The admission of the public listener: how near the process is to its own limits. */
export interface AdmissionStatus {
  readonly inFlight: number;
  readonly maxInFlight: number;
  readonly loopDelayMs: number;
  readonly state: keyof typeof PART_STATES;
}

export function createAdmissionGauges(registry: Registry): (status: AdmissionStatus) => void {
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers: [registry] });
  const state = gauge(
    'serpcache_door_state',
    'Admission control of the public listener, by the load of this process itself: 0 ok, 1 near its limits (/readyz is 503), 2 refuses searches that are not in memory.',
  );
  const inFlight = gauge('serpcache_in_flight', 'Searches of this process that wait for a store or an engine.');
  const maxInFlight = gauge(
    'serpcache_in_flight_max',
    'Maximum of in_flight (maxInFlight); further searches that are not in memory are refused with 503.',
  );
  const loopDelay = gauge(
    'serpcache_door_loop_delay_seconds',
    'Delay of the event loop, as admission control measures it (moving average). Above maxLoopDelay only searches in memory are answered.',
  );
  return (status) => {
    state.set(PART_STATES[status.state]);
    inFlight.set(status.inFlight);
    maxInFlight.set(status.maxInFlight);
    loopDelay.set(status.loopDelayMs / 1000);
  };
}

/** The way of known requests before Node's HTTP parser. */
export interface LaneStatus {
  readonly connections: number;
  readonly handedOver: number;
  readonly searches: number;
}

export function createLaneGauges(registry: Registry): (status: LaneStatus | undefined) => void {
  const registers = [registry];
  const connections = new Gauge({
    name: 'serpcache_lane_connections',
    help: 'Client connections in the fast path, whose own reader of plain searches stands before the HTTP parser of Node.',
    registers,
  });
  const handedOver = new Counter({
    name: 'serpcache_lane_handed_over_total',
    help: 'Connections that the fast path gave to the HTTP parser of Node, because a request was not plain. It costs CPU only; a rise follows from other clients or proxies.',
    registers,
  });
  const searches = new Counter({
    name: 'serpcache_lane_searches_total',
    help: 'Searches answered in the fast path; divide by serpcache_requests_total for their share.',
    registers,
  });
  return (status) => {
    if (status === undefined) return;
    connections.set(status.connections);
    handedOver.reset();
    handedOver.inc(status.handedOver);
    searches.reset();
    searches.inc(status.searches);
  };
}

/** The control document of each domain. */
export function createControlGauges(
  registry: Registry,
): (summaries: readonly { readonly domain: string; readonly control: ControlSummary }[]) => void {
  const gauge = (name: string, help: string): Gauge<'domain'> =>
    new Gauge({ name: `serpcache_control_${name}`, help, labelNames: ['domain'], registers: [registry] });
  const revision = gauge(
    'revision',
    'Revision of the control document (the decisions of operators) that this process follows. Processes that differ for more than some seconds do not hear each other.',
  );
  const heard = gauge(
    'heard_seconds',
    'Time since the last valid answer of the store of the control document. While it rises, flushes and drills do not reach this process.',
  );
  const corrupt = gauge(
    'corrupt',
    'Whether the stored control document cannot be read or is not signed: 0 or 1. The last known one stays in force.',
  );
  const flushed = gauge(
    'drill_flushed_ratio',
    'Share of the keys that a running drill (a rehearsed loss of the cache) treats as lost: 0 to 1; 0 without a drill.',
  );
  const drill = gauge('drill_live', 'Whether a drill (a rehearsed loss of the cache) runs in this domain: 0 or 1.');
  const halted = gauge('halted', 'Whether an operator has halted all drills: 0 or 1.');
  const suppressed = gauge('suppressed', 'Documents that must not be shown, by decision of operators.');
  const purges = gauge('purges', 'Purges of single searches in force.');
  const fraction = new Gauge({
    name: 'serpcache_shadow_fraction',
    help: 'Share of the keys whose commands are copied to a candidate, a store that may replace the present one: 0 to 1.',
    labelNames: ['domain'],
    registers: [registry],
  });
  const placement = new Gauge({
    name: 'serpcache_store_placement',
    help: 'Phase of the change to another store (cut-over): the one in force has 1, the others 0. configured: no change, the store of the configuration.',
    labelNames: ['domain', 'phase'],
    registers: [registry],
  });
  return (summaries) => {
    for (const { domain, control } of summaries) {
      const inForce = control.placement?.phase ?? 'configured';
      for (const phase of PLACEMENTS) placement.set({ domain, phase }, phase === inForce ? 1 : 0);
      fraction.set({ domain }, control.shadow?.fraction ?? 0);
      revision.set({ domain }, control.revision);
      heard.set({ domain }, control.heardMsAgo / 1000);
      corrupt.set({ domain }, control.standing === 'corrupt' ? 1 : 0);
      drill.set({ domain }, control.drill === undefined ? 0 : 1);
      flushed.set({ domain }, control.drill?.flushed ?? 0);
      halted.set({ domain }, control.halted ? 1 : 0);
      suppressed.set({ domain }, control.suppressed);
      purges.set({ domain }, control.purges);
    }
  };
}

/** The findings of the cheap checks. Every such check has a series, 0 while it finds nothing. */
export function createDoctorGauges(registry: Registry): (event: DoctorEvent) => void {
  const findings = new Gauge({
    name: 'serpcache_doctor_findings',
    help: 'Faults that the checks inside the service see now, by check and severity, without those that an operator acknowledged. `serpcache doctor` explains each.',
    labelNames: ['check', 'severity'],
    registers: [registry],
  });
  const duration = new Gauge({
    name: 'serpcache_doctor_duration_seconds',
    help: 'Time that the last run of the checks inside the service took.',
    registers: [registry],
  });
  return (event) => {
    if (event.kind !== 'doctor-window') return;
    for (const { check, severity, count } of event.findings) findings.set({ check, severity }, count);
    duration.set(event.durationMs / 1000);
  };
}
