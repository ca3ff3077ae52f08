import type { StoreEvent } from '../../../cache/store.ts';
import type { GuardEvent } from '../../../resilience/guard.ts';
import type { SearchEvent } from '../../../search/events.ts';
import { DURATION_BOUNDS_MS } from '../../meter/figures.ts';
import type { DomainFacts } from '../facts.ts';

/** Counts the events of each domain that the meter does not count, since the start of the process. */
export interface Tally {
  /** Events of other names than those of domains (`control`, `counters`) are not counted. */
  readonly note: {
    readonly search: (event: SearchEvent) => void;
    readonly store: (domain: string, event: StoreEvent) => void;
    readonly guard: (domain: string, event: GuardEvent) => void;
  };
  /** Zeroes for an unknown domain. */
  readonly read: (domain: string) => TallyReading;
}

type TallyReading = Pick<
  DomainFacts,
  | 'engineOpenings'
  | 'storeOpenings'
  | 'shed'
  | 'permits'
  | 'reads'
  | 'readDurations'
  | 'misses'
  | 'notStored'
  | 'pages'
  | 'lateReplies'
>;

interface TallyOptions {
  /** The names of the domains. */
  readonly domains: readonly string[];
}

/** A page of this size takes 0.8 ms of a network of 1 Gbit/s, more than a read of the store. */
export const BIG_PAGE_BYTES = 100 * 1024;

export function createTally({ domains }: TallyOptions): Tally {
  const counts = new Map(domains.map((domain) => [domain, createCounts()]));
  return {
    note: {
      search: (event) => {
        const own = counts.get(event.domain);
        if (own !== undefined) noteSearch(own, event);
      },
      store: (domain, event) => {
        const own = counts.get(domain);
        if (own !== undefined) noteStore(own, event);
      },
      guard: (domain, event) => {
        const own = counts.get(domain);
        if (own !== undefined) noteGuard(own, event);
      },
    },
    read: (domain) => readingOf(counts.get(domain) ?? createCounts()),
  };
}

/** The reasons and results are of closed unions, which bound the maps. */
interface Counts {
  engineOpenings: number;
  storeOpenings: number;
  lateReplies: number;
  readonly shed: Map<string, number>;
  readonly permits: { count: number; waitedMs: number };
  readonly reads: Map<string, number>;
  readonly readDurations: Float64Array;
  readonly misses: Map<string, number>;
  readonly notStored: Map<string, number>;
  readonly pages: { count: number; bytes: number; big: number; largestBytes: number };
}

function createCounts(): Counts {
  return {
    ...{ engineOpenings: 0, storeOpenings: 0, lateReplies: 0 },
    shed: new Map(),
    permits: { count: 0, waitedMs: 0 },
    reads: new Map(),
    readDurations: new Float64Array(BOUNDS.length + 1),
    misses: new Map(),
    notStored: new Map(),
    pages: { count: 0, bytes: 0, big: 0, largestBytes: 0 },
  };
}

const BOUNDS = Float64Array.from(DURATION_BOUNDS_MS);

function noteSearch(counts: Counts, event: SearchEvent): void {
  switch (event.kind) {
    case 'miss':
      add(counts.misses, event.reason);
      return;
    case 'stored':
      if (event.tier === 'l2') notePage(counts.pages, event.bytes);
      return;
    case 'not-stored':
      // A page that is too large is reported for both tiers, and for L1 alone without a store.
      if (event.tier === 'l1' || event.why !== 'too-large') add(counts.notStored, event.why);
      return;
    case 'engine':
      if (event.late) counts.lateReplies += 1;
      return;
    case 'lease':
    case 'refresh':
    case 'lifeboat':
    case 'reseed':
      return;
  }
}

function notePage(pages: Counts['pages'], bytes: number): void {
  pages.count += 1;
  pages.bytes += bytes;
  if (bytes > BIG_PAGE_BYTES) pages.big += 1;
  if (bytes > pages.largestBytes) pages.largestBytes = bytes;
}

/** Runs for every read of a store. */
function noteStore(counts: Counts, event: StoreEvent): void {
  if (event.kind === 'breaker') {
    if (event.state === 'open') counts.storeOpenings += 1;
    return;
  }
  if (event.kind !== 'command' || event.operation !== 'read') return;
  add(counts.reads, event.result);
  // The others were refused without being sent, or ended with their connection: they say nothing about the deadline.
  if (event.result !== 'value' && event.result !== 'absent' && event.result !== 'store-slow') return;
  let bucket = 0;
  while (bucket < BOUNDS.length && event.durationMs > (BOUNDS[bucket] ?? 0)) bucket += 1;
  counts.readDurations[bucket] = (counts.readDurations[bucket] ?? 0) + 1;
}

function noteGuard(counts: Counts, event: GuardEvent): void {
  switch (event.kind) {
    case 'breaker':
      if (event.state === 'open') counts.engineOpenings += 1;
      return;
    case 'shed':
      add(counts.shed, event.why);
      return;
    case 'permit':
      counts.permits.count += 1;
      counts.permits.waitedMs += event.queuedMs;
      return;
    case 'retry':
      return;
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function readingOf(counts: Counts): TallyReading {
  const { engineOpenings, storeOpenings, lateReplies } = counts;
  return {
    ...{ engineOpenings, storeOpenings, lateReplies },
    shed: Object.fromEntries(counts.shed),
    permits: { ...counts.permits },
    reads: Object.fromEntries(counts.reads),
    readDurations: [...counts.readDurations],
    misses: Object.fromEntries(counts.misses),
    notStored: Object.fromEntries(counts.notStored),
    pages: { ...counts.pages },
  };
}
