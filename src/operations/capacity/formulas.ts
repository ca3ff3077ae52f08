import { MEASURED, PLANNED_SHARE } from './inputs.ts';

/** A small calculation with its text and its source, as the sheet prints them. */
export interface Formula<Given> {
  readonly text: string;
  readonly source: string;
  readonly of: (given: Given) => number;
}

const LITTLE = "Little's law (Little, Operations Research 1961)";

type Numbers<Name extends string> = Readonly<Record<Name, number>>;

export const engineLoad: Formula<Numbers<'rate' | 'hitRatio'>> = {
  text: 'rate × (1 − hit ratio)',
  source: 'definition of the hit ratio: searches that cause no engine call',
  of: ({ rate, hitRatio }) => rate * (1 - hitRatio),
};

export const permitsUsed: Formula<Numbers<'engineLoad' | 'latencyMs'>> = {
  text: 'engine load × engine latency',
  source: LITTLE,
  of: ({ engineLoad: load, latencyMs }) => (load * latencyMs) / 1000,
};

/** The store keeps a page for its whole life, also when no search asks for it again. */
export const pagesKept: Formula<Numbers<'engineLoad' | 'keptMs' | 'keys'>> = {
  text: 'the smaller of keys asked for within its life, and engine load × life',
  source: `${LITTLE}; keys by their popularity`,
  of: ({ engineLoad: load, keptMs, keys }) => Math.min(keys, (load * keptMs) / 1000),
};

export const headroom: Formula<Numbers<'capacity' | 'engineLoad'>> = {
  text: 'the smaller of engine capacity and permits ÷ latency, ÷ engine load',
  source: `definition; ${LITTLE}`,
  of: ({ capacity, engineLoad: load }) => capacity / load,
};

/** After a total loss every search is a miss. */
export const amplificationOfMisses: Formula<Numbers<'hitRatio'>> = {
  text: '1 ÷ (1 − hit ratio)',
  source: 'every search is a miss; before requests for one key are joined',
  of: ({ hitRatio }) => 1 / (1 - hitRatio),
};

export const amplificationOfKeys: Formula<Numbers<'distinct' | 'engineLoad'>> = {
  text: 'distinct keys in the first second ÷ engine load',
  source: 'TTL cache under Zipf popularity (Jung et al., INFOCOM 2003); one engine call per key',
  of: ({ distinct, engineLoad: load }) => Math.max(1, distinct / load),
};

/** Keys are flushed by their hash, so a share f of them adds f × (A − 1) to the engine load. */
export const survivableShare: Formula<Numbers<'headroom' | 'amplification'>> = {
  text: '(H − 1) ÷ (A − 1), between 0 and 1',
  source: 'linear in the flushed share: keys are chosen by hash',
  of: ({ headroom: h, amplification: a }) => (a <= h ? 1 : Math.max(0, (h - 1) / (a - 1))),
};

export const memoryEntryBytes: Formula<Numbers<'entryBytes'>> = {
  text: 'entry + 1,280 B',
  source: 'measured as growth of memory per entry (test/stores/memory)',
  of: ({ entryBytes }) => entryBytes + MEASURED.memoryOverheadBytes,
};

/** Uniform sizes within a doubling waste half of a quarter step: 1/8 of the lower end, 1/12 of the mean. */
const JEMALLOC_WASTE = 1 + 1 / 12;

export const storedEntryBytes: Formula<Numbers<'entryBytes'>> = {
  text: 'entry × 1.083 + overhead of a name',
  source: 'jemalloc has four size classes per doubling; name, robj and two dictEntry of Redis 7',
  of: ({ entryBytes }) => entryBytes * JEMALLOC_WASTE + MEASURED.storeOverheadBytes,
};

export const memoryNeeded: Formula<Numbers<'pages' | 'bytesEach'>> = {
  text: 'pages kept × bytes of each',
  source: 'definition',
  of: ({ pages, bytesEach }) => pages * bytesEach,
};

export const storeReads: Formula<Numbers<'rate' | 'memoryRatio'>> = {
  text: 'rate × (1 − share answered from L1)',
  source: 'every search that L1 cannot answer reads the store once',
  of: ({ rate, memoryRatio }) => rate * (1 - memoryRatio),
};

