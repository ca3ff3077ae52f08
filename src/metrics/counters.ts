import { Counter, type Registry, Summary } from 'prom-client';
import { MISS_REASONS } from '../cache/events.ts';
import type { StoreEvent } from '../cache/store.ts';
import type { ControlEvent } from '../control/control.ts';
import type { EngineEvent } from '../engines/create-engines.ts';
import type { RequestEvent } from '../http/events.ts';
import { CONNECTION_EVENTS, type ConnectionEvent, TOKEN_RESULTS, type TokenEvent } from '../http/transport/events.ts';
import type { ShadowEvent } from '../operations/shadow/shadow.ts';
import type { PopularityEvent } from '../popularity/shared.ts';
import type { GuardEvent } from '../resilience/guard.ts';
import { SHED_REASONS } from '../resilience/shed.ts';
import type { SearchEvent } from '../search/events.ts';
import { OUTCOMES } from '../search/outcome.ts';
import { type ClosedLabels, createCounter, createHistogram, type PlainCounter } from './family.ts';
import {
  AGREEMENTS,
  BREAKER_STATES,
  COMMAND_RESULTS,
  CONNECTION_STATES,
  CONTROL_EVENTS,
  ENGINE_CONNECTION_STATES,
  ENGINE_RESULTS,
  FAILOVER_RESULTS,
  LEASE_RESULTS,
  LIFEBOAT_RESULTS,
  NOT_STORED_REASONS,
  PIPELINE_TYPES,
  REFRESH_RESULTS,
  RETRY_RESULTS,
  SHADOW_COPY_RESULTS,
  SHADOW_COPY_TYPES,
  STATUSES,
  STORE_OPERATIONS,
  WORKER_STATES,
} from './label-values.ts';

const TIERS = ['l1', 'l2'];
const RESEED_RESULTS = ['stored', 'kept', 'dropped'] as const;

/** Requests as clients see them. Runs for every L1 hit, so it does a few map look-ups and additions only. */
export function createRequestCounters(registry: Registry, domains: readonly string[]): (event: RequestEvent) => void {
  // `none`: refused before the domain was known.
  const domain = [...domains, 'none'];
  const requests = createCounter({
    registry,
    name: 'serpcache_requests_total',
    help: 'Searches by outcome; every search has exactly one.',
    labels: { domain, outcome: OUTCOMES, route: ['search', 'msearch'] },
    fromZero: true,
  });
  const responses = createCounter({
    registry,
    name: 'serpcache_responses_total',
    help: 'Searches by HTTP status.',
    labels: { status: STATUSES },
    fromZero: false,
  });
  const durations = createHistogram({
    registry,
    name: 'serpcache_request_duration_seconds',
    help: 'Duration of a search, by outcome.',
    labels: { domain, outcome: OUTCOMES },
  });
  return (event) => {
    requests.add(requests.at(event.domain, event.outcome, event.route));
    responses.add(responses.at(String(event.status)));
    durations.observe(durations.at(event.domain, event.outcome), event.durationMs);
  };
}

/** Client connections that were refused or cut. */
export function createConnectionCounters(registry: Registry): (event: ConnectionEvent) => void {
  const connections = createCounter({
    registry,
    name: 'serpcache_client_connections_cut_total',
    help: 'Client connections refused or closed by this process, by reason.',
    labels: { reason: CONNECTION_EVENTS },
    fromZero: true,
  });
  return ({ what }) => connections.add(connections.at(what));
}

/**
 * Bearer tokens that gave no access. The result `ignored` is of the public listener, the others are of the admin
 * listener.
 */
export function createTokenCounters(registry: Registry): (event: TokenEvent) => void {
  const tokens = createCounter({
    registry,
    name: 'serpcache_http_refused_tokens_total',
    help: 'Bearer tokens that gave no access: wrong, not compared (throttled), or sent to the public listener (ignored).',
    labels: { reason: TOKEN_RESULTS },
    fromZero: true,
  });
  return ({ result }) => tokens.add(tokens.at(result));
}

