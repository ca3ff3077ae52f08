import type { DomainLook } from '../../src/operations/operations.ts';

const MIB = 1024 * 1024;

/** A domain with a store of three nodes and an engine with two endpoints, as a real one shows itself. */
export function dressLook(look: DomainLook): DomainLook {
  const { figures, status } = look;
  return {
    ...look,
    status: {
      ...status,
      memory: {
        entries: 18_240,
        bytes: 171 * MIB,
        maxBytes: 256 * MIB,
        emptyEntries: 312,
        emptyBytes: MIB,
        emptyMaxBytes: 8 * MIB,
        evictions: 40_112,
      },
      store: {
        state: 'ok',
        nodes: [1, 2, 3].map((n) => ({
          node: `redis-${n}:6379`,
          breaker: 'closed',
          connected: true,
          outstanding: n - 1,
        })),
      },
      engine: {
        ...status.engine,
        kind: 'sphinx',
        inFlight: figures?.engineInFlight ?? 0,
        queued: figures?.engineQueued ?? 0,
        maxConcurrent: figures?.engineMax ?? 8,
        ceiling: 8,
        endpoints: ['sphinx-a:9306', 'sphinx-b:9306'].map((name) => ({
          name,
          breaker: 'closed',
          reachable: true,
          inFlight: 1,
        })),
      },
      processes: 3,
    },
  };
}
