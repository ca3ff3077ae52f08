import type { SigningKeys } from '../cache/signing.ts';
import type { Address, HostPort } from '../schema/units.ts';
import type { Attribute, ContextParameter } from '../search/domain.ts';
import type { Config, DomainConfig } from './schema.ts';
import type { TlsFiles } from './tls.ts';
import type { TracingSettings } from './tracing.ts';

/**
 * The configuration as the code uses it. A member that is not declared here is that of the configuration, and is described
 * in its schema.
 */
export interface Settings extends Omit<Config, 'admin' | 'control' | 'counters' | 'signing' | 'tracing' | 'domains'> {
  readonly admin: Omit<Config['admin'], 'tls'> & { readonly tls?: Required<Pick<TlsSettings, 'cert' | 'key'>> };
  /** The store of all control documents; with `none`, each is in the store of its domain. */
  readonly control: StoreSettings;
  /** The store of the query counts of all processes; with `none`, they are in `control`, or nowhere without it. */
  readonly counters: StoreSettings;
  /** Absent: nothing is signed, and values of any writer to a store are accepted within bounds. */
  readonly signing?: SigningKeys;
  /** Absent while tracing is off. */
  readonly tracing?: TracingSettings;
  readonly domains: readonly DomainSettings[];
}

export type LogLevel = Config['log']['level'];

type OwnOfDomain = 'attributes' | 'context' | 'freshness' | 'memory' | 'store' | 'candidates' | 'engine' | 'patienceMs';

export interface DomainSettings extends Omit<DomainConfig, OwnOfDomain> {
  readonly name: string;
  readonly attributes: readonly Attribute[];
  readonly context: readonly ContextParameter[];
  readonly freshness: Required<DomainConfig['freshness']>;
  readonly memory: Required<DomainConfig['memory']>;
  readonly store: StoreSettings;
  /** Stores that a cut-over may move to. Empty without a store. */
  readonly candidates: readonly NamedStoreSettings[];
  readonly engine: EngineSettings;
  readonly patienceMs: number;
}

export type LifeboatSettings = NonNullable<DomainConfig['lifeboat']>;

type ConnectedStore = Exclude<DomainConfig['store'], { readonly kind: 'none' }>;

/** `Omit` of each member of a union. */
type OmitEach<T, Name extends PropertyKey> = T extends unknown ? Omit<T, Name> : never;

/** Announced `host:port` → reachable one. */
export type NatMap = Readonly<Record<string, HostPort>>;

export type StoreSettings =
  | { readonly kind: 'none' }
  | (Omit<Extract<ConnectedStore, { kind: 'standalone' }>, 'nodes' | 'tls'> & {
      readonly nodes: readonly [Address];
      readonly tls?: TlsSettings;
    })
  | (OmitEach<Exclude<ConnectedStore, { kind: 'standalone' }>, 'tls'> & { readonly tls?: TlsSettings });

export type ConnectedStoreSettings = Exclude<StoreSettings, { readonly kind: 'none' }>;

/** A store with its name in the section of its domain. */
export interface NamedStoreSettings {
  readonly name: string;
  readonly settings: ConnectedStoreSettings;
}

export interface TlsSettings extends TlsFiles {
  readonly serverName?: string;
  readonly rejectUnauthorized: boolean;
}

/** A server that cannot be verified gets no query. */
export interface EngineTlsSettings extends TlsFiles {
  readonly serverName?: string;
  /** Where TLS starts: inside the MySQL handshake, or before it. */
  readonly mode: 'mysql' | 'tunnel';
}

type SphinxConfig = Exclude<DomainConfig['engine'], { readonly kind: 'sqlite' }>;
type Limits = { readonly maxConcurrent: number; readonly maxQueued: number };

export type EngineSettings =
  | (Extract<DomainConfig['engine'], { kind: 'sqlite' }> & Limits)
  | (Omit<SphinxConfig, 'host' | 'port' | 'mirrors' | 'index' | 'tls'> & {
      /** Servers with the same index; at least one. */
      readonly endpoints: readonly [HostPort, ...HostPort[]];
      readonly index: string;
      readonly tls?: EngineTlsSettings;
    } & Limits);
