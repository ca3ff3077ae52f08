/**
 * The figures that the doctor collects, as plain JSON: sent, kept in a bundle, joined with the part of another host, and
 * judged anywhere. They hold no secret and no text of a query; names of keys are removed by `redacted`.
 */

/** A figure, or the reason why it is missing: a refused command, a missing program, an unreachable server. */
export type Part<T> = { readonly known: T } | { readonly skipped: string };

/** Everything at one moment. Counters are since the start of their server, kernel or process. */
export interface Snapshot {
  /** Monotonic clock of the process that collects. */
  readonly atMs: number;
  readonly wallMs: number;
  readonly depth: 'cheap' | 'full';
  /** Longest delay of the collector's own event loop meanwhile; absent in a cheap snapshot. */
  readonly loopMaxMs?: number;
  readonly stores: readonly StoreFacts[];
  readonly engines: readonly EngineFacts[];
  /** The host of the collecting process first, then the parts of other hosts. */
  readonly hosts: readonly HostFacts[];
  /** Absent: the doctor looked without a running service. */
  readonly service?: ServiceFacts;
}

// --- stores -----------------------------------------------------------------------------------------------------------

export interface StoreFacts {
  /** `store of goods`, `candidate valkey of goods`, `control store`, `counter store`. */
  readonly name: string;
  /** The domains whose entries are here; empty for the control and the counter store. */
  readonly domains: readonly string[];
  readonly kind: 'cluster' | 'sentinel' | 'standalone';
  /** Keeps entries that can be computed again: persistence and replicas have no use for it. */
  readonly isCache: boolean;
  readonly settings: {
    /** Deadline of a read. */
    readonly deadlineMs: number;
    readonly connectTimeoutMs: number;
    readonly socketTimeoutMs: number;
    readonly maxOutstanding: number;
    readonly batchSize: number;
    readonly dedicated: boolean;
    readonly tls: boolean;
    /** Host names (not addresses) of the configured nodes. */
    readonly names: readonly string[];
  };
  /** Skipped: no node told the others. */
  readonly nodes: Part<readonly NodeFacts[]>;
}

export interface NodeFacts {
  /** `host:port`. */
  readonly address: string;
  readonly role: 'master' | 'replica' | 'sentinel';
  /** The fields of INFO (default sections, `commandstats`, `errorstats`), without paths. Skipped: the node did not answer. */
  readonly info: Part<Readonly<Record<string, string>>>;
  /** Round trips of PING, one after another, in milliseconds. */
  readonly rtt: Part<readonly number[]>;
  /** Clock of the server minus the clock of this process, in milliseconds (TIME). */
  readonly clockOffsetMs: Part<number>;
  // From here on skipped with the reason `cheap` in a cheap snapshot.
  /** The directives of `CONFIG_NAMES` (collect/store.ts). */
  readonly config: Part<Readonly<Record<string, string>>>;
  readonly slowlog: Part<readonly SlowEntry[]>;
  /** LATENCY LATEST. */
  readonly latency: Part<readonly LatencyEvent[]>;
  /** MEMORY STATS as flat numbers, `db.0.overhead.hashtable.main` and so on. */
  readonly memory: Part<Readonly<Record<string, number>>>;
  /** MEMORY DOCTOR. */
  readonly memoryAdvice: Part<string>;
  readonly clients: Part<ClientsFacts>;
  /** Sampled on masters only. */
  readonly keys: Part<KeysFacts>;
  /** CLUSTER INFO as fields, and the number of slots of this node, when a node told it. Skipped outside a cluster. */
  readonly cluster: Part<{ readonly fields: Readonly<Record<string, string>>; readonly slots?: number }>;
}

/** One line of SLOWLOG, without the arguments of the command. */
export interface SlowEntry {
  readonly id: number;
  /** Seconds since the epoch, by the server's clock. */
  readonly atSeconds: number;
  readonly micros: number;
  readonly command: string;
  /** Name of the client's connection, or its address. */
  readonly client: string;
}

