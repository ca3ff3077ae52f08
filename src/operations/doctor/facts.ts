import Type, { type TProperties } from 'typebox';
import type { FeedStatus } from '../../changes/feed.ts';
import type { Decoded } from '../../schema/fields.ts';
import type { DomainStatus } from '../../search/status.ts';
import type { DomainCounts } from '../meter/meter.ts';

/**
 * The figures that the doctor collects, as plain JSON: sent, kept in a bundle, joined with the part of another host, and
 * judged anywhere. They hold no secret and no text of a query; names of keys are removed by `redacted`.
 */

/** A figure, or the reason why it is missing: a refused command, a missing program, an unreachable server. */
export type Figure<T> = { readonly known: T } | { readonly skipped: string };

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
    /** Host names (not addresses) of the configured nodes. */
    readonly names: readonly string[];
  };
  /** Skipped: no node told the others. */
  readonly nodes: Figure<readonly NodeFacts[]>;
}

export interface NodeFacts {
  /** `host:port`. */
  readonly address: string;
  readonly role: 'master' | 'replica' | 'sentinel';
  /** The fields of INFO (default sections, `commandstats`, `errorstats`), without paths. Skipped: the node did not answer. */
  readonly info: Figure<Readonly<Record<string, string>>>;
  /** Round trips of PING, one after another, in milliseconds. */
  readonly rtt: Figure<readonly number[]>;
  /** Clock of the server minus the clock of this process, in milliseconds (TIME). */
  readonly clockOffsetMs: Figure<number>;
  // From here on skipped with the reason `cheap` in a cheap snapshot.
  /** The directives of `CONFIG_NAMES` (collect/store.ts). */
  readonly config: Figure<Readonly<Record<string, string>>>;
  readonly slowlog: Figure<readonly SlowEntry[]>;
  /** LATENCY LATEST. */
  readonly latency: Figure<readonly LatencyEvent[]>;
  /** MEMORY DOCTOR. */
  readonly memoryAdvice: Figure<string>;
  readonly clients: Figure<ClientsFacts>;
  /** Sampled on masters only. */
  readonly keys: Figure<KeysFacts>;
  /** CLUSTER INFO as fields. Skipped outside a cluster. */
  readonly cluster: Figure<Readonly<Record<string, string>>>;
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
  /** Largest output buffer (omem), in bytes, and its client. */
  readonly largestOutput: {
    readonly bytes: number;
    readonly client: string;
    readonly kind: 'normal' | 'replica' | 'pubsub';
  };
  /** By remote address (without the port) and connection name, most connections first, at most 10. `young`: under 10 s old. */
  readonly top: readonly {
    readonly address: string;
    readonly name: string;
    readonly count: number;
    readonly young: number;
  }[];
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
  readonly status: Figure<Readonly<Record<string, string>>>;
  /** Version from the handshake, or of the embedded engine. */
  readonly version: Figure<string>;
  /** Time of the round trip of SHOW STATUS, in milliseconds. */
  readonly rttMs: Figure<number>;
  /** SHOW INDEX … STATUS (Manticore: SHOW TABLE … STATUS) as fields. */
  readonly indexStatus: Figure<Readonly<Record<string, string>>>;
  /** Remote agents with their counters since the start of the server, from SHOW STATUS. Empty: the index is local. */
  readonly agents: Figure<
    readonly {
      readonly agent: string;
      readonly failures: number;
      readonly timeouts: number;
      readonly queries: number;
    }[]
  >;
  /** SHOW THREADS in figures: threads that work on a query, the doctor's own left out. */
  readonly threads: Figure<{ readonly count: number; readonly longestMs: number }>;
  /** Since the build of an embedded index (`file`), or since the last reading with other figures, or since the first reading. */
  readonly indexAge: Figure<{ readonly seconds: number; readonly from: 'file' | 'change' | 'first-seen' }>;
  /** max_children, max_connections or max_threads of the server, when the server tells it (SHOW SETTINGS). */
  readonly maxConnections: Figure<number>;
}

// --- hosts ------------------------------------------------------------------------------------------------------------

const FIGURE = Type.Number({ minimum: 0 });
const TEXT = Type.String({ maxLength: 1024 });
const MAX_ITEMS = 1000;

