import type { Registry } from 'prom-client';
import { MISS_REASONS } from '../cache/events.ts';
import type { ControlEvent } from '../control/control.ts';
import type { EngineEvent } from '../engines/create-engines.ts';
import type { RequestEvent } from '../http/events.ts';
import { CONNECTION_EVENTS, type ConnectionEvent, TOKEN_RESULTS, type TokenEvent } from '../http/transport/events.ts';
import type { PopularityEvent } from '../popularity/shared.ts';
import type { GuardEvent } from '../resilience/guard.ts';
import { reasonsBy } from '../resilience/search-error.ts';
import type { Clock } from '../runtime.ts';
import type { SearchEvent } from '../search/events.ts';
import { OUTCOMES } from '../search/outcome.ts';
import type { TracingEvent } from '../tracing/delivery.ts';
import { counterFor, createCounter, createHistogram, registerSamples } from './family.ts';
import {
  BREAKER_STATES,
  CONTROL_EVENTS,
  ENGINE_CONNECTION_STATES,
  ENGINE_RESULTS,
  FAILOVER_RESULTS,
  LEASE_RESULTS,
  LIFEBOAT_RESULTS,
  NOT_STORED_REASONS,
  REFRESH_RESULTS,
  RETRY_RESULTS,
  STATUSES,
  WORKER_STATES,
} from './label-values.ts';

const TIERS = ['l1', 'l2'];
const RESEED_RESULTS = ['stored', 'kept', 'dropped'] as const;

/** Requests as clients see them. Runs for every L1 hit, so it does a few map look-ups and additions only. */
export function createRequestCounters(
  registry: Registry,
  domains: readonly string[],
  clock: Clock,
): (event: RequestEvent) => void {
  // `none`: refused before the domain was known.
  const domain = [...domains, 'none'];
  const requests = createCounter({
    registry,
    name: 'serpcache_requests_total',
    help: 'Searches by outcome; every search has exactly one. With a page: hit-l1 (memory), hit-l2 (store), stale (an expired page), collapsed (the page of another search for the same key), engine, lifeboat (the fallback engine). Without: shed (refused because of load), failed, rejected (a fault of the client), aborted (the client left).',
    labels: { domain, outcome: OUTCOMES, route: ['search', 'msearch'] },
    fromZero: true,
  });
  const responses = createCounter({
    registry,
    name: 'serpcache_responses_total',
    help: 'Searches by HTTP status; each item of a batch is a search. 499: the client closed the connection before the answer.',
    labels: { status: STATUSES },
    fromZero: false,
  });
  const durations = createHistogram({
    registry,
    name: 'serpcache_request_duration_seconds',
    help: 'Time from receiving a search to its answer, by outcome.',
    labels: { domain, outcome: OUTCOMES },
    clock,
  });
  return (event) => {
    requests.add(requests.at(event.domain, event.outcome, event.route));
    responses.add(responses.at(String(event.status)));
    durations.observe(durations.at(event.domain, event.outcome), event.durationMs, event.traceId);
  };
}

/** Client connections that were refused or cut. */
export function createConnectionCounters(registry: Registry): (event: ConnectionEvent) => void {
  const connections = createCounter({
    registry,
    name: 'serpcache_client_connections_cut_total',
    help: 'Client connections refused or closed because of a limit. refused: above maxConnections. crowded: idle, closed to make room. ran-ahead: too many pipelined requests. held: too many bytes buffered for it. slow: its request took too long. share: its address has too many.',
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
    help: 'Bearer tokens that gave no access. wrong: compared, not equal. throttled: not compared, because the address sent too many wrong ones: somebody guesses. ignored: sent to the public listener, which takes none.',
    labels: { reason: TOKEN_RESULTS },
    fromZero: true,
  });
  return ({ result }) => tokens.add(tokens.at(result));
}