export interface LatencyEvent {
  readonly event: string;
  /** Seconds since the epoch, by the server's clock. */
  readonly atSeconds: number;
  readonly latestMs: number;
  readonly maxMs: number;
}

/** CLIENT LIST in figures, taken only below 5,000 clients. Connections of the doctor are left out. */
export interface ClientsFacts {
  readonly count: number;
  /** Connections younger than ten seconds. */
  readonly young: number;
  readonly idleSecondsMedian: number;
  readonly blocked: number;
  /** Largest output buffer (omem), in bytes, and its client. */
  readonly largestOutput: {
    readonly bytes: number;
    readonly client: string;
    readonly kind: 'normal' | 'replica' | 'pubsub';
  };
  /** By remote address (without the port) and connection name, most connections first, at most 10. */
  readonly top: readonly {
    readonly address: string;
    readonly name: string;
    readonly count: number;
    readonly young: number;
  }[];
  /** Numbers of databases in use by clients. */
  readonly databases: readonly number[];
}

/** A sample of the keys, by SCAN within a budget. */
export interface KeysFacts {
  readonly sampled: number;
  /** Keys seen by all samples of this pass over the node, this one included; `total` when a pass has ended. */
  readonly seen: number;
  /** DBSIZE. */
  readonly total: number;
  /**
   * Count of sampled values by size (MEMORY USAGE, STRLEN where it is refused). Each is counted once, at the smallest bound
   * that it does not exceed; those above the last bound are in none. One bound is 102,400.
   */
  readonly sizes: readonly { readonly maxBytes: number; readonly count: number }[];
  /** Largest first, at most 5. */
  readonly biggest: readonly KeyFacts[];
  /** Collections with the most members, at most 5. */
  readonly longest: readonly (KeyFacts & { readonly members: number })[];
  /** Sampled keys under serpcache's prefix, and those of them without an expiry. */
  readonly ours: number;
  readonly oursWithoutExpiry: number;
  /** Sampled keys that belong to no serpcache. */
  readonly foreign: number;
}

export interface KeyFacts {
  readonly name: string;
  readonly type: string;
  readonly bytes: number;
}

// --- engines ----------------------------------------------------------------------------------------------------------

export interface EngineFacts {
  /** `engine of goods`. */
  readonly name: string;
  readonly domains: readonly string[];
  readonly kind: 'sphinx' | 'manticore' | 'sqlite';
  /** `host:port`, or `embedded`. */
  readonly endpoint: string;
  readonly index: string;
  /** The same for each of the domains. */
  readonly settings: {
    readonly maxConcurrent: number;
    readonly deadlineMs: number;
    readonly hardDeadlineMs: number;
    /** Host name of the endpoint when it is no address. */
    readonly hostName?: string;
  };
  /** SHOW STATUS without the counters of agents, values as the server writes them. No answer: skipped, like the version. */
  readonly status: Part<Readonly<Record<string, string>>>;
  /** Version from the handshake, or of the embedded engine. */
  readonly version: Part<string>;
  /** Time of the round trip of SHOW STATUS, in milliseconds. */
  readonly rttMs: Part<number>;
  /** SHOW INDEX … STATUS (Manticore: SHOW TABLE … STATUS) as fields. */
  readonly indexStatus: Part<Readonly<Record<string, string>>>;
  /** Remote agents with their counters since the start of the server, from SHOW STATUS. Empty: the index is local. */
  readonly agents: Part<
    readonly {
      readonly agent: string;
      readonly failures: number;
      readonly timeouts: number;
      readonly queries: number;
    }[]
  >;
  /** SHOW THREADS in figures: threads that work on a query, the doctor's own left out. */
  readonly threads: Part<{ readonly count: number; readonly longestMs: number }>;
  /** Since the build of an embedded index (`file`), or since the last reading with other figures, or since the first reading. */
  readonly indexAge: Part<{ readonly seconds: number; readonly from: 'file' | 'change' | 'first-seen' }>;
  /** max_children, max_connections or max_threads of the server, when the server tells it (SHOW SETTINGS). */
  readonly maxConnections: Part<number>;
}

