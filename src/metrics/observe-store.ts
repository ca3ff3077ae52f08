import { Gauge, type Registry } from 'prom-client';
import type { StoreEvent } from '../cache/store.ts';
import type { ControlEvent, ControlSummary } from '../control/control.ts';
import type { EngineEvent } from '../engines/create-engines.ts';
import type { PopularityEvent } from '../popularity/shared.ts';
import type { GuardEvent } from '../resilience/guard.ts';
import { createCounter, createHistogram, type PlainCounter } from './family.ts';
import { createPipelineMetrics } from './gauges.ts';
import {
  BREAKER_STATES,
  COMMAND_RESULTS,
  CONNECTION_STATES,
  CONTROL_EVENTS,
  ENGINE_CONNECTION_STATES,
  FAILOVER_RESULTS,
  RETRY_RESULTS,
  SHED_REASONS,
  STORE_OPERATIONS,
  WORKER_STATES,
} from './label-values.ts';

/** What each domain's store did. Nodes are labels of gauges only: what happened is counted for all of them together. */
export function createStoreObserver(
  registry: Registry,
  domain: readonly string[],
): (domain: string, event: StoreEvent) => void {
  const counter = counterFor(registry, domain);
  const commands = counter('store_commands_total', 'Store commands, by how they ended.', {
    operation: STORE_OPERATIONS,
    outcome: COMMAND_RESULTS,
  });
  const durations = createHistogram({
    registry,
    name: 'serpcache_store_command_duration_seconds',
    help: 'Time until a store command was answered or given up.',
    labels: { domain, operation: STORE_OPERATIONS },
  });
  const late = counter('store_late_replies_total', 'Store replies after their deadline.', { outcome: ['hit', 'miss'] });
  const connections = counter('store_connections_total', 'Connections to store nodes opened, closed and failed.', {
    state: CONNECTION_STATES,
  });
  const topology = counter('store_topology_changes_total', 'Changes in the topology of a store.', {});
  const breakers = counter('store_breaker_transitions_total', 'Changes of state of the breakers of store nodes.', {
    state: BREAKER_STATES,
  });
  const observePipeline = createPipelineMetrics(registry);

  return (name, event) => {
    switch (event.kind) {
      case 'command':
        commands.add(commands.at(name, event.operation, event.result));
        return durations.observe(durations.at(name, event.operation), event.durationMs);
      case 'pipeline':
        return observePipeline(event);
      case 'late':
        return late.add(late.at(name, event.hit ? 'hit' : 'miss'));
      case 'breaker':
        return breakers.add(breakers.at(name, event.state));
      case 'connection':
        return connections.add(connections.at(name, event.state));
      case 'topology':
        return topology.add(topology.at(name));
    }
  };
}

/** What stood before each domain's engine. */
export function createGuardObserver(
  registry: Registry,
  domain: readonly string[],
): (domain: string, event: GuardEvent) => void {
  const counter = counterFor(registry, domain);
  const breakers = counter('engine_breaker_transitions_total', 'Changes of state of the breaker before the engine.', {
    state: BREAKER_STATES,
  });
  const shed = counter('shed_total', 'Searches refused before the engine, and why.', { reason: SHED_REASONS });
  const waits = createHistogram({
    registry,
    name: 'serpcache_permit_wait_seconds',
    help: 'Time a search that got a permit had waited for it.',
    labels: { domain },
  });
  const retries = counter('engine_failovers_total', 'Lost connections after which another endpoint was thought of.', {
    outcome: FAILOVER_RESULTS,
  });
  return (name, event) => {
    switch (event.kind) {
      case 'breaker':
        return breakers.add(breakers.at(name, event.state));
      case 'retry':
        return retries.add(retries.at(name, event.result));
      case 'shed':
        return shed.add(shed.at(name, event.why));
      case 'permit':
        return waits.observe(waits.at(name), event.queuedMs);
    }
  };
}

type Labels = Readonly<Record<string, readonly string[]>>;

