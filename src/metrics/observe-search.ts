import { Gauge, type Registry } from 'prom-client';
import { MISS_REASONS } from '../cache/events.ts';
import type { RequestEvent } from '../http/events.ts';
import { CONNECTION_EVENTS, type ConnectionEvent, TOKEN_RESULTS, type TokenEvent } from '../http/transport/events.ts';
import { OUTCOMES, type SearchEvent } from '../search/events.ts';
import { createCounter, createHistogram } from './family.ts';
import {
  ENGINE_RESULTS,
  LEASE_RESULTS,
  LIFEBOAT_RESULTS,
  NOT_STORED_REASONS,
  REFRESH_RESULTS,
} from './label-values.ts';

const TIERS = ['l1', 'l2'];
const RESEED_RESULTS = ['stored', 'kept', 'dropped'] as const;
const STATUSES = [
  '200',
  '304',
  '400',
  '404',
  '405',
  '406',
  '413',
  '414',
  '415',
  '429',
  '431',
  '499',
  '500',
  '502',
  '503',
  '504',
];

/** Requests as clients saw them. The path of every hit: it must cost next to nothing. */
export function createRequestObserver(registry: Registry, domains: readonly string[]): (event: RequestEvent) => void {
  // `none`: refused before a domain was known.
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
    help: 'Time to answer a search, by outcome.',
    labels: { domain, outcome: OUTCOMES },
  });
  return (event) => {
    requests.add(requests.at(event.domain, event.outcome, event.route));
    responses.add(responses.at(String(event.status)));
    durations.observe(durations.at(event.domain, event.outcome), event.durationMs);
  };
}

/** What the core did about misses. */
export function createSearchObserver(registry: Registry, domain: readonly string[]): (event: SearchEvent) => void {
  const counter = (name: string, help: string, labels: Readonly<Record<string, readonly string[]>>, fromZero = true) =>
    createCounter({ registry, name: `serpcache_${name}`, help, labels: { domain, ...labels }, fromZero });

  const misses = counter('misses_total', 'Lookups that missed, by the first reason that held.', {
    reason: MISS_REASONS,
  });
  const calls = counter('engine_calls_total', 'Engine calls, by how they ended.', { outcome: ENGINE_RESULTS });
  const late = counter('engine_late_replies_total', 'Engine replies after the client had been answered.', {});
  const durations = createHistogram({
    registry,
    name: 'serpcache_engine_duration_seconds',
    help: 'Time an engine call took.',
    labels: { domain },
  });
  const stored = counter('stored_total', 'Entries stored.', { tier: TIERS });
  const storedBytes = counter('stored_bytes_total', 'Bytes of entries stored.', { tier: TIERS });
  const notStored = counter(
    'not_stored_total',
    'Pages served and not stored, and why.',
    { tier: TIERS, reason: NOT_STORED_REASONS },
    false,
  );
  const refreshes = counter('refreshes_total', 'Refreshes of stale entries, by how they ended.', {
    outcome: REFRESH_RESULTS,
  });
  const leases = counter('leases_total', 'Leases asked for and waited for, by how that ended.', {
    outcome: LEASE_RESULTS,
  });
  const lifeboat = counter('lifeboat_calls_total', 'Searches the lifeboat was asked, by how they ended.', {
    outcome: LIFEBOAT_RESULTS,
  });
  const reseeded = counter('reseeded_total', 'Entries written back to a store node that had lost its own.', {
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

/** How near the process is to its own bounds, as the public listener sees it. */
export interface DoorStatus {
  readonly inFlight: number;
  readonly maxInFlight: number;
  readonly loopDelayMs: number;
  readonly state: 'ok' | 'degraded' | 'down';
}

const STATES = { ok: 0, degraded: 1, down: 2 } as const;

/** Connections that never got as far as a search. */
export function createConnectionObserver(registry: Registry): (event: ConnectionEvent) => void {
  const connections = createCounter({
    registry,
    name: 'serpcache_client_connections_cut_total',
    help: 'Client connections refused or closed by us, and why.',
    labels: { reason: CONNECTION_EVENTS },
    fromZero: true,
  });
  return ({ what }) => connections.add(connections.at(what));
}

/** Bearers that let nobody in. The listener is told by the result: the public one ignores them all. */
export function createTokenObserver(registry: Registry): (event: TokenEvent) => void {
  const tokens = createCounter({
    registry,
    name: 'serpcache_http_refused_tokens_total',
    help: 'Bearer tokens that let nobody in: wrong, not looked at (throttled), or sent to the public listener (ignored).',
    labels: { reason: TOKEN_RESULTS },
    fromZero: true,
  });
  return ({ result }) => tokens.add(tokens.at(result));
}

export function createDoorGauges(registry: Registry): (status: DoorStatus) => void {
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers: [registry] });
  const state = gauge('serpcache_door_state', 'State of the door: 0 ok, 1 near its bounds, 2 shedding.');
  const inFlight = gauge('serpcache_in_flight', 'Searches that wait for a store or an engine.');
  const maxInFlight = gauge('serpcache_in_flight_max', 'Most that may; more are shed.');
  const loopDelay = gauge('serpcache_door_loop_delay_seconds', 'Delay of the event loop, as the door sees it.');
  return (status) => {
    state.set(STATES[status.state]);
    inFlight.set(status.inFlight);
    maxInFlight.set(status.maxInFlight);
    loopDelay.set(status.loopDelayMs / 1000);
  };
}
