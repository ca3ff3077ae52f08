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

  const states = gauge('domain_state', 'State of the domain: 0 ok, 1 degraded, 2 down.');
  const entries = gauge('tier_entries', 'Entries held; tier l1-empty: pages without results.', 'tier');
  const bytes = gauge('tier_bytes', 'Bytes held; tier l1-empty: pages without results.', 'tier');
  const maxBytes = gauge('tier_max_bytes', 'Maximum of bytes held.', 'tier');
  const evictions = new Counter({
    name: 'serpcache_tier_evictions_total',
    help: 'Entries evicted to make room.',
    labelNames: ['domain', 'tier'],
    registers,
  });
  const ghostHits = new Counter({
    name: 'serpcache_tier_ghost_hits_total',
    help: 'Misses of keys that were evicted lately: hits of a larger tier.',
    labelNames: ['domain', 'tier'],
    registers,
  });
  const flights = gauge('flights', 'Distinct keys being computed.');
  const engineBreaker = gauge('engine_breaker_state', 'Breaker before the engine: 0 closed, 1 half-open, 2 open.');
  const reachable = gauge('engine_reachable', 'Whether the engine answered its last probe: 0 or 1.');
  const inFlight = gauge('engine_permits_in_flight', 'Permits held by engine calls.');
  const queued = gauge('engine_permits_queued', 'Searches waiting for a permit.');
  const limit = gauge(
    'engine_permits_limit',
    'Current maximum of permits: the share of this process, or less while the engine is overloaded.',
  );
  const ceiling = gauge('engine_permits_ceiling', "This process's share of the permits configured for the fleet.");
  const overloaded = gauge('engine_overloaded', 'Whether waits for a permit have been too long for a while: 0 or 1.');
  const processes = gauge('processes', 'Processes that share the store, as last counted.');
  const leaseWaiters = gauge('lease_waiters', "Searches waiting for another process's page.");
  const endpointBreaker = gauge(
    'engine_endpoint_breaker_state',
    'Breaker before one endpoint: 0 closed, 1 half-open, 2 open.',
    'endpoint',
  );
  const endpointReachable = gauge(
    'engine_endpoint_reachable',
    'Whether the endpoint answered its last probe: 0 or 1.',
    'endpoint',
  );
  const endpointInFlight = gauge('engine_endpoint_in_flight', 'Calls in flight at one endpoint.', 'endpoint');
  const storeState = gauge('store_state', 'State of the store: 0 ok, 1 degraded, 2 down.');
  const nodeBreaker = gauge('store_node_breaker_state', 'Breaker of the node: 0 closed, 1 half-open, 2 open.', 'node');
  const connected = gauge('store_node_connected', 'Whether the node has a usable connection: 0 or 1.', 'node');
  const outstanding = gauge('store_node_outstanding', 'Commands sent to the node and not yet answered.', 'node');
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
  const state = gauge('serpcache_door_state', 'State of admission: 0 ok, 1 near its bounds, 2 shedding.');
  const inFlight = gauge('serpcache_in_flight', 'Searches waiting for a store or an engine.');
  const maxInFlight = gauge('serpcache_in_flight_max', 'Maximum of waiting searches; more are shed.');
  const loopDelay = gauge('serpcache_door_loop_delay_seconds', 'Delay of the event loop, as admission measures it.');
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
  const connections = new Gauge({ name: 'serpcache_lane_connections', help: 'Connections in the lane.', registers });
  const handedOver = new Counter({
    name: 'serpcache_lane_handed_over_total',
    help: "Connections that left the lane for Node's HTTP parser: something on them was no plain search.",
    registers,
  });
  const searches = new Counter({
    name: 'serpcache_lane_searches_total',
    help: 'Searches answered in the lane; divide by serpcache_requests_total for their share.',
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
  const revision = gauge('revision', 'Revision of the control document that this process follows.');
  const heard = gauge('heard_seconds', 'Time since the last valid answer of the control store.');
  const corrupt = gauge('corrupt', 'Whether the stored document cannot be believed: 0 or 1.');
  const flushed = gauge('drill_flushed_ratio', 'Share of the keys that a live drill has flushed; 0 without a drill.');
  const drill = gauge('drill_live', 'Whether a drill runs in this domain: 0 or 1.');
  const halted = gauge('halted', 'Whether drills are halted: 0 or 1.');
  const suppressed = gauge('suppressed', 'Suppressed documents.');
  const purges = gauge('purges', 'Purges in force.');
  const fraction = new Gauge({
    name: 'serpcache_shadow_fraction',
    help: 'Share of the keys whose commands are copied to a candidate store; 0 without a shadow.',
    labelNames: ['domain'],
    registers: [registry],
  });
  const placement = new Gauge({
    name: 'serpcache_store_placement',
    help: 'The phase of the cut-over that is in force has 1, the others 0; configured: the store of the configuration.',
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
    help: 'Standing findings of the checks that run inside the service, without the acknowledged ones.',
    labelNames: ['check', 'severity'],
    registers: [registry],
  });
  const duration = new Gauge({
    name: 'serpcache_doctor_duration_seconds',
    help: 'Time that the last look of these checks took.',
    registers: [registry],
  });
  return (event) => {
    if (event.kind !== 'doctor-window') return;
    for (const { check, severity, count } of event.findings) findings.set({ check, severity }, count);
    duration.set(event.durationMs / 1000);
  };
}
