import type { Coding } from '../cache/entry.ts';
import type { Attribute, ContextParameter } from '../search/domain.ts';
import type { HostPort } from './fields.ts';

/** The configuration as the code uses it: defaults applied, units in the names. */
export interface Settings {
  readonly public: {
    readonly host: string;
    readonly port: number;
    /** Maximum length of a request target, in bytes. */
    readonly maxUrlBytes: number;
    readonly maxBodyBytes: number;
    readonly maxConnections: number;
    /** Time from SIGTERM in which requests in flight may finish before their connections are cut. */
    readonly drainMs: number;
    /**
     * Maximum number of searches that wait for L2 or an engine. Further ones are shed on arrival; L1 hits are served.
     */
    readonly maxInFlight: number;
    /** While the event loop is delayed by more than this, searches that are not in L1 are shed on arrival. */
    readonly maxLoopDelayMs: number;
    /** Addresses and networks (CIDR) whose X-Forwarded-For is trusted. */
    readonly trustedProxies: readonly string[];
    /** Lower case. Absent: the address identifies a client. */
    readonly clientHeader?: string;
    /** Absent: no client is refused for its misses. */
    readonly missBudget?: MissBudgetSettings;
  };
  readonly admin: {
    readonly host: string;
    readonly port: number;
    readonly token?: string;
    readonly tls?: ListenerTlsSettings;
    /** Names allowed in Host, in addition to addresses and localhost. */
    readonly hosts: readonly string[];
  };
  readonly log: {
    readonly level: LogLevel;
    /** Share of hits that get a line, 0–1. */
    readonly hitSample: number;
  };
  readonly memory: { readonly maxBytes: number };
  readonly compression: {
    readonly coding: Coding;
    /** Smaller bodies are stored uncompressed. */
    readonly minBytes: number;
  };
  /** The store of all control documents; with `none`, each is in the store of its domain. */
  readonly control: StoreSettings;
  /** The store of the query counts of all processes; with `none`, they are in `control`, or nowhere without it. */
  readonly counters: StoreSettings;
  /** Absent: nothing is signed, and values of any writer to a store are accepted within bounds. */
  readonly signing?: SigningSettings;
  readonly drills: {
    readonly directory: string;
    /** Number of reports kept. */
    readonly keep: number;
    readonly leaseMs: number;
  };
  /** In addition to the current file, `keep` renamed files of `maxBytes` are kept. */
  readonly audit: { readonly file: string; readonly maxBytes: number; readonly keep: number };
  readonly domains: readonly DomainSettings[];
}

/** Engine calls that one client may cause. Hits, stale pages and pages that another search is loading are free. */
interface MissBudgetSettings {
  /** The average rate. */
  readonly perMinute: number;
  /** The maximum that an inactive client accumulates, and the budget of a new one. */
  readonly burst: number;
  /** Maximum number of clients remembered; the least recently active one is forgotten. */
  readonly maxClients: number;
}

