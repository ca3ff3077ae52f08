import type { Registry } from 'prom-client';
import { MISS_REASONS } from '../cache/reason.ts';
import type { RequestEvent } from '../http/events.ts';
import type { SearchEvent } from '../search/events.ts';
import { OUTCOMES } from '../search/outcome.ts';
import { createCounter } from './counter.ts';
import { createHistogram } from './histogram.ts';
import { ENGINE_RESULTS, LEASE_RESULTS, LIFEBOAT_RESULTS, NOT_STORED_REASONS, REFRESH_RESULTS } from './words.ts';

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