/** Combinations of an operation and an outcome that cannot be are never shown; everything else is from the start. */
function counterFor(registry: Registry, domain: readonly string[]) {
  return (name: string, help: string, labels: Labels): PlainCounter => {
    const fromZero = Object.keys(labels).length < 2;
    return createCounter({ registry, name: `serpcache_${name}`, help, labels: { domain, ...labels }, fromZero });
  };
}

export function createEngineObserver(
  registry: Registry,
  domain: readonly string[],
): (domain: string, event: EngineEvent) => void {
  const counter = (name: string, help: string, labels: Readonly<Record<string, readonly string[]>>): PlainCounter =>
    createCounter({ registry, name: `serpcache_engine_${name}`, help, labels: { domain, ...labels }, fromZero: true });
  const connections = counter('connections_total', 'Connections to the engine opened, closed, failed and discarded.', {
    state: ENGINE_CONNECTION_STATES,
  });
  const retries = counter('retries_total', 'Second attempts after a part of the engine failed, by what they gave.', {
    outcome: RETRY_RESULTS,
  });
  const relaxed = counter('relaxed_total', 'Searches without a result that were asked again less strictly.', {
    outcome: ['found', 'nothing'],
  });
  const workers = counter('workers_total', 'Worker threads of embedded engines that started, ended and crashed.', {
    state: WORKER_STATES,
  });
  return (name, event) => {
    switch (event.kind) {
      case 'connection':
        return connections.add(connections.at(name, event.state));
      case 'retry':
        return retries.add(retries.at(name, event.result));
      case 'relaxed':
        return relaxed.add(relaxed.at(name, event.found ? 'found' : 'nothing'));
      case 'worker':
        return workers.add(workers.at(name, event.state));
    }
  };
}

/** What operators changed, and how this process follows it. */
export function createControlObserver(registry: Registry, domain: readonly string[]): (event: ControlEvent) => void {
  const events = createCounter({
    registry,
    name: 'serpcache_control_events_total',
    help: 'What happened to the control document, as this process saw it.',
    labels: { domain, event: CONTROL_EVENTS },
    fromZero: false,
  });
  return (event) => events.add(events.at(event.domain, event.kind === 'overlay' ? `drill-${event.state}` : event.kind));
}

/** How the counting of popular searches goes. */
export function createPopularityObserver(
  registry: Registry,
  domain: readonly string[],
): (event: PopularityEvent) => void {
  const queries = createCounter({
    registry,
    name: 'serpcache_popularity_queries_total',
    help: 'Queries whose counts were added to the fleet, or dropped because the counter store was slow or away.',
    labels: { domain, outcome: ['added', 'dropped'] },
    fromZero: false,
  });
  return ({ kind, domain: name, queries: count }) =>
    queries.add(queries.at(name, kind === 'popularity-added' ? 'added' : 'dropped'), count);
}

type Summaries = readonly { readonly domain: string; readonly control: ControlSummary }[];

export function createControlGauges(registry: Registry): (summaries: Summaries) => void {
  const gauge = (name: string, help: string): Gauge<'domain'> =>
    new Gauge({ name: `serpcache_control_${name}`, help, labelNames: ['domain'], registers: [registry] });
  const revision = gauge('revision', 'Revision of the control document this process follows.');
  const heard = gauge('heard_seconds', 'Since the control store was last heard.');
  const corrupt = gauge('corrupt', 'Whether the stored document cannot be believed: 0 or 1.');
  const flushed = gauge('drill_flushed_ratio', 'Share of the keys a live drill has taken away; 0 without one.');
  const drill = gauge('drill_live', 'Whether a drill runs in this domain: 0 or 1.');
  const halted = gauge('halted', 'Whether drills are halted: 0 or 1.');
  const suppressed = gauge('suppressed', 'Documents suppressed.');
  const purges = gauge('purges', 'Purges remembered.');
  return (summaries) => {
    for (const { domain, control } of summaries) {
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
