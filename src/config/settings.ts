import type { Coding } from '../cache/coding.ts';
import type { Attribute, ContextParameter } from '../search/domain.ts';

/** The configuration as the rooms see it: defaults applied, units in the names, nothing optional left open. */
export interface Settings {
  readonly public: {
    readonly host: string;
    readonly port: number;
    /** Longest request target accepted, in bytes. */
    readonly maxUrlBytes: number;
    readonly maxBodyBytes: number;
    readonly maxConnections: number;
    /** From SIGTERM: how long requests in flight may take before their connections are cut. */
    readonly drainMs: number;
  };
  readonly admin: { readonly host: string; readonly port: number; readonly token?: string };
  readonly log: { readonly level: LogLevel /** 0–1: share of hits that get a line. */; readonly hitSample: number };
  readonly memory: { readonly maxBytes: number };
  readonly compression: {
    readonly coding: Coding /** Smaller bodies are stored as they are. */;
    readonly minBytes: number;
  };
  readonly domains: readonly DomainSettings[];
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

export interface DomainSettings {
  readonly name: string;
  readonly attributes: readonly Attribute[];
  readonly context: readonly ContextParameter[];
  /** This domain's part of `memory.maxBytes`. */
  readonly memory: {
    readonly maxBytes: number /** Part of it kept for pages without results. */;
    readonly emptyMaxBytes: number;
  };
  readonly store: StoreSettings;
  readonly engine: EngineSettings;
  readonly freshness: FreshnessSettings;
  /** Larger entries are served, not stored, and counted. */
  readonly maxEntryBytes: number;
}

export interface FreshnessSettings {
  readonly ttlMs: number;
  readonly staleWhileRevalidateMs: number;
  readonly staleIfErrorMs: number;
  readonly emptyTtlMs: number;
  readonly degradedTtlMs: number;
  /** `max-age` sent downstream: what a purge removed must not live on there. */
  readonly clientMaxAgeMs: number;
  /** 0–0.5: each lifetime is spread by ± this share. */
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

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

export interface StoreConnection {
  readonly username?: string;
  readonly password?: string;
  readonly tls?: TlsSettings;
  /** The application deadline of one read: past it the read is abandoned, the connection kept. */
  readonly deadlineMs: number;
  readonly connectTimeoutMs: number;
  /** Reaps real black holes; must outlast the worst honest stall. */
  readonly socketTimeoutMs: number;
  /** Per node: past it a read is a miss at once and a write is dropped. */
  readonly maxOutstanding: number;
  /** Names per pipeline of `readMany`, 50–200 by measurement. */
  readonly batchSize: number;
  /** Between topology refreshes of a cluster (each opens a connection), jittered. */
  readonly refreshMs: number;
}

export interface TlsSettings {
  /** PEM text, read from the configured files at start. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly serverName?: string;
  readonly rejectUnauthorized: boolean;
}

export interface EngineLimits {
  /** Answers the client. */
  readonly deadlineMs: number;
  /** Ends the query itself; nothing cancels a query in searchd. */
  readonly hardDeadlineMs: number;
  readonly maxConcurrent: number;
  readonly maxQueued: number;
  readonly snippetLength: number;
}

export type EngineSettings =
  | ({
      readonly kind: 'sqlite' /** Directory of `<domain>.sqlite`. */;
      readonly directory: string;
      readonly workers: number /** Make the demo catalogue when the file is missing. */;
      readonly demo: boolean;
    } & EngineLimits)
  | ({
      readonly kind: 'sphinx' | 'manticore';
      readonly host: string;
      readonly port: number;
      readonly index: string;
      readonly ranker: string;
      readonly user?: string;
      readonly password?: string /** Attribute that holds the document's own id; absent: the engine's numeric id. */;
      readonly idAttribute?: string;
      readonly connectTimeoutMs: number /** Most results reachable by paging. */;
      readonly maxMatches: number;
    } & EngineLimits);