export const storeCommands: Formula<Numbers<'reads' | 'engineLoad'>> = {
  text: 'store reads + engine load × 8',
  source: 'src/stores/redis/commands.ts: two scripts of four commands each around an engine call',
  of: ({ reads, engineLoad: load }) => reads + load * MEASURED.commandsPerLoad,
};

/** Big replies are slow because the network carries them. */
export const bytesPerSecond: Formula<Numbers<'perSecond' | 'bytesEach'>> = {
  text: 'answers per second × bytes of each',
  source: 'npm run experiments -- value-size: a link of 1 Gbit/s is full long before a store',
  of: ({ perSecond, bytesEach }) => perSecond * bytesEach,
};

/** A search costs 2.2 times as much in a process with few at a time as in a full one. */
export const coresBusy: Formula<Numbers<'memoryHits' | 'storeHits' | 'engineLoad'>> = {
  text: '2.2 × (L1 hits × 46 µs + L2 hits × 78 µs + engine load × 950 µs)',
  source: 'utilization law (Denning, Buzen, 1978); npm run bench -- l1-many l2 miss; x-load of loadtest/README.md',
  of: ({ memoryHits, storeHits, engineLoad: load }) => {
    const { memoryHit, storeHit, miss } = MEASURED.fullUs;
    return (MEASURED.partlyFull * (memoryHits * memoryHit + storeHits * storeHit + load * miss)) / 1e6;
  },
};

export const storeCores: Formula<Numbers<'commands'>> = {
  text: 'store commands × 46 µs',
  source: 'utilization law; x-load of loadtest/README.md',
  of: ({ commands }) => (commands * MEASURED.storeCommandUs) / 1e6,
};

/** One process more than the load needs, so that one may be away: restarted, or lost. */
export const processesNeeded: Formula<Numbers<'cores' | 'processors'>> = {
  text: 'cores ÷ (0.6 × processors of a process), rounded up, and one more',
  source: 'N + 1; an event loop uses one processor at most',
  of: ({ cores, processors }) => Math.max(1, Math.ceil(cores / (PLANNED_SHARE.process * Math.min(1, processors)))) + 1,
};

export const shardsNeeded: Formula<Numbers<'needed' | 'each' | 'share'>> = {
  text: 'need ÷ (planned share of one shard), rounded up',
  source: 'keys are spread by hash; a shard has one thread for commands',
  of: ({ needed, each, share }) => Math.max(1, Math.ceil(needed / (share * each))),
};

export const bytesOfStore: Formula<Numbers<'reads' | 'engineLoad' | 'bytesEach'>> = {
  text: '(store reads + engine load) × bytes of an entry',
  source: 'src/search/load.ts: before an engine call an expired page is read twice, the second time with the lease',
  of: ({ reads, engineLoad: load, bytesEach }) => (reads + load) * bytesEach,
};

/** One connection for searches and one of the doctor. */
const CONNECTIONS = 2;

export const connectionsPerShard: Formula<Numbers<'processes'>> = {
  text: 'processes × 2; one more for a moment while a process reads the topology',
  source: 'src/stores/redis: a process keeps one connection to each node, and one for the doctor',
  of: ({ processes }) => processes * CONNECTIONS,
};

export const reconnectStormMs: Formula<Numbers<'processes'>> = {
  text: 'connections of a shard × processor time of one connect, without TLS',
  source: 'npm run experiments -- reconnect: 68 µs, with TLS 874',
  of: ({ processes }) => (processes * CONNECTIONS * MEASURED.connectUs.plain) / 1000,
};

export const memoryOfProcess: Formula<Numbers<'memoryBytes'>> = {
  text: 'L1 in use + 350 MiB',
  source: 'x-load of loadtest/README.md: resident memory beside L1',
  of: ({ memoryBytes }) => memoryBytes + MEASURED.processBytes,
};

/** For a resource that is used in proportion to the rate. */
export const breakingRate: Formula<Numbers<'rate' | 'used' | 'capacity'>> = {
  text: 'rate × capacity ÷ used',
  source: 'proportional to the rate',
  of: ({ rate, used, capacity }) => (used === 0 ? Number.POSITIVE_INFINITY : (rate * capacity) / used),
};
