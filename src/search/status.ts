import type { ControlStanding } from '../cache/invalidation.ts';
import type { MemoryTier } from '../cache/memory.ts';
import type { Store, StoreNode, StoreReason } from '../cache/store.ts';
import type { EngineHealth } from '../resilience/engine-health.ts';
import type { Guard } from '../resilience/guard.ts';

/** The state of each part of one domain, for /readyz, /admin/domains and the gauges. */
export type DomainStatus = ReturnType<typeof statusOf>;

/** `degraded`: answers, but a part is missing. `down`: of a domain, only pages in L1 can be answered. */
type PartState = 'ok' | 'degraded' | 'down';

export interface StatusParts {
  readonly domain: string;
  readonly engineKind: string;
  readonly memory: MemoryTier;
  readonly store?: Store;
  readonly guard: Pick<Guard, 'failing'> & {
    readonly balancer: Pick<Guard['balancer'], 'state' | 'refuses' | 'list'>;
    readonly limiter: Pick<Guard['limiter'], 'inFlight' | 'queued' | 'max' | 'overdue' | 'overloaded'>;
  };
  readonly forcedOpen: () => boolean;
  readonly ceiling: () => number;
  readonly health: Pick<EngineHealth, 'reachable'>;
  readonly lifeboat?: StatusParts['guard'];
  readonly controlStanding: () => ControlStanding;
  readonly processes: () => number;
  readonly leaseWaiters: () => number;
  readonly loads: () => number;
}

export function statusOf(parts: StatusParts) {
  const { domain, engineKind, memory, store, guard, health, lifeboat, loads } = parts;
  const breaker = guard.balancer.state();
  const forcedOpen = parts.forcedOpen();
  const controlStanding = parts.controlStanding();
  const probed = health.reachable();
  const reachable = probed.includes(true);
  const overdue = guard.limiter.overdue();
  const endpoints = guard.balancer.list().map((endpoint, i) => ({ ...endpoint, reachable: probed[i] ?? false }));
  const isWhole = endpoints.every((endpoint) => endpoint.breaker === 'closed' && endpoint.reachable);
  const engine: PartState =
    breaker === 'open' || !reachable ? 'down' : isWhole && overdue === 0 && !guard.failing() ? 'ok' : 'degraded';
  const nodes = store?.nodes() ?? [];
  const storeState = stateOfNodes(nodes);
  return {
    domain,
    state: domainState(
      engine,
      store === undefined ? undefined : storeState,
      lifeboat?.balancer.refuses() === false,
      controlStanding,
    ),
    memory: memory.usage(),
    /** `reasons`: why it is not `ok`, those of its nodes and of the search for them. */
    store: store && { state: storeState, nodes, reasons: reasonsOf(store, nodes, storeState) },
    engine: {
      state: engine,
      kind: engineKind,
      breaker: forcedOpen ? 'open' : breaker,
      /** A drill is simulating an engine outage: the breaker counts as open. It makes no process unready. */
      forcedOpen,
      /** At least one endpoint answered its last health probe; each is probed every few seconds, or more often. */
      reachable,
      endpoints,
      inFlight: guard.limiter.inFlight(),
      queued: guard.limiter.queued(),
      /** Concurrent calls this process may make now: its share of the fleet's permits, or less while the engine is slow. */
      maxConcurrent: guard.limiter.max(),
      /** This process's share: the configured number, divided by the number of live processes. */
      ceiling: parts.ceiling(),
      /** Permits held for longer than any call may take: 0 unless something is wrong. */
      overdue,
      /** Waits have been too long for some time: the queue serves the newest search first and sheds older ones. */
      overloaded: guard.limiter.overloaded(),
    },
    lifeboat: lifeboat && {
      breaker: lifeboat.balancer.state(),
      inFlight: lifeboat.limiter.inFlight(),
      queued: lifeboat.limiter.queued(),
    },
    /** The state of the control document: with `unheard` and `corrupt`, flushes and suppressions are unknown or old. */
    controlStanding,
    /** Processes that share this domain's store, as last counted. */
    processes: parts.processes(),
    /** Searches of this process that wait for a page of another process. */
    leaseWaiters: parts.leaseWaiters(),
    /** Number of running loads, one per key. */
    loads: loads(),
  };
}

function domainState(
  engine: PartState,
  store: PartState | undefined,
  hasLifeboat: boolean,
  control: ControlStanding,
): PartState {
  if (engine === 'down' && !hasLifeboat && (store === undefined || store === 'down')) return 'down';
  const isWhole = engine === 'ok' && (store === undefined || store === 'ok');
  // `away` does not degrade: while the control store restarts, the process follows the last known document.
  return isWhole && control !== 'corrupt' && control !== 'unheard' ? 'ok' : 'degraded';
}

function stateOfNodes(nodes: readonly StoreNode[]): PartState {
  const up = nodes.filter((node) => node.connected && node.breaker !== 'open').length;
  if (up === 0) return 'down';
  // A read-only node still serves its entries, and loses each new one.
  return up === nodes.length && nodes.every(({ trouble }) => trouble !== 'read-only') ? 'ok' : 'degraded';
}

function reasonsOf(store: Store, nodes: readonly StoreNode[], state: PartState): readonly StoreReason[] {
  if (state === 'ok') return [];
  return [...new Set([store.trouble(), ...nodes.map(({ trouble }) => trouble)].flatMap((reason) => reason ?? []))];
}
