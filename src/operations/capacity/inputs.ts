import type { DomainSettings } from '../../config/settings.ts';
import { DAY, GIB, KIB, MINUTE, SECOND } from '../../schema/units.ts';

/** Where a number comes from; the sheet shows it beside the number. */
export type Origin = 'given' | 'service' | 'configuration' | 'measured' | 'assumed' | 'derived';

export interface Input {
  readonly value: number;
  readonly from: Origin;
  /** The setting, the command that measured it, or the reason. */
  readonly source: string;
}

export type InputUnit = 'per-second' | 'share' | 'bytes' | 'bytes-per-second' | 'ms' | 'count' | 'number';

/** @param option of `serpcache plan` */
function input<Unit extends InputUnit>(
  option: string,
  unit: Unit,
  [least, most]: readonly [number, number],
  about: string,
) {
  return { option, unit, least, most, about, whole: unit === 'count' };
}

/** Every input of the sheet, in the order in which it is printed. */
export const INPUTS = {
  rate: input('rate', 'per-second', [0.1, 1e7], 'searches per second at the peak'),
  hitRatio: input('hit-ratio', 'share', [0, 0.99999], 'share of searches that cause no engine call (L1, L2, joined)'),
  exponent: input('exponent', 'number', [0.01, 3], 'Zipf exponent of the keys, instead of --hit-ratio; needs --keys'),
  keys: input('keys', 'count', [1, 1e9], 'distinct pages that are asked for'),
  memoryRatio: input('memory-ratio', 'share', [0, 1], 'share of searches that L1 answers'),
  pageBytes: input('page', 'bytes', [1, GIB], 'a page as it is stored, compressed: 4KiB'),
  ttlMs: input('ttl', 'ms', [SECOND, 30 * DAY], 'fresh time of a page'),
  keptMs: input('kept', 'ms', [SECOND, 60 * DAY], 'life of a page in the store: fresh and stale time'),
  engineCapacity: input(
    'engine-capacity',
    'per-second',
    [0.001, 1e7],
    'searches per second that the engine answers in time',
  ),
  engineLatencyMs: input(
    'engine-latency',
    'ms',
    [0.01, 10 * MINUTE],
    'mean duration of an engine call under that load',
  ),
  permits: input('permits', 'count', [1, 1000], 'concurrent engine calls of the fleet'),
  processes: input('replicas', 'count', [1, 10_000], 'processes of serpcache; as needed without it'),
  processors: input('processors', 'number', [0.05, 1024], 'processors that a process may use'),
  networkBytes: input(
    'network',
    'bytes-per-second',
    [KIB, 1024 * GIB],
    'bytes per second of one host, each way: 119MiB is 1 Gbit/s',
  ),
  memoryBytes: input('memory', 'bytes', [KIB, 1024 * GIB], 'L1 of a process for this domain'),
  shards: input('shards', 'count', [1, 1000], 'masters of the store; as needed without it'),
  shardBytes: input('shard-memory', 'bytes', [KIB, 1024 * GIB], 'maxmemory of a shard'),
  maxConnections: input('shard-connections', 'count', [1, 1e6], 'maxclients of a shard'),
};

export type InputName = keyof typeof INPUTS;
export type Inputs = Readonly<Partial<Record<InputName, Input>>>;

export const INPUT_NAMES = Object.keys(INPUTS) as readonly InputName[];

/** Costs that this project measured; `test/operations/capacity` compares them with the records. */
export const MEASURED = {
  /** µs of processor time per search when a process is full: `npm run bench -- l1-many l2 miss`. */
  fullUs: { memoryHit: 45.6, storeHit: 77.7, miss: 949.7 },
  /** The same searches cost more while the event loop has few at a time: x-load, 240 to 1,200 searches/s. */
  partlyFull: 2.2,
  /** µs of a store's processor per command, pages of 4 KB and the scripts of leases: x-load. */
  storeCommandUs: 46,
  /** Share of searches answered from L1 ÷ hit ratio: x-load, step x5. */
  memoryShareOfHits: 0.84,
  /** Resident memory of a process beside L1: x-load, 382 MiB with 5,000 pages of some 5 KiB. */
  processBytes: 350 * KIB * KIB,
  /** µs of a store's processor per connect: `npm run experiments -- reconnect`. */
  connectUs: { plain: 67.8, tls: 873.6 },
  /** ENTRY_OVERHEAD_BYTES of stores/memory. */
  memoryOverheadBytes: 1280,
  /** Head of an entry in src/cache/codec.ts: header, canonical form and the fingerprints of 20 results. */
  headBytes: 62 + 60 + 80,
  /** Name, its value object, two dictEntry and their buckets, the slot's list. */
  storeOverheadBytes: 176,
  /** Head of an answer over HTTP/1.1. */
  answerHeadBytes: 480,
  commandsPerLoad: 8,
} as const;

/** A full resource makes searches wait, so a plan uses this share of it; the rest is for bursts and growth. */
export const PLANNED_SHARE = { process: 0.6, shard: 0.6, network: 0.7, memory: 0.85 } as const;

const measured = (value: number, source: string): Input => ({ value, from: 'measured', source });
const assumed = (value: number, source: string): Input => ({ value, from: 'assumed', source });

/** Inputs that neither the operator nor the configuration gave. */
export const DEFAULTS: Inputs = {
  pageBytes: measured(4 * KIB, 'page of npm run bench'),
  processors: assumed(1, 'a core for each process'),
  networkBytes: assumed(125e6, '1 Gbit/s'),
  shardBytes: assumed(GIB, 'maxmemory of deploy/redis'),
  maxConnections: assumed(10_000, 'maxclients of deploy/redis'),
};

/**
 * The settings of one domain. The nodes of a cluster are seeds and do not tell its size.
 * @param ttlMs when another one is planned than is configured
 */
export function configuredInputs(
  { name, freshness, engine, memory, store }: DomainSettings,
  ttlMs = freshness.ttlMs,
): Inputs {
  const configured = (value: number, path: string): Input => {
    return { value, from: 'configuration', source: `domains.${name}.${path}` };
  };
  const { staleWhileRevalidateMs, staleIfErrorMs } = freshness;
  const keptMs = ttlMs + Math.max(staleWhileRevalidateMs, staleIfErrorMs);
  return {
    ttlMs: configured(ttlMs, 'freshness.ttl'),
    keptMs: configured(keptMs, 'freshness: ttl and the longer stale time'),
    permits: configured(engine.maxConcurrent, 'engine.maxConcurrent'),
    memoryBytes: configured(memory.maxBytes, 'memory.maxBytes'),
    shards: store.kind === 'standalone' || store.kind === 'sentinel' ? configured(1, 'store.kind') : undefined,
  };
}