interface SigningSettings {
  /** Signs and verifies. */
  readonly key: string;
  /** Verifies only. */
  readonly previousKey?: string;
  /** False: values without a signature are accepted. */
  readonly required: boolean;
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

export interface DomainSettings {
  readonly name: string;
  readonly attributes: readonly Attribute[];
  readonly context: readonly ContextParameter[];
  /** This domain's share of `memory.maxBytes`. */
  readonly memory: {
    readonly maxBytes: number;
    /** Part of it reserved for pages without results. */
    readonly emptyMaxBytes: number;
  };
  readonly store: StoreSettings;
  readonly engine: EngineSettings;
  /** Maximum time that a client waits in all; at least the engine's deadline. */
  readonly patienceMs: number;
  readonly freshness: FreshnessSettings;
  /** A larger entry is served, counted and not stored; a larger value in the store is a miss. */
  readonly maxEntryBytes: number;
  /** Maximum number of searches of this process that wait for another process's page. */
  readonly maxLeaseWaiters: number;
  /** Number of queries whose popularity is tracked, and the half-life of the counts. */
  readonly popularity: { readonly maxQueries: number; readonly halfLifeMs: number };
  /** Entries per second written back to a store node that lost its data. */
  readonly reseedPerSecond: number;
  /** Answers when the engine cannot; its pages are marked as degraded. */
  readonly lifeboat?: LifeboatSettings;
  /** Defences that are turned off, to measure the effect of each. Empty in production. */
  readonly disabledDefences: readonly Defence[];
}

export const DEFENCES = [
  'coalescing',
  'lease',
  'stale',
  'limit',
  'shedding',
  'breaker',
  'ramp',
  'refresh',
  'reseed',
  'late-pages',
] as const;

export type Defence = (typeof DEFENCES)[number];

/** The embedded index of the same catalogue, in `<directory>/<domain>.sqlite`. */
export interface LifeboatSettings {
  readonly directory: string;
  readonly workers: number;
  readonly deadlineMs: number;
  readonly maxQueued: number;
}

interface FreshnessSettings {
  readonly ttlMs: number;
  readonly staleWhileRevalidateMs: number;
  readonly staleIfErrorMs: number;
  readonly emptyTtlMs: number;
  readonly degradedTtlMs: number;
  /** Upper bound of `max-age` − `Age` in answers: the time that caches downstream keep a purged page. */
  readonly clientMaxAgeMs: number;
  /** The fresh time of each page is varied at random by ± this share, 0–0.5. */
  readonly jitter: number;
}

export type StoreSettings =
  | { readonly kind: 'none' }
  | ({ readonly kind: 'standalone'; readonly nodes: readonly [HostPort]; readonly database: number } & StoreConnection)
  | ({
      readonly kind: 'sentinel';
      readonly sentinels: readonly HostPort[];
      readonly master: string;
      readonly sentinelUsername?: string;
      readonly sentinelPassword?: string;
      readonly database: number;
    } & StoreConnection)
  | ({ readonly kind: 'cluster'; readonly nodes: readonly HostPort[] } & StoreConnection);

export interface StoreConnection {
  readonly username?: string;
  readonly password?: string;
  readonly tls?: TlsSettings;
  /** Maximum time of a read. After it the read is abandoned and the connection kept. */
  readonly deadlineMs: number;
  readonly connectTimeoutMs: number;
  /** A connection without a byte for this time is closed; longer than any real stall of the server. */
  readonly socketTimeoutMs: number;
  /** Maximum number of commands in flight per node. Beyond it a read is a miss at once and a write is dropped. */
  readonly maxOutstanding: number;
  /** Number of names per pipeline of `readMany`; 50–200 measured best. */
  readonly batchSize: number;
  /** Interval, with jitter, between topology refreshes of a cluster; each opens a connection. */
  readonly refreshMs: number;
  /** These servers hold nothing else: whole nodes may be emptied. */
  readonly dedicated: boolean;
}

/** The TLS settings of a client. PEM texts, read from the configured files at start. */
interface ClientTlsSettings {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly serverName?: string;
}

export interface TlsSettings extends ClientTlsSettings {
  readonly rejectUnauthorized: boolean;
}

/** A server that cannot be verified gets no query. */
export interface EngineTlsSettings extends ClientTlsSettings {
  /** Where TLS starts: inside the MySQL handshake, or before it. */
  readonly mode: 'mysql' | 'tunnel';
}

/** PEM texts. */
interface ListenerTlsSettings {
  readonly cert: string;
  readonly key: string;
}

interface EngineLimits {
  /** Time until the client is answered. */
  readonly deadlineMs: number;
  /** Time until the query itself ends; nothing cancels a query in searchd before. */
  readonly hardDeadlineMs: number;
  /** Maximum of the whole fleet; each process uses its share. */
  readonly maxConcurrent: number;
  /** The algorithm of the concurrency limit below `maxConcurrent`. */
  readonly limit: 'gradient' | 'aimd' | 'fixed';
  readonly maxQueued: number;
  readonly snippetLength: number;
}

export type EngineSettings =
  | ({
      readonly kind: 'sqlite';
      /** Directory of `<domain>.sqlite`. */
      readonly directory: string;
      readonly workers: number;
      /** Build the demo index when the file is missing. */
      readonly demo: boolean;
    } & EngineLimits)
  | ({
      readonly kind: 'sphinx' | 'manticore';
      /** Servers with the same index; at least one. */
      readonly endpoints: readonly [HostPort, ...HostPort[]];
      readonly index: string;
      readonly ranker: string;
      readonly user?: string;
      readonly password?: string;
      readonly tls?: EngineTlsSettings;
      /** Attribute that holds the document's id; absent: the engine's numeric id. */
      readonly idAttribute?: string;
      readonly connectTimeoutMs: number;
      /** Maximum number of results reachable by paging. */
      readonly maxMatches: number;
    } & EngineLimits);
