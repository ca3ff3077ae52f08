import type { DomainStatus } from '../search/status.ts';

export type ReadinessState = 'ready' | 'degraded' | 'down' | 'draining';

export interface Readiness {
  readonly httpStatus: 200 | 503;
  readonly body: { readonly status: ReadinessState; readonly domains: readonly object[] };
}

/**
 * Ready while searches can be answered: a lost store costs speed, not answers, so it is `degraded` and still 200.
 * 503 takes a process out of its balancer, which helps only when it can answer nothing, or is about to end.
 * Nodes are counted, not named: this listener is public; `/admin/domains` names them.
 */
export function readiness(domains: readonly DomainStatus[], draining: boolean): Readiness {
  const status = stateOf(domains, draining);
  return {
    httpStatus: status === 'ready' || status === 'degraded' ? 200 : 503,
    body: { status, domains: domains.map(part) },
  };
}

function stateOf(domains: readonly DomainStatus[], draining: boolean): ReadinessState {
  if (draining) return 'draining';
  if (domains.every(({ state }) => state === 'down')) return 'down';
  return domains.every(({ state }) => state === 'ok') ? 'ready' : 'degraded';
}

function part({ domain, state, memory, store, engine, flights }: DomainStatus): object {
  const { state: engineState, kind, breaker, reachable, inFlight, queued } = engine;
  return {
    domain,
    state,
    memory: { entries: memory.entries, bytes: memory.bytes, maxBytes: memory.maxBytes },
    ...(store === undefined ? {} : { store: storePart(store) }),
    engine: { state: engineState, kind, breaker, reachable, inFlight, queued },
    flights,
  };
}

function storePart({ state, nodes }: NonNullable<DomainStatus['store']>): object {
  const breakers: Record<string, number> = {};
  for (const { breaker } of nodes) breakers[breaker] = (breakers[breaker] ?? 0) + 1;
  return { state, nodes: nodes.length, connected: nodes.filter(({ connected }) => connected).length, breakers };
}
