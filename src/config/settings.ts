import { isIPv4, isIPv6 } from 'node:net';
import type { Coding } from '../cache/entry.ts';
import type { Attribute, ContextParameter } from '../search/domain.ts';
import type { Path } from './faults.ts';
import type { HostPort } from './fields.ts';
import type { Config, Draft } from './schema.ts';

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
    /** Searches waiting for L2 or an engine at once; more are shed at the door, hits in L1 are not. */
    readonly maxInFlight: number;
    /** While the event loop is later than this, what is not in L1 is shed at the door. */
    readonly maxLoopDelayMs: number;
    /** Addresses and networks (CIDR) whose X-Forwarded-For is believed. */
    readonly trustedProxies: readonly string[];
    /** Absent: clients are told apart by their address alone. Lower case. */
    readonly clientHeader?: string;
    /** Absent: no client is refused for its misses. */
    readonly missBudget?: MissBudgetSettings;
  };
  readonly admin: {
    readonly host: string;
    readonly port: number;
    readonly token?: string;
    readonly tls?: ListenerTlsSettings;
    /** Names that may stand in Host beside addresses and localhost. */
    readonly hosts: readonly string[];
  };
  readonly log: { readonly level: LogLevel /** 0–1: share of hits that get a line. */; readonly hitSample: number };
  readonly memory: { readonly maxBytes: number };
  readonly compression: {
    readonly coding: Coding /** Smaller bodies are stored as they are. */;
    readonly minBytes: number;
  };
  /** Of all domains' control documents; `none`: each in its domain's own store. */
  readonly control: StoreSettings;
  /** Of the searches all processes count; `none`: in `control`, and without that nowhere. */
  readonly counters: StoreSettings;
  /** Absent: nothing is signed, and whoever can write to a store is believed within bounds. */
  readonly signing?: SigningSettings;
  readonly drills: {
    readonly directory: string;
    /** Reports. */
    readonly keep: number;
    readonly leaseMs: number;
  };
  /** Beside the file that is written, `keep` full ones of `maxBytes`. */
  readonly audit: { readonly file: string; readonly maxBytes: number; readonly keep: number };
  readonly domains: readonly DomainSettings[];
}

/** What one client may cost the engines. Hits, stale pages and pages others wait for as well are free. */
export interface MissBudgetSettings {
  /** In the long run. */
  readonly perMinute: number;
  /** Saved up by a client that was quiet, and what a new one begins with. */
  readonly burst: number;
  /** Clients remembered; the longest quiet one is forgotten. */
  readonly maxClients: number;
}

export interface SigningSettings {
  /** Signs and verifies. */
  readonly key: string;
  /** Verifies only. */
  readonly previousKey?: string;
  /** False: what carries no signature is believed too. */
  readonly required: boolean;
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
  /** The longest that a client waits in all; at least the engine's deadline. */
  readonly patienceMs: number;
  readonly freshness: FreshnessSettings;
  /** Larger entries are served, not stored, and counted; a larger value in the store is a miss. */
  readonly maxEntryBytes: number;
  /** Searches of this process that may wait for another process's page. */
  readonly maxLeaseWaiters: number;
  /** Queries whose popularity is tracked, and how fast it is forgotten. */
  readonly popularity: { readonly maxQueries: number; readonly halfLifeMs: number };
  /** Entries a second written back to a store node that lost its own. */
  readonly reseedPerSecond: number;
  /** Answers, labelled as degraded, when the engine cannot. */
  readonly lifeboat?: LifeboatSettings;
  /** Defences left out, to measure what each is worth. Empty in production. */
  readonly without: readonly Defence[];
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

export interface FreshnessSettings {
  readonly ttlMs: number;
  readonly staleWhileRevalidateMs: number;
  readonly staleIfErrorMs: number;
  readonly emptyTtlMs: number;
  readonly degradedTtlMs: number;
  /** `max-age` − `Age` sent downstream: what a purge removed must not live on there. */
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
  /** Nothing else lives on these servers: whole nodes may be emptied. */
  readonly dedicated: boolean;
}

/** Of a client. PEM texts, read from the configured files at start. */
interface ClientTlsSettings {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly serverName?: string;
}

export interface TlsSettings extends ClientTlsSettings {
  readonly rejectUnauthorized: boolean;
}

/** A server that cannot be verified is never asked. */
export interface EngineTlsSettings extends ClientTlsSettings {
  /** Where TLS begins: within the MySQL handshake, or before it. */
  readonly mode: 'mysql' | 'tunnel';
}

/** PEM texts. */
export interface ListenerTlsSettings {
  readonly cert: string;
  readonly key: string;
}

export interface EngineLimits {
  /** Answers the client. */
  readonly deadlineMs: number;
  /** Ends the query itself; nothing cancels a query in searchd. */
  readonly hardDeadlineMs: number;
  /** Of the whole fleet: each process may use its share. */
  readonly maxConcurrent: number;
  /** How the limit below that is found. */
  readonly limit: 'gradient' | 'aimd' | 'fixed';
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
      /** The same index on each; at least one. */
      readonly endpoints: readonly [HostPort, ...HostPort[]];
      readonly index: string;
      readonly ranker: string;
      readonly user?: string;
      readonly password?: string;
      readonly tls?: EngineTlsSettings /** Attribute that holds the document's own id; absent: the engine's numeric id. */;
      readonly idAttribute?: string;
      readonly connectTimeoutMs: number /** Most results reachable by paging. */;
      readonly maxMatches: number;
    } & EngineLimits);

/** An IP address, alone or with the length of its prefix. An IPv4 address is written as one: mapped ones are not taken. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  if (rest.length > 0) return false;
  const bits = isIPv4(address) ? 32 : isPlainIPv6(address) ? 128 : undefined;
  if (bits === undefined) return false;
  return prefix === undefined || (/^(?:0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= bits);
}

function isPlainIPv6(address: string): boolean {
  return isIPv6(address) && !address.includes('%') && !/^(?:::|(?:0+:){5})ffff:/i.test(address);
}

/** Whether only this machine reaches a listener bound to it. */
export function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || /^127(\.[0-9]{1,3}){3}$/.test(address);
}

export type DraftStore = NonNullable<Draft<Config['domains'][string]['store']>>;

/** One store the configuration names, and where. */
export interface NamedStore {
  readonly path: Path;
  /** A domain's name, or `control`, `counters` in words. */
  readonly owner: string;
  readonly store: Exclude<DraftStore, { readonly kind: 'none' }>;
}

/** Every store that is to be connected to: the domains' own, and those of the process. */
export function namedStores(config: Draft<Config>): readonly NamedStore[] {
  const all = [
    ...Object.entries(config.domains ?? {}).map(([name, domain]) => ({
      path: ['domains', name, 'store'],
      owner: name,
      store: domain?.store,
    })),
    { path: ['control'], owner: 'control', store: config.control },
    { path: ['counters'], owner: 'counters', store: config.counters },
  ];
  return all.flatMap(({ path, owner, store }) =>
    store === undefined || store.kind === 'none' ? [] : [{ path, owner, store }],
  );
}