/** Misses and what followed from them. */
export function createSearchCounters(registry: Registry, domain: readonly string[]): (event: SearchEvent) => void {
  const counter = counterFor(registry, domain);
  const misses = counter(
    'misses_total',
    'Searches not answered from the cache, by the first reason that applied. unseen and lapsed are normal; node-open, store-down, store-slow and store-saturated mean a faulty store; flushed and suppressed follow from operators; corrupt, oversized and unsigned mean damaged or foreign entries.',
    {
      reason: MISS_REASONS,
    },
  );
  const calls = counter(
    'engine_calls_total',
    'Calls to the engine, by result. whole, empty and partial are answers; the others failed. Divided by the searches it is the load that the cache does not take away.',
    { outcome: ENGINE_RESULTS },
  );
  const late = counter(
    'engine_late_replies_total',
    'Engine calls that ended after the deadline of the search: it was answered without them. They held a permit all that time.',
    {},
  );
  const durations = createHistogram({
    registry,
    name: 'serpcache_engine_duration_seconds',
    help: 'Duration of a call to the engine, without the wait for its permit. A rising duration comes before failures.',
    labels: { domain },
  });
  const stored = counter(
    'stored_total',
    'Entries written to the tier: l1 is the memory of the process, l2 the store.',
    { tier: TIERS },
  );
  const storedBytes = counter(
    'stored_bytes_total',
    'Bytes of the entries written to the tier, compressed as they are stored.',
    { tier: TIERS },
  );
  const notStored = counter(
    'not_stored_total',
    'Pages answered but not written to the tier. node-open, store-down, store-slow, store-saturated and refused mean a store that takes no writes: these searches will miss again. fenced: another process had the right to write it. degraded: partial pages are not stored.',
    {
      tier: TIERS,
      reason: NOT_STORED_REASONS,
    },
  );
  const refreshes = counter(
    'refreshes_total',
    'Loads in the background for pages that were answered stale. from-store and from-engine renewed the page, leased left it to another process; the others did not, and the page stays stale.',
    { outcome: REFRESH_RESULTS },
  );
  const leases = counter(
    'leases_total',
    'Requests for the lease, the right of one process of the fleet to ask the engine for a key. taken: asked the engine. waited: got the page of another process. open: no lease, because the store failed. crowded: too many searches waited. fenced: lost before the page came. passed: the page cannot be stored. left: the search ended first.',
    { outcome: LEASE_RESULTS },
  );
  const lifeboat = counter(
    'lifeboat_calls_total',
    'Searches sent to the lifeboat, the second engine that answers while the first cannot. Above 0 the first engine is in trouble; shed: the lifeboat is full too.',
    {
      outcome: LIFEBOAT_RESULTS,
    },
  );
  const reseeded = counter(
    'reseeded_total',
    'Entries written back from memory to a store node that had lost its data. kept: the node had the entry again. dropped: given up. Any rise means that a node was restarted or flushed.',
    {
      outcome: RESEED_RESULTS,
    },
  );
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

/** The guard before the engine of each domain. */
export function createGuardCounters(
  registry: Registry,
  domain: readonly string[],
): (domain: string, event: GuardEvent) => void {
  const counter = counterFor(registry, domain);
  const breakers = counter(
    'engine_breaker_transitions_total',
    'State changes of the circuit breakers before the engine endpoints, by new state. open: the endpoint failed too often and is not asked.',
    {
      state: BREAKER_STATES,
    },
  );
  const shed = counter(
    'shed_total',
    'Searches refused before the engine. breaker-open: the engine fails. stalled: calls past their deadline hold all permits. queue-full, queue-expired: more searches than the engine can answer in time.',
    {
      reason: reasonsBy('guard'),
    },
  );
  const waits = createHistogram({
    registry,
    name: 'serpcache_permit_wait_seconds',
    help: 'Time that a search waited for a permit, the right to one of the concurrent engine calls. Rising waits mean that the engine is at its limit; then shed_total rises.',
    labels: { domain },
  });
  const failovers = counter(
    'engine_failovers_total',
    'Engine calls that lost their connection and could go to another endpoint. answered and failed: it was asked. spent: it was not, because the retry budget was used up.',
    {
      outcome: FAILOVER_RESULTS,
    },
  );
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
  const connections = counter(
    'connections_total',
    'Connections to the engine that were opened, closed, not opened (failed), or closed because their state was not certain (discarded).',
    {
      state: ENGINE_CONNECTION_STATES,
    },
  );
  const retries = counter(
    'retries_total',
    'Second attempts after an agent of a distributed index failed, by result. spent: not made, because the retry budget was used up.',
    {
      outcome: RETRY_RESULTS,
    },
  );
  const relaxed = counter(
    'relaxed_total',
    'Searches that found nothing and were repeated with a less strict query: found or nothing.',
    {
      outcome: ['found', 'nothing'],
    },
  );
  const workers = counter(
    'workers_total',
    'Worker threads of embedded engines that became ready, were ended, or crashed.',
    {
      state: WORKER_STATES,
    },
  );
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
    help: 'Events of the control document, which holds the decisions of operators. control-away: its store stopped answering. control-restored: it was lost and written back. control-corrupt, control-unsigned: the stored one is not believed. drill-void: a drill ended because its process is not heard.',
    labels: { domain, event: CONTROL_EVENTS },
    fromZero: false,
  });
  return (event) => events.add(events.at(event.domain, event.kind === 'overlay' ? `drill-${event.state}` : event.kind));
}

/** Spans of traces that left this process. */
export function createTracingCounters(registry: Registry): (event: TracingEvent) => void {
  const spans = createCounter({
    registry,
    name: 'serpcache_spans_total',
    help: 'Finished spans of traces. exported: the collector answered 200; it may still reject some. dropped: not exported, because the collector is away or slow, or too many waited; searches are not affected.',
    labels: { outcome: ['exported', 'dropped'] },
    fromZero: true,
  });
  return ({ outcome, spans: count }) => spans.add(spans.at(outcome), count);
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

/** @param droppedLines the count so far, read at each scrape: the log is older than the metrics. */
export function createLogCounter(registry: Registry, droppedLines: () => number): void {
  const help =
    'Lines of the log that were not written, because the reader of standard output does not read or its disk is full.';
  registerSamples({ registry, name: 'serpcache_log_lines_dropped_total', help, type: 'counter' }, () => [
    { labels: {}, value: droppedLines() },
  ]);
}