// --- hosts ------------------------------------------------------------------------------------------------------------

export interface HostFacts {
  readonly name: string;
  /** `service`: the collecting process runs here. `part`: made by `doctor --host`. */
  readonly role: 'service' | 'part';
  /** Addresses of its interfaces, loopback included: which servers run here. */
  readonly addresses: readonly string[];
  readonly wallMs: number;
  readonly cores: number;
  /** All cores together, since boot. */
  readonly cpu: Part<{ readonly busySeconds: number; readonly idleSeconds: number; readonly stolenSeconds: number }>;
  /** cgroup v2 `cpu.stat` of the process, or v1. */
  readonly throttling: Part<{
    readonly periods: number;
    readonly throttled: number;
    readonly throttledSeconds: number;
    readonly limitCores: number;
  }>;
  readonly memory: Part<{
    readonly totalBytes: number;
    readonly availableBytes: number;
    readonly swapTotalBytes: number;
    readonly swapFreeBytes: number;
    /** Pages swapped in and out since boot. */
    readonly swappedIn: number;
    readonly swappedOut: number;
  }>;
  readonly tcp: Part<{
    readonly segmentsOut: number;
    readonly retransmits: number;
    readonly listenOverflows: number;
    readonly listenDrops: number;
    readonly timeouts: number;
  }>;
  /** Interfaces that are up, loopback included. `speedMbit` is absent where the kernel does not know it. */
  readonly interfaces: Part<readonly InterfaceFacts[]>;
  /** `tc -s -d qdisc show`, and `tc -s -d class show` for htb. */
  readonly qdiscs: Part<readonly QdiscFacts[]>;
  /** Queues of established TCP sockets from /proc/net/tcp, summed by remote `host:port`, fullest first, at most 20. */
  readonly sockets: Part<
    readonly {
      readonly remote: string;
      readonly count: number;
      readonly sendBytes: number;
      readonly receiveBytes: number;
    }[]
  >;
  /** Those of the collecting process. */
  readonly descriptors: Part<{ readonly open: number; readonly limit: number }>;
  /** Kernel settings by their names in /proc/sys, and `transparent_hugepage` with its chosen word. */
  readonly kernel: Part<Readonly<Record<string, string>>>;
  /** Latency of this host itself: how late a timer of 1 ms fires beyond the event loop of a quiet thread, in milliseconds. */
  readonly intrinsic: Part<{ readonly medianMs: number; readonly maxMs: number; readonly samples: number }>;
  readonly dns: Part<readonly DnsFacts[]>;
  /** Store and engine servers that run here. */
  readonly servers: Part<readonly ServerFacts[]>;
}

export interface InterfaceFacts {
  readonly name: string;
  readonly speedMbit?: number;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  readonly dropped: number;
}

export interface QdiscFacts {
  readonly device: string;
  /** `tbf`, `htb`, `netem`, `fq_codel` … */
  readonly kind: string;
  /** `1:`, or `1:10` for a class. */
  readonly handle: string;
  /** `root`, or the handle of a class. */
  readonly parent: string;
  /** Bits per second; the ceiling of a class of htb. */
  readonly rateBits?: number;
  /** The rate of a class of htb below its ceiling. */
  readonly guaranteedBits?: number;
  readonly burstBytes?: number;
  readonly limitBytes?: number;
  readonly latencyMs?: number;
  readonly sentBytes: number;
  readonly sentPackets: number;
  readonly dropped: number;
  readonly overlimits: number;
  readonly backlogBytes: number;
}

export interface DnsFacts {
  readonly name: string;
  /** Time of one look-up as a connection makes it (getaddrinfo), in milliseconds. Absent: it failed. */
  readonly lookupMs?: number;
  readonly problem?: string;
  readonly addresses: readonly string[];
  /** TTL of the A or AAAA record, when a DNS server told it. */
  readonly ttlSeconds?: number;
}

