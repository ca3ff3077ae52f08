import { breakingRate } from './formulas.ts';
import type { Known, Quantities } from './quantities.ts';

export type LimitUnit = 'per-second' | 'count' | 'cores' | 'bytes' | 'bytes-per-second';

/** A resource that can be full. */
export interface CapacityLimit {
  readonly name: string;
  readonly unit: LimitUnit;
  readonly used: number;
  readonly capacity: number;
  /** Share of the capacity that a plan may use; the rest is for bursts and growth. */
  readonly planned: number;
  /** The rate of searches at which it is full; absent when it does not follow the rate. */
  readonly breaksAt?: number;
  /** A change that gives more of it. */
  readonly advice: string;
}

/** The alerts of deploy/prometheus fire at these shares of the engine's permits and of an event loop. */
const PLANNED = { engine: 0.8, process: 0.85, network: 0.85, shard: 0.8, memory: 0.9, connections: 0.8 } as const;

/** Every resource at the planned rate, while one process is away. */
export function limitsOf(known: Known, q: Quantities): readonly CapacityLimit[] {
  const { rate, engineCapacity, permits, processors, networkBytes, shardBytes, maxConnections, keys } = known;
  const carrying = Math.max(1, q.processes - 1);
  const grows = (limit: Omit<CapacityLimit, 'breaksAt'>): CapacityLimit => {
    return { ...limit, breaksAt: breakingRate.of({ rate, used: limit.used, capacity: limit.capacity }) };
  };
  const shardMemory = {
    name: 'memory of a shard',
    unit: 'bytes',
    used: q.storedBytes / q.shards,
    capacity: shardBytes,
    planned: PLANNED.memory,
    advice: 'more shards, more memory for each, or a shorter staleIfError, which keeps pages of rare searches',
  } as const;
  return [
    ...(engineCapacity === undefined
      ? []
      : [
          grows({
            name: 'engine',
            unit: 'per-second',
            used: q.engineLoad,
            capacity: engineCapacity,
            planned: PLANNED.engine,
            advice: 'a longer ttl or more memory for a higher hit ratio, or a further mirror of the engine',
          }),
        ]),
    ...(q.permitsUsed === undefined
      ? []
      : [
          grows({
            name: 'engine permits',
            unit: 'count',
            used: q.permitsUsed,
            capacity: permits,
            planned: PLANNED.engine,
            advice: 'raise engine.maxConcurrent while the engine has free processors; else a further mirror',
          }),
        ]),
    grows({
      name: 'processor of a process',
      unit: 'cores',
      used: q.cores / carrying,
      capacity: Math.min(1, processors),
      planned: PLANNED.process,
      advice: 'more processes (--replicas)',
    }),
    grows({
      name: 'network of a process',
      unit: 'bytes-per-second',
      used: q.bytesToClients / carrying,
      capacity: networkBytes,
      planned: PLANNED.network,
      advice: 'more processes on further hosts, smaller pages, or a faster network',
    }),
    grows({
      name: 'network of a shard',
      unit: 'bytes-per-second',
      used: q.bytesFromStore / q.shards,
      capacity: networkBytes,
      planned: PLANNED.network,
      advice: 'more shards on further hosts, a larger L1, or smaller pages',
    }),
    grows({
      name: 'processor of a shard',
      unit: 'cores',
      used: q.coresOfStore / q.shards,
      capacity: 1,
      planned: PLANNED.shard,
      advice: 'more shards, or a larger L1',
    }),
    // With known keys the memory follows their number, which a higher rate does not change.
    keys === undefined ? grows(shardMemory) : shardMemory,
    {
      name: 'processes while one is away',
      unit: 'count',
      used: 1,
      capacity: q.processes - 1,
      planned: 1,
      advice: 'a second process: nothing answers while the only one is away',
    },
    {
      name: 'connections of a shard',
      unit: 'count',
      used: q.connections,
      capacity: maxConnections,
      planned: PLANNED.connections,
      advice: 'fewer and larger processes, or a higher maxclients',
    },
  ];
}

/** The limit that is reached at the lowest rate. */
export function firstToBreak(limits: readonly CapacityLimit[]): CapacityLimit | undefined {
  const growing = limits.filter(({ breaksAt }) => breaksAt !== undefined);
  return growing.toSorted((a, b) => (a.breaksAt ?? 0) - (b.breaksAt ?? 0))[0];
}
