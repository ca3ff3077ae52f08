import type { Registry } from 'prom-client';
import type { StoreEvent } from '../cache/store.ts';
import type { GuardEvent } from '../resilience/events.ts';
import { createCounter, type PlainCounter } from './counter.ts';
import { createHistogram } from './histogram.ts';
import { createPipelineMetrics } from './pipelines.ts';
import {
  BREAKER_STATES,
  COMMAND_RESULTS,
  CONNECTION_STATES,
  FAILOVER_RESULTS,
  SHED_REASONS,
  STORE_OPERATIONS,
} from './words.ts';

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
