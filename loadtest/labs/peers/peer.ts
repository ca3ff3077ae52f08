/** Something that serves the same pages from a cache, set up with care, as those who use it would. */
export interface Peer {
  /** As it is shown: `nginx proxy_cache`. */
  readonly name: string;
  /** What one who knows it should know of this set-up, in one sentence. */
  readonly setUp: string;
  /** Parts of loadtest/stack/install.ts that it needs. */
  readonly parts: readonly string[];
  /** Where pages lie: in this replica alone, or in a store that all replicas share. */
  readonly keeps: 'own' | 'shared';
  /** Cores one replica can use, where there are so many: 1 unless said. */
  readonly mostCores?: number;
  /** One replica. @throws with the end of its log when it will not start. */
  readonly start: (scene: PeerScene) => Promise<RunningPeer>;
}

export interface PeerScene {
  /** For its files; its own, removed later. */
  readonly folder: string;
  readonly port: number;
  /** `http://127.0.0.1:1234`: where a miss gets its page, at the same path. What answers there counts engine queries. */
  readonly origin: string;
  /** The same engine for who speaks SphinxQL itself, through the same counter. */
  readonly engine: { readonly host: string; readonly port: number; readonly index: string };
  /** Empty at first, shared by the replicas of one peer. */
  readonly store: { readonly host: string; readonly port: number };
  /** Processors it may use, as taskset takes them. */
  readonly cores: string;
  /** How long a page is fresh. */
  readonly ttlSeconds: number;
  /** How long after that it may be served while the engine is away, where the peer can do so. */
  readonly staleSeconds: number;
}

export interface RunningPeer {
  /** `http://127.0.0.1:1234`; `/search?q=…` is served below it. */
  readonly url: string;
  /** All its processes, for processor time and memory. */
  readonly pids: () => readonly number[];
  /** Forgets every page of this replica, and of the shared store: what its users do after an index was rebuilt. */
  readonly purge: () => Promise<void>;
  readonly stop: () => Promise<void>;
}
