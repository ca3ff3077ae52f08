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
  const limit = (
    name: string,
    unit: LimitUnit,
    [used, capacity, planned]: readonly [number, number, number],
    advice: string,
  ): CapacityLimit => ({ name, unit, used, capacity, planned, advice });
  const grows = (...given: Parameters<typeof limit>): CapacityLimit => {
    const made = limit(...given);
    return { ...made, breaksAt: breakingRate.of({ rate, used: made.used, capacity: made.capacity }) };
  };
  const limits: CapacityLimit[] = [];
  if (engineCapacity !== undefined) {
    const advice = 'a longer ttl or more memory for a higher hit ratio, or a further mirror of the engine';
    limits.push(grows('engine', 'per-second', [q.engineLoad, engineCapacity, PLANNED.engine], advice));
  }
  if (q.permitsUsed !== undefined) {
    const advice = 'raise engine.maxConcurrent while the engine has free processors; else a further mirror';
    limits.push(grows('engine permits', 'count', [q.permitsUsed, permits, PLANNED.engine], advice));
  }
  limits.push(
    grows(
      'processor of a process',
      'cores',
      [q.cores / carrying, Math.min(1, processors), PLANNED.process],
      'more processes (--replicas)',
    ),
    grows(
      'network of a process',
      'bytes-per-second',
      [q.bytesToClients / carrying, networkBytes, PLANNED.network],
      'more processes on further hosts, smaller pages, or a faster network',
    ),
    grows(
      'network of a shard',
      'bytes-per-second',
      [q.bytesFromStore / q.shards, networkBytes, PLANNED.network],
      'more shards on further hosts, a larger L1, or smaller pages',
    ),
    grows(
      'processor of a shard',
      'cores',
      [q.coresOfStore / q.shards, 1, PLANNED.shard],
      'more shards, or a larger L1',
    ),
    // With known keys the memory follows their number, which a higher rate does not change.
    (keys === undefined ? grows : limit)(
      'memory of a shard',
      'bytes',
      [q.storedBytes / q.shards, shardBytes, PLANNED.memory],
      'more shards, more memory for each, or a shorter staleIfError, which keeps pages of rare searches',
    ),
    limit(
      'processes while one is away',
      'count',
      [1, q.processes - 1, 1],
      'a second process: nothing answers while the only one is away',
    ),
    limit(
      'connections of a shard',
      'count',
      [q.connections, maxConnections, PLANNED.connections],
      'fewer and larger processes, or a higher maxclients',
    ),
  );
  return limits;
}

/** The limit that is reached at the lowest rate. */
export function firstToBreak(limits: readonly CapacityLimit[]): CapacityLimit | undefined {
  const growing = limits.filter(({ breaksAt }) => breaksAt !== undefined);
  return growing.toSorted((a, b) => (a.breaksAt ?? 0) - (b.breaksAt ?? 0))[0];
}