export interface ServerFacts {
  /** `redis-server`, `valkey-server`, `keydb-server`, `searchd`. */
  readonly program: string;
  readonly pid: number;
  /** Port, when the process tells it. */
  readonly port?: number;
  readonly openFiles?: number;
  readonly maxOpenFiles?: number;
  /** Known of a searchd whose configuration is readable: max_children, and the age of the newest header file of each index. */
  readonly maxChildren?: number;
  readonly indexAgeSeconds?: Readonly<Record<string, number>>;
}

// --- serpcache itself -------------------------------------------------------------------------------------------------

/** One process. */
export interface ServiceFacts {
  readonly processId: string;
  readonly version: string;
  readonly uptimeSeconds: number;
  /** Delay of the event loop as admission measures it, and the delay above which only pages in memory are answered. */
  readonly loop: { readonly delayMs: number; readonly maxDelayMs: number; readonly utilisation: number };
  /** CPU time of this process, in seconds. */
  readonly cpuSeconds: number;
  readonly rssBytes: number;
  readonly domains: readonly DomainFacts[];
  /** All processes that share a control store, this one included. */
  readonly fleet: Part<readonly FleetProcess[]>;
}

export interface FleetProcess {
  readonly id: string;
  /** Digest of the configuration without addresses of listeners, secrets and paths. */
  readonly configuration: string;
  readonly version: string;
  /** Its clock minus the clock of `clockServer`, a server of a store, in milliseconds. */
  readonly clockOffsetMs?: number;
  readonly clockServer?: string;
}

/** Counters are since the start of the process. */
export interface DomainFacts {
  readonly domain: string;
  readonly settings: {
    readonly patienceMs: number;
    readonly ttlMs: number;
    readonly staleMs: number;
    readonly maxEntryBytes: number;
    readonly engineMaxConcurrent: number;
    readonly engineDeadlineMs: number;
    readonly storeDeadlineMs?: number;
  };
  readonly outcomes: Readonly<Record<string, number>>;
  /** Searches by duration: bounds are DURATION_BOUNDS_MS of the meter. */
  readonly durations: readonly number[];
  readonly engine: {
    readonly calls: number;
    readonly failed: number;
    readonly busyMs: number;
    readonly queued: number;
    readonly inFlight: number;
    readonly maxConcurrent: number;
    readonly ceiling: number;
  };
  /** Engine replies that came after the client had been answered. */
  readonly lateReplies?: number;
  /** Breakers that opened, of the engine and of store nodes. */
  readonly engineOpenings: number;
  readonly storeOpenings: number;
  /** Breakers that are not closed now, by `host:port`; `embedded` for an embedded engine. */
  readonly openBreakers?: { readonly engine: readonly string[]; readonly store: readonly string[] };
  /** Refused before the engine, by reason. */
  readonly shed: Readonly<Record<string, number>>;
  /** Time in the queue for a permit: count, sum. */
  readonly permits: { readonly count: number; readonly waitedMs: number };
  /** Reads of the store by result (`value`, `absent`, `store-slow` …), and by duration with the same bounds. */
  readonly reads: Readonly<Record<string, number>>;
  readonly readDurations: readonly number[];
  /** Misses by reason. */
  readonly misses: Readonly<Record<string, number>>;
  /** Pages that were not stored, by reason. */
  readonly notStored: Readonly<Record<string, number>>;
  /** Pages stored in L2: count, bytes, and the number above 100 KiB. */
  readonly pages: {
    readonly count: number;
    readonly bytes: number;
    readonly big: number;
    readonly largestBytes: number;
  };
  readonly memory: {
    readonly entries: number;
    readonly bytes: number;
    readonly maxBytes: number;
    readonly evictions: number;
    /** Misses of L1 for keys that it evicted lately. */
    readonly ghostHits: number;
  };
  readonly controlStanding: string;
}

/** Undefined for a figure that is missing. */
export function known<T>(part: Part<T>): T | undefined {
  return 'known' in part ? part.known : undefined;
}

/** `Part` of a value, or of the reason why there is none. */
export function partOf<T>(value: T | undefined, reason: string): Part<T> {
  return value === undefined ? { skipped: reason } : { known: value };
}