/** Misses and what followed from them. */
export function createSearchCounters(registry: Registry, domain: readonly string[]): (event: SearchEvent) => void {
  const counter = counterFor(registry, domain);
  const misses = counter('misses_total', 'Lookups that missed, by the first reason that applied.', {
    reason: MISS_REASONS,
  });
  const calls = counter('engine_calls_total', 'Engine calls, by result.', { outcome: ENGINE_RESULTS });
  const late = counter('engine_late_replies_total', 'Engine replies that came after the client was answered.', {});
  const durations = createHistogram({
    registry,
    name: 'serpcache_engine_duration_seconds',
    help: 'Duration of an engine call.',
    labels: { domain },
  });
  const stored = counter('stored_total', 'Entries stored.', { tier: TIERS });
  const storedBytes = counter('stored_bytes_total', 'Bytes of entries stored.', { tier: TIERS });
  const notStored = counter('not_stored_total', 'Pages served but not stored, by reason.', {
    tier: TIERS,
    reason: NOT_STORED_REASONS,
  });
  const refreshes = counter('refreshes_total', 'Refreshes of stale entries, by result.', { outcome: REFRESH_RESULTS });
  const leases = counter('leases_total', 'Leases requested and waited for, by result.', { outcome: LEASE_RESULTS });
  const lifeboat = counter('lifeboat_calls_total', 'Searches sent to the lifeboat, by result.', {
    outcome: LIFEBOAT_RESULTS,
  });
  const reseeded = counter('reseeded_total', 'Entries written back to a store node that had lost its data.', {
    outcome: RESEED_RESULTS,
  });
  return (event) => {
    switch (event.kind) {
      case 'miss':
        return misses.add(misses.at(event.domain, event.reason));
      case 'engine':
        calls.add(calls.at(event.domain, event.result));
        durations.observe(durations.at(event.domain), event.durationMs);
        if (event.late) late.add(late.at(event.domain));
        return;
      case 'stored':
        stored.add(stored.at(event.domain, event.tier));
        return storedBytes.add(storedBytes.at(event.domain, event.tier), event.bytes);
      case 'not-stored':
        return notStored.add(notStored.at(event.domain, event.tier, event.why));
      case 'refresh':
        return refreshes.add(refreshes.at(event.domain, event.result));
      case 'lease':
        return leases.add(leases.at(event.domain, event.result));
      case 'lifeboat':
        return lifeboat.add(lifeboat.at(event.domain, event.result));
      case 'reseed':
        for (const outcome of RESEED_RESULTS) reseeded.add(reseeded.at(event.domain, outcome), event[outcome]);
        return;
    }
  };
}

