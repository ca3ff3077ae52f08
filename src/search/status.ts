import type { MemoryTier, MemoryUsage } from '../cache/memory.ts';
import type { Store, StoreNode } from '../cache/store.ts';
import type { Guard } from '../resilience/guard.ts';
import type { EngineHealth } from './engine-health.ts';

/** The state of each part of one domain: what /readyz, /admin/domains and the gauges show. */
export interface DomainStatus {
  readonly domain: string;
  /** `degraded`: answers, but a part is missing. `down`: only what L1 holds can be answered. */
  readonly state: PartState;
  readonly memory: MemoryUsage;
  readonly store?: { readonly state: PartState; readonly nodes: readonly StoreNode[] };
  readonly engine: {
    readonly state: PartState;
    readonly kind: string;
    readonly breaker: 'closed' | 'open' | 'half-open';
    /** By a probe of its own every few seconds. */
    readonly reachable: boolean;
    readonly inFlight: number;
    readonly queued: number;
    readonly maxConcurrent: number;
  };
  /** Distinct keys being computed now. */
  readonly flights: number;
}

export type PartState = 'ok' | 'degraded' | 'down';

export interface StatusParts {
  readonly domain: string;
  readonly engineKind: string;
  readonly memory: MemoryTier;
  readonly store?: Store;
  readonly guard: Pick<Guard, 'breaker' | 'permit'>;
  readonly health: Pick<EngineHealth, 'reachable' | 'failing'>;
  readonly flights: () => number;
}

export function statusOf({ domain, engineKind, memory, store, guard, health, flights }: StatusParts): DomainStatus {
  const breaker = guard.breaker.state();
  const reachable = health.reachable();
  const engine: PartState =
    breaker === 'open' || !reachable ? 'down' : breaker === 'closed' && !health.failing() ? 'ok' : 'degraded';
  const nodes = store?.nodes() ?? [];
  const storeState = stateOfNodes(nodes);
  return {
    domain,
    state: domainState(engine, store === undefined ? undefined : storeState),
    memory: memory.usage(),
    ...(store === undefined ? {} : { store: { state: storeState, nodes } }),
    engine: {
      state: engine,
      kind: engineKind,
      breaker,
      reachable,
      inFlight: guard.permit.inFlight(),
      queued: guard.permit.queued(),
      maxConcurrent: guard.permit.max(),
    },
    flights: flights(),
  };
}

function domainState(engine: PartState, store: PartState | undefined): PartState {
  if (engine === 'down' && (store === undefined || store === 'down')) return 'down';
  return engine === 'ok' && (store === undefined || store === 'ok') ? 'ok' : 'degraded';
}

function stateOfNodes(nodes: readonly StoreNode[]): PartState {
  const up = nodes.filter((node) => node.connected && node.breaker !== 'open').length;
  if (up === 0) return 'down';
  return up === nodes.length ? 'ok' : 'degraded';
}
