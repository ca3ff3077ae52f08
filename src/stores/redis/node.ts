import type { Redis } from 'ioredis';
import type { StoreFault } from '../../cache/events.ts';
import type { StoreEvent, StoreLocation, StoreNode, StoreRead } from '../../cache/store.ts';
import type { Clock } from '../../runtime.ts';
import { createNodeBreaker, type NodeBreaker, type Pass } from './node-breaker.ts';

/** One server as the store sees it: its connection, what is outstanding there, its breaker. */
export interface RedisNode {
  /** `host:port`. */
  readonly address: string;
  readonly redis: Redis;
  readonly clock: Clock;
  readonly observe: (event: StoreEvent) => void;
  /** Leave to send one read, to be booked once; or the fault that is its answer, the first that holds. */
  readonly admitRead: () => Pass | StoreFault;
  /** As `admitRead`; writes leave half the room to reads, and never probe a node that was given up. */
  readonly admitWrite: (bytes: number) => Pass | StoreFault;
  /** Names a bulk read may send now: single reads keep half the room. */
  readonly bulkRoom: () => number;
  readonly book: NodeBreaker['book'];
  /** Called when commands are sent (+) and when ioredis has settled them (−), whoever still waits. */
  readonly count: (commands: number, bytes?: number) => void;
  /** Before a command is sent: those of one turn of the event loop leave in one write. */
  readonly gather: () => void;
  /** The node of that address, if the store knows it: where a redirect leads. */
  readonly peer: (address: string) => RedisNode | undefined;
  /** The map of slots may be out of date. Cheap: refreshes are throttled. */
  readonly remap: (why: string) => void;
  /** What came on the connection cannot be an answer to what was asked: it ends, and with it all it carries. */
  readonly distrust: (why: string) => void;
  /** Its connection ended for that already. */
  readonly garbled: () => void;
  /** A new connection is ready. */
  readonly revive: () => void;
  /** The store no longer uses it: who counts open breakers must not count this one for ever. */
  readonly retire: () => void;
  readonly view: () => StoreNode;
}

export interface RedisNodeOptions
  extends Pick<RedisNode, 'address' | 'redis' | 'clock' | 'observe' | 'peer' | 'remap'> {
  readonly random: () => number;
  /** False keeps a connection unused though it is open. */
  readonly usable?: () => boolean;
  readonly maxOutstanding: number;
  /** So long without any answer while some are awaited, and the connection is given up. */
  readonly stuckMs: number;
}

/** A node that stops reading holds what is written to it until its socket is reaped: 5,000 writes/s of 4 KB are 60 MB. */
const MAX_OUTSTANDING_WRITE_BYTES = 32 * 1024 * 1024;

export function createRedisNode(options: RedisNodeOptions): RedisNode {
  const { address, redis, clock, maxOutstanding, stuckMs, observe, remap } = options;
  let outstanding = 0;
  /** When the last command was answered, or the first one sent after a rest. */
  let movedMs = 0;
  let writeBytes = 0;
  let gathering: Redis['stream'] | undefined;
  let retired = false;
  const connected = (): boolean => redis.status === 'ready' && (options.usable?.() ?? true);
  const half = Math.ceil(maxOutstanding / 2);

  const breaker = createNodeBreaker({
    clock,
    random: options.random,
    onState: (state) => {
      if (retired) return;
      observe({ kind: 'breaker', node: address, state });
      // It may have lost its slots to a replica.
      if (state === 'open') remap(`${address} was given up`);
    },
  });

  /** Faults in the order of their precedence; `max` is the caller's part of the room. */
  const admit = (max: number, tooLarge: boolean): Pass | StoreFault => {
    if (breaker.refuses()) return 'node-open';
    if (!connected()) {
      remap(`${address} is not connected`);
      return 'store-down';
    }
    if (outstanding >= max || tooLarge) return 'store-saturated';
    return breaker.enter() ?? 'node-open';
  };

  const distrust = (why: string): void => {
    redis.stream?.destroy(new Error(why));
    breaker.trip();
  };

  return {
    ...options,
    distrust,
    garbled: breaker.trip,
    admitRead: () => admit(maxOutstanding, false),
    admitWrite: (bytes) =>
      breaker.state() === 'closed' ? admit(half, writeBytes + bytes > MAX_OUTSTANDING_WRITE_BYTES) : 'node-open',
    bulkRoom: () => Math.max(0, half - outstanding),
    book(pass, outcome) {
      breaker.book(pass, outcome);
      // ioredis reaps a connection on which nothing comes. After a damaged length everything that comes, replies to
      // probes too, is taken for the rest of one endless reply: only that nothing is answered tells.
      if (outcome === 'failed' && outstanding > 0 && clock.monotonicMs() - movedMs > stuckMs) {
        distrust(`nothing was answered for ${stuckMs} ms`);
      }
    },
    count(commands, bytes = 0) {
      if (commands < 0 || outstanding === 0) movedMs = clock.monotonicMs();
      outstanding += commands;
      writeBytes += bytes;
    },
    gather() {
      const { stream } = redis;
      if (gathering === stream) return;
      gathering = stream;
      stream.cork();
      // After the poll phase: by then every request this turn brought has sent its read.
      setImmediate(() => {
        if (gathering === stream) gathering = undefined;
        stream.uncork();
      });
    },
    revive: breaker.revive,
    retire() {
      if (breaker.state() !== 'closed') observe({ kind: 'breaker', node: address, state: 'closed' });
      retired = true;
    },
    view: () => ({
      node: address,
      breaker: breaker.state(),
      connected: connected(),
      outstanding,
    }),
  };
}

/** One object per fault: a refusal allocates nothing. */
export const FAULTS: Readonly<Record<StoreFault, Extract<StoreRead, { readonly kind: 'fault' }>>> = {
  'node-open': { kind: 'fault', fault: 'node-open' },
  'store-down': { kind: 'fault', fault: 'store-down' },
  'store-saturated': { kind: 'fault', fault: 'store-saturated' },
  'store-slow': { kind: 'fault', fault: 'store-slow' },
};

/** Which nodes there are and which of them owns a name, whatever kind of deployment stands behind it. */
export interface Topology {
  /** Undefined when no node is known for it. */
  readonly ownerOf: (name: string) => RedisNode | undefined;
  readonly locate: (name: string) => StoreLocation;
  readonly nodes: () => readonly RedisNode[];
  /** Those of `nodes` that own names. */
  readonly owners: () => readonly RedisNode[];
  /** What events call a node that is not known (yet). */
  readonly unplaced: string;
  /** A name had no owner. */
  readonly remap: (why: string) => void;
  /** Ends timers and connections at once; what is in flight fails. */
  readonly close: () => void;
}

/** What a topology needs beside its settings. */
export interface TopologyParts {
  readonly name: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: (event: StoreEvent) => void;
}
