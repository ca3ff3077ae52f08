import { Counter, Gauge, type Registry, Summary } from 'prom-client';
import type { StoreEvent } from '../cache/store.ts';
import type { DomainStatus } from '../search/status.ts';
import { createCounter } from './family.ts';

/** Of one domain's store; more than any cluster has, and a bound if a topology went wild. */
const MAX_NODES = 1000;

/** In words of a number, so that an alert can say `> 0`. */
const BREAKER_STATES = { closed: 0, 'half-open': 1, open: 2 } as const;
const PART_STATES = { ok: 0, degraded: 1, down: 2 } as const;

/** What is, as opposed to what happened: taken from the state of each domain at every scrape. */
export function createStatusGauges(registry: Registry): (statuses: readonly DomainStatus[]) => void {
  const registers = [registry];
  const gauge = <T extends string>(name: string, help: string, ...more: readonly T[]): Gauge<T | 'domain'> =>
    new Gauge({ name: `serpcache_${name}`, help, labelNames: ['domain', ...more], registers });

  const states = gauge('domain_state', 'State of the domain: 0 ok, 1 degraded, 2 down.');
  const entries = gauge('tier_entries', 'Entries held; tier l1-empty: pages without results.', 'tier');
  const bytes = gauge('tier_bytes', 'Bytes held; tier l1-empty: pages without results.', 'tier');
  const maxBytes = gauge('tier_max_bytes', 'Bytes that may be held.', 'tier');
  const evictions = new Counter({
    name: 'serpcache_tier_evictions_total',
    help: 'Entries evicted to make room.',
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
    'Permits there are now: the share, or less while the engine cannot take it.',
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
    'Whether it answered its last probe: 0 or 1.',
    'endpoint',
  );
  const endpointInFlight = gauge('engine_endpoint_in_flight', 'Calls under way at one endpoint.', 'endpoint');
  const storeState = gauge('store_state', 'State of the store: 0 ok, 1 degraded, 2 down.');
  const nodeBreaker = gauge('store_node_breaker_state', 'Breaker of the node: 0 closed, 1 half-open, 2 open.', 'node');
  const connected = gauge('store_node_connected', 'Whether the node has a usable connection: 0 or 1.', 'node');
  const outstanding = gauge('store_node_outstanding', 'Commands sent to the node and not yet answered.', 'node');
  // Whatever is gone from the state must be gone from the page too: a node that left, above all.
  const changing = [storeState, nodeBreaker, connected, outstanding];

  return (statuses) => {
    for (const metric of changing) metric.reset();
    evictions.reset();
    for (const { domain, state, memory, engine, store, flights: flying, ...status } of statuses) {
      states.set({ domain }, PART_STATES[state]);
      entries.set({ domain, tier: 'l1' }, memory.entries);
      entries.set({ domain, tier: 'l1-empty' }, memory.emptyEntries);
      bytes.set({ domain, tier: 'l1' }, memory.bytes);
      bytes.set({ domain, tier: 'l1-empty' }, memory.emptyBytes);
      maxBytes.set({ domain, tier: 'l1' }, memory.maxBytes);
      maxBytes.set({ domain, tier: 'l1-empty' }, memory.emptyMaxBytes);
      evictions.inc({ domain, tier: 'l1' }, memory.evictions);
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

type PipelineEvent = Extract<StoreEvent, { kind: 'pipeline' }>;

/** Quantiles look back so far, so that they show now and not the mean of a week. */
const WINDOW = { maxAgeSeconds: 60, ageBuckets: 4 } as const;
const PERCENTILES = [0.5, 0.9, 0.99];

/**
 * Pipelines under the names operators know; `type` is the kind of batch. Once per batch, so that prom-client's own
 * summaries (a few µs) are cheap enough.
 */
export function createPipelineMetrics(registry: Registry): (event: PipelineEvent) => void {
  const registers = [registry];
  const shared = { registers, labelNames: ['type'] as const, percentiles: PERCENTILES, ...WINDOW };
  const sizes = new Summary({
    ...shared,
    name: 'redis_pipeline_batch_size_summary',
    help: 'Commands per pipeline, over the last minute.',
  });
  const durations = new Summary({
    ...shared,
    name: 'redis_pipeline_duration_seconds',
    help: 'From sending a pipeline to its last reply, over the last minute.',
  });
  // The published name lacks the ending that counters have by convention; both are kept.
  const failures = ['redis_pipeline_execution_failures', 'redis_pipeline_execution_failures_total'].map(
    (name) =>
      new Counter({
        registers,
        labelNames: ['type'] as const,
        name,
        help: 'Pipelines in which at least one command failed.',
      }),
  );
  const replies = createCounter({
    registry,
    name: 'serpcache_store_pipeline_failed_replies_total',
    help: 'Commands that failed inside a pipeline; each one is a miss of its own.',
    labels: { type: PIPELINE_TYPES },
    fromZero: true,
  });
  const byType = new Map(
    PIPELINE_TYPES.map((type) => {
      const failed = failures.map((counter) => counter.labels(type));
      for (const counter of failed) counter.inc(0);
      return [type, { size: sizes.labels(type), duration: durations.labels(type), failed }];
    }),
  );

  return ({ type, size, failed, durationMs }) => {
    const metrics = byType.get(type);
    metrics?.size.observe(size);
    metrics?.duration.observe(durationMs / 1000);
    if (failed === 0) return;
    for (const counter of metrics?.failed ?? []) counter.inc();
    replies.add(replies.at(type), failed);
  };
}

const PIPELINE_TYPES: readonly PipelineEvent['type'][] = ['read', 'write'];