/** The store of each domain. Events are counted for all nodes together; only gauges have a node label. */
export function createStoreCounters(
  registry: Registry,
  domain: readonly string[],
): (domain: string, event: StoreEvent) => void {
  const counter = counterFor(registry, domain);
  const commands = counter('store_commands_total', 'Store commands, by result.', {
    operation: STORE_OPERATIONS,
    outcome: COMMAND_RESULTS,
  });
  const durations = createHistogram({
    registry,
    name: 'serpcache_store_command_duration_seconds',
    help: 'Time until a store command was answered or given up.',
    labels: { domain, operation: STORE_OPERATIONS },
  });
  const late = counter('store_late_replies_total', 'Store replies that came after their deadline.', {
    outcome: ['hit', 'miss'],
  });
  const connections = counter('store_connections_total', 'Connections to store nodes opened, closed and failed.', {
    state: CONNECTION_STATES,
  });
  const topology = counter('store_topology_changes_total', 'Changes in the topology of a store.', {});
  const breakers = counter('store_breaker_transitions_total', 'State changes of the breakers of store nodes.', {
    state: BREAKER_STATES,
  });
  const countPipeline = createPipelineCounters(registry);
  return (name, event) => {
    switch (event.kind) {
      case 'command':
        commands.add(commands.at(name, event.operation, event.result));
        return durations.observe(durations.at(name, event.operation), event.durationMs);
      case 'pipeline':
        return countPipeline(event);
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

/** The window of the quantiles, so that they show recent pipelines. */
const SUMMARY_WINDOW = { maxAgeSeconds: 60, ageBuckets: 4 } as const;

/**
 * Pipelines under the metric names that operators know; `type` is the kind of batch. Observed once per pipeline, so the
 * cost of prom-client's summaries (a few µs) does not matter.
 */
function createPipelineCounters(registry: Registry): (event: Extract<StoreEvent, { kind: 'pipeline' }>) => void {
  const shared = { registers: [registry], labelNames: ['type'] as const };
  const summary = (name: string, help: string): Summary<'type'> =>
    new Summary({ ...shared, ...SUMMARY_WINDOW, percentiles: [0.5, 0.9, 0.99], name, help });
  const sizes = summary('redis_pipeline_batch_size_summary', 'Commands per pipeline, over the last minute.');
  const durations = summary(
    'redis_pipeline_duration_seconds',
    'Time from sending a pipeline to its last reply, over the last minute.',
  );
  // The first name was published without the conventional suffix of counters, so both names are kept.
  const failures = ['redis_pipeline_execution_failures', 'redis_pipeline_execution_failures_total'].map(
    (name) => new Counter({ ...shared, name, help: 'Pipelines in which at least one command failed.' }),
  );
  const replies = createCounter({
    registry,
    name: 'serpcache_store_pipeline_failed_replies_total',
    help: 'Commands that failed inside a pipeline; each one is a separate miss.',
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

/** The guard before the engine of each domain. */
export function createGuardCounters(
  registry: Registry,
  domain: readonly string[],
): (domain: string, event: GuardEvent) => void {
  const counter = counterFor(registry, domain);
  const breakers = counter('engine_breaker_transitions_total', 'State changes of the breaker before the engine.', {
    state: BREAKER_STATES,
  });
  const shed = counter('shed_total', 'Searches refused before the engine, by reason.', {
    reason: Object.keys(SHED_REASONS),
  });
  const waits = createHistogram({
    registry,
    name: 'serpcache_permit_wait_seconds',
    help: 'Time that an admitted search waited for its permit.',
    labels: { domain },
  });
  const failovers = counter('engine_failovers_total', 'Lost connections after which another endpoint was considered.', {
    outcome: FAILOVER_RESULTS,
  });
  return (name, event) => {
    switch (event.kind) {
      case 'breaker':
        return breakers.add(breakers.at(name, event.state));
      case 'retry':
        return failovers.add(failovers.at(name, event.result));
      case 'shed':
        return shed.add(shed.at(name, event.why));
      case 'permit':
        return waits.observe(waits.at(name), event.queuedMs);
    }
  };
}

/** The adapters of engines, beside the searches themselves. */
export function createEngineCounters(
  registry: Registry,
  domain: readonly string[],
): (domain: string, event: EngineEvent) => void {
  const counter = counterFor(registry, domain, 'serpcache_engine_');
  const connections = counter('connections_total', 'Connections to the engine opened, closed, failed and discarded.', {
    state: ENGINE_CONNECTION_STATES,
  });
  const retries = counter('retries_total', 'Second attempts after a part of the engine failed, by result.', {
    outcome: RETRY_RESULTS,
  });
  const relaxed = counter('relaxed_total', 'Searches without results that were repeated with a less strict query.', {
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

/** The control document as this process follows it. */
export function createControlCounters(registry: Registry, domain: readonly string[]): (event: ControlEvent) => void {
  const events = createCounter({
    registry,
    name: 'serpcache_control_events_total',
    help: 'Events of the control document in this process.',
    labels: { domain, event: CONTROL_EVENTS },
    fromZero: false,
  });
  return (event) => events.add(events.at(event.domain, event.kind === 'overlay' ? `drill-${event.state}` : event.kind));
}

/** The counts of popular queries that are shared with the fleet. */
export function createPopularityCounters(
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

/** Copies of store commands to a candidate, and how its values agree with the primary's. Rates and latencies are in reports. */
export function createShadowCounters(registry: Registry, domain: readonly string[]): (event: ShadowEvent) => void {
  const counter = counterFor(registry, domain, 'serpcache_shadow_');
  const copies = counter(
    'copies_total',
    'Copies of reads and writes for the candidate store, by what became of them.',
    {
      type: SHADOW_COPY_TYPES,
      outcome: SHADOW_COPY_RESULTS,
    },
  );
  const compared = counter('compared_total', "Values of the candidate compared with the primary's, by result.", {
    outcome: AGREEMENTS,
  });
  return (event) => {
    switch (event.kind) {
      case 'shadow-copy':
        return copies.add(copies.at(event.domain, event.type, event.result));
      case 'shadow-compared':
        return compared.add(compared.at(event.domain, event.result));
      case 'shadow-changed':
      case 'placement-changed':
      case 'shadow-unwritten':
        return;
    }
  };
}

/** With two labels beside the domain some combinations cannot occur, so those counters start with their first event. */
function counterFor(
  registry: Registry,
  domain: readonly string[],
  prefix = 'serpcache_',
): (name: string, help: string, labels: ClosedLabels) => PlainCounter {
  return (name, help, labels) => {
    const fromZero = Object.keys(labels).length < 2;
    return createCounter({ registry, name: `${prefix}${name}`, help, labels: { domain, ...labels }, fromZero });
  };
}