function listOf<Members extends TProperties>(members: Members) {
  return Type.Array(Type.Object(members), { maxItems: MAX_ITEMS });
}

/** The figures of a host, as a part of another host must have them. */
export const HOST_FIGURES = {
  /** Pages swapped in and out since boot. */
  memory: Type.Object({ swappedIn: FIGURE, swappedOut: FIGURE }),
  /** `tc -s -d qdisc show`, and `tc -s -d class show` for htb. */
  qdiscs: listOf({
    device: TEXT,
    /** `tbf`, `htb`, `netem`, `fq_codel` … */
    kind: TEXT,
    /** `1:`, or `1:10` for a class. */
    handle: TEXT,
    /** `root`, or the handle of a class. */
    parent: TEXT,
    /** Bits per second; the ceiling of a class of htb. */
    rateBits: Type.Optional(FIGURE),
    /** The rate of a class of htb below its ceiling. */
    guaranteedBits: Type.Optional(FIGURE),
    burstBytes: Type.Optional(FIGURE),
    sentBytes: FIGURE,
    dropped: FIGURE,
    overlimits: FIGURE,
  }),
  /** Latency of this host itself: how late a timer of 1 ms fires beyond the event loop of a quiet thread, in milliseconds. */
  intrinsic: Type.Object({ medianMs: FIGURE, maxMs: FIGURE, samples: FIGURE }),
  dns: listOf({
    name: TEXT,
    /** Time of one look-up as a connection makes it (getaddrinfo), in milliseconds. Absent: it failed. */
    lookupMs: Type.Optional(FIGURE),
    problem: Type.Optional(TEXT),
    addresses: Type.Array(TEXT, { maxItems: MAX_ITEMS }),
  }),
  /** Store and engine servers that run here. */
  servers: listOf({
    /** `redis-server`, `valkey-server`, `keydb-server`, `searchd`. */
    program: TEXT,
    pid: FIGURE,
    /** Port, when the process tells it. */
    port: Type.Optional(FIGURE),
    /** Known of a searchd whose configuration is readable: max_children, and the age of the newest header file of each index. */
    maxChildren: Type.Optional(FIGURE),
    indexAgeSeconds: Type.Optional(Type.Record(Type.String(), FIGURE)),
  }),
};

type HostFigures = { readonly [Name in keyof typeof HOST_FIGURES]: Figure<Decoded<(typeof HOST_FIGURES)[Name]>> };

export interface HostFacts extends HostFigures {
  readonly name: string;
  /** `service`: the collecting process runs here. `part`: made by `doctor --host`. */
  readonly role: 'service' | 'part';
  /** Addresses of its interfaces, loopback included: which servers run here. */
  readonly addresses: readonly string[];
  readonly wallMs: number;
}

export type QdiscFacts = Decoded<typeof HOST_FIGURES.qdiscs>[number];
export type DnsFacts = Decoded<typeof HOST_FIGURES.dns>[number];
export type ServerFacts = Decoded<typeof HOST_FIGURES.servers>[number];

// --- serpcache itself -------------------------------------------------------------------------------------------------

/** One process. */
export interface ServiceFacts {
  readonly processId: string;
  /** Delay of the event loop as admission measures it. */
  readonly loop: { readonly delayMs: number };
  readonly domains: readonly DomainFacts[];
  /** All processes that share a control store, this one included. */
  readonly fleet: Figure<readonly FleetProcess[]>;
}

export interface FleetProcess {
  readonly id: string;
  /** Digest of the configuration without addresses of listeners, secrets and paths. */
  readonly configuration: string;
}

/** Counters are since the start of the process. */
export interface DomainFacts extends DomainCounts {
  readonly domain: string;
  readonly settings: {
    readonly ttlMs: number;
    readonly engineMaxConcurrent: number;
    readonly storeDeadlineMs?: number;
  };
  /** Absent: the domain has no feed of changes. */
  readonly feed?: FeedStatus | undefined;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly engine: Pick<DomainStatus['engine'], 'queued' | 'inFlight' | 'maxConcurrent' | 'ceiling'>;
}

/** Undefined for a figure that is missing. */
export function known<T>(figure: Figure<T> | undefined): T | undefined {
  return figure !== undefined && 'known' in figure ? figure.known : undefined;
}
