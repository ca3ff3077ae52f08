import type { StoreEvent } from '../cache/store.ts';
import type { ControlEvent } from '../control/control.ts';
import type { EngineEvent } from '../engines/create-engines.ts';
import type { RequestEvent } from '../http/events.ts';
import type { ConnectionEvent, TokenEvent } from '../http/transport/events.ts';
import type { DoctorEvent } from '../operations/doctor/doctor.ts';
import { BIG_PAGE_BYTES, type DomainCounts } from '../operations/doctor/facts.ts';
import type { DrillEvent } from '../operations/drills/drills.ts';
import type { FlushEvent } from '../operations/flush/flush.ts';
import { DURATION_BOUNDS_MS } from '../operations/meter/figures.ts';
import type { ShadowEvent } from '../operations/shadow/shadow.ts';
import type { WarmEvent } from '../operations/warm/warm.ts';
import type { PopularityEvent } from '../popularity/shared.ts';
import type { GuardEvent } from '../resilience/guard.ts';
import type { SearchEvent } from '../search/events.ts';
import type { TracingEvent } from '../tracing/delivery.ts';

/**
 * The events of all rooms, each with the callback that reads them; `domain` is given where the event does not name it. The
 * counters read all of them, the log, the doctor's counts and the meters some.
 */
export interface Observers {
  /** Once per search, L1 hits included. */
  readonly observeRequest: (event: RequestEvent) => void;
  readonly observeConnection: (event: ConnectionEvent) => void;
  readonly observeToken: (event: TokenEvent) => void;
  readonly observeSearch: (event: SearchEvent) => void;
  readonly observeStore: (domain: string, event: StoreEvent) => void;
  readonly observeEngine: (domain: string, event: EngineEvent) => void;
  readonly observeGuard: (domain: string, event: GuardEvent) => void;
  readonly observeControl: (event: ControlEvent) => void;
  readonly observePopularity: (event: PopularityEvent) => void;
  readonly observeFlush: (event: FlushEvent) => void;
  readonly observeWarm: (event: WarmEvent) => void;
  readonly observeDrill: (event: DrillEvent) => void;
  readonly observeShadow: (event: ShadowEvent) => void;
  readonly observeDoctor: (event: DoctorEvent) => void;
  readonly observeTracing: (event: TracingEvent) => void;
}

type RunningCounts = ReturnType<typeof zeroes>;

const BOUNDS = Float64Array.from(DURATION_BOUNDS_MS);

/** Counts the events of each domain that the meter does not count, since the start of the process. For the doctor. */
export function createEventCounts(domains: readonly string[]) {
  const counts = new Map(domains.map((domain) => [domain, zeroes()]));
  /** Events of other names than those of domains (`control`, `counters`) are not counted. */
  const observers: Pick<Observers, 'observeSearch' | 'observeStore' | 'observeGuard'> = {
    observeSearch: (event) => {
      const own = counts.get(event.domain);
      if (own !== undefined) noteSearch(own, event);
    },
    observeStore: (domain, event) => {
      const own = counts.get(domain);
      if (own !== undefined) noteRead(own, event);
    },
    observeGuard: (domain, event) => {
      const own = counts.get(domain);
      if (own !== undefined) notePermit(own, event);
    },
  };
  return {
    observers,
    /** Zeroes for an unknown domain. */
    read: (domain: string): DomainCounts => {
      const { shed, permits, reads, readDurations, misses, pages } = counts.get(domain) ?? zeroes();
      return {
        shed: Object.fromEntries(shed),
        permits: { ...permits },
        reads: Object.fromEntries(reads),
        readDurations: [...readDurations],
        misses: Object.fromEntries(misses),
        pages: { ...pages },
      };
    },
  };
}

/** The reasons and results are of closed unions, which bound the maps. */
function zeroes() {
  return {
    shed: new Map<string, number>(),
    permits: { count: 0, waitedMs: 0 },
    reads: new Map<string, number>(),
    readDurations: new Float64Array(BOUNDS.length + 1),
    misses: new Map<string, number>(),
    pages: { count: 0, bytes: 0, big: 0, largestBytes: 0 },
  };
}

function noteSearch({ misses, pages }: RunningCounts, event: SearchEvent): void {
  if (event.kind === 'miss') add(misses, event.reason);
  if (event.kind !== 'stored' || event.tier !== 'l2') return;
  pages.count += 1;
  pages.bytes += event.bytes;
  if (event.bytes > BIG_PAGE_BYTES) pages.big += 1;
  if (event.bytes > pages.largestBytes) pages.largestBytes = event.bytes;
}

/** Runs for every command of a store. */
function noteRead({ reads, readDurations }: RunningCounts, event: StoreEvent): void {
  if (event.kind !== 'command' || event.operation !== 'read') return;
  add(reads, event.result);
  // The others were refused without being sent, or ended with their connection: they say nothing about the deadline.
  if (event.result !== 'value' && event.result !== 'absent' && event.result !== 'store-slow') return;
  let bucket = 0;
  while (bucket < BOUNDS.length && event.durationMs > (BOUNDS[bucket] ?? 0)) bucket += 1;
  readDurations[bucket] = (readDurations[bucket] ?? 0) + 1;
}

function notePermit({ shed, permits }: RunningCounts, event: GuardEvent): void {
  if (event.kind === 'shed') add(shed, event.why);
  if (event.kind !== 'permit') return;
  permits.count += 1;
  permits.waitedMs += event.queuedMs;
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** Events that are not counted: each is a line of the log. */
export type Uncounted = 'observeFlush' | 'observeWarm' | 'observeDrill';

/** Each event goes to all its readers, in this order. */
export function shareEvents(
  counts: ReturnType<typeof createEventCounts>['observers'],
  metrics: Omit<Observers, Uncounted>,
  log: Pick<Observers, Uncounted> & Partial<Observers>,
  meters: Partial<Observers>,
): Observers {
  const readers: readonly Partial<Observers>[] = [counts, metrics, log, meters];
  const names = new Set(readers.flatMap((reader) => Object.keys(reader) as (keyof Observers)[]));
  const shared = [...names].map((name) => {
    const reads = readers.flatMap((reader) => (reader[name] ?? []) as (event: unknown, more?: unknown) => void);
    const [read] = reads;
    if (reads.length === 1) return [name, read];
    const share = (event: unknown, more?: unknown): void => {
      for (const each of reads) each(event, more);
    };
    return [name, share];
  });
  return Object.fromEntries(shared);
}
