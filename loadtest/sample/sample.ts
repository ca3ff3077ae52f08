/**
 * What was seen of the service and its parts at one moment. Counters grow since their process started; only
 * differences mean anything, and a process that started anew counts from 0 again. Whatever could not be asked is absent,
 * never 0; in a record of counts, what never happened is absent too.
 */
export interface Sample {
  /** Wall clock, ms, when the answers were there. */
  readonly atMs: number;
  readonly replicas: readonly ReplicaSample[];
  /** Store nodes; empty without a local stack. */
  readonly stores: readonly StoreSample[];
  /** Processes of the local stack and the generator. */
  readonly processes: readonly ProcessSample[];
  /** The machine everything runs on; absent without a local stack. */
  readonly host?: HostSample;
}

/** Of one process of serpcache, from its /metrics. */
export interface ReplicaSample {
  /** Its admin address without scheme. */
  readonly name: string;
  readonly cpuSeconds?: number;
  readonly residentBytes?: number;
  /** 0–1, since the scrape before. */
  readonly loopUtilization?: number;
  readonly loopLagP99Ms?: number;
  /** Searches under way that wait for something, and how many may. */
  readonly inFlight?: number;
  readonly inFlightMax?: number;
  readonly memoryBytes?: number;
  readonly memoryMaxBytes?: number;
  readonly memoryEvictions?: number;
  /** By domain. */
  readonly domains: Readonly<Record<string, DomainSample>>;
  /** Sheds by reason, all domains. */
  readonly sheds: Readonly<Record<string, number>>;
  /** By reason: misses, all domains. */
  readonly misses: Readonly<Record<string, number>>;
}

export interface DomainSample {
  /** Counted by outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly engineCalls: number;
  readonly engineFailures: number;
  /** Levels of this process. */
  readonly engineInFlight?: number;
  readonly engineQueued?: number;
  readonly engineLimit?: number;
  readonly engineCeiling?: number;
  /** 0 closed, 1 half-open, 2 open. */
  readonly breaker?: number;
  /** Counted by how they ended: `ok`, `deadline`, … */
  readonly storeCommands: Readonly<Record<string, number>>;
  /** 0–1: share of the keys a drill has taken away just now. */
  readonly flushedShare?: number;
}

/** Of one Redis or Valkey node, from INFO. */
export interface StoreSample {
  /** `goods-1` */
  readonly name: string;
  readonly commands: number;
  readonly cpuSeconds: number;
  readonly usedBytes: number;
  /** 0: no limit. */
  readonly maxBytes: number;
  readonly keys: number;
  readonly evicted: number;
  readonly connections: number;
  readonly maxConnections: number;
  readonly rejectedConnections: number;
  readonly connectionsOpened: number;
  readonly receivedBytes: number;
  readonly sentBytes: number;
}

/** From /proc. */
export interface ProcessSample {
  /** `serpcache`, `goods-1`, `searchd`, `k6`, … */
  readonly name: string;
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

export interface HostSample {
  readonly cores: number;
  /** Since boot, all cores together. */
  readonly busySeconds: number;
  readonly idleSeconds: number;
  /** Taken by other guests of the same hardware. */
  readonly stolenSeconds: number;
  readonly availableBytes: number;
  readonly totalBytes: number;
  /** Of the loopback interface. */
  readonly loopbackBytes: number;
  readonly loopbackDrops: number;
  readonly retransmits: number;
  readonly listenDrops: number;
  readonly tcpInUse: number;
  /** Milliseconds with something to do, of whichever disk had most each time; absent where no disk can be seen. */
  readonly diskBusyMs?: number;
  /** All disks together. */
  readonly diskWrittenBytes?: number;
  /** Packets dropped by and held back in queueing disciplines, loopback included; absent where `tc` is. */
  readonly limiterDrops?: number;
  readonly limiterOverlimits?: number;
}
