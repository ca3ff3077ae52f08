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
 * All events of the service, by source. Each room reports its own union; the root adds the source, and the domain where the
 * room does not know it. The events of http name their source themselves: a request event is reported once per search, L1
 * hits included, so it is passed on as it is and no second object is allocated for it.
 */
export type ServiceEvent =
  | RequestEvent
  | ConnectionEvent
  | TokenEvent
  | { readonly kind: 'search'; readonly event: SearchEvent }
  | { readonly kind: 'store'; readonly domain: string; readonly event: StoreEvent }
  | { readonly kind: 'engine'; readonly domain: string; readonly event: EngineEvent }
  | { readonly kind: 'guard'; readonly domain: string; readonly event: GuardEvent }
  | { readonly kind: 'control'; readonly event: ControlEvent }
  | { readonly kind: 'popularity'; readonly event: PopularityEvent }
  | { readonly kind: 'flush'; readonly event: FlushEvent }
  | { readonly kind: 'warm'; readonly event: WarmEvent }
  | { readonly kind: 'drill'; readonly event: DrillEvent }
  | { readonly kind: 'shadow'; readonly event: ShadowEvent }
  | { readonly kind: 'doctor'; readonly event: DoctorEvent }
  | TracingEvent;

type EventOf<Kind extends ServiceEvent['kind']> = Extract<ServiceEvent, { kind: Kind; event: unknown }>['event'];

/**
 * For each room, a callback that adds the source to its events and passes them on.
 * @param counts the doctor's, which come first: a reader of events may ask for them.
 */
export function reportersOf(observe: (event: ServiceEvent) => void, counts: Pick<EventCounts, 'of'>) {
  return {
    observeSearch: (event: EventOf<'search'>) => {
      const own = counts.of(event.domain);
      if (own !== undefined) noteSearch(own, event);
      observe({ kind: 'search', event });
    },
    observeStore: (domain: string, event: EventOf<'store'>) => {
      const own = counts.of(domain);
      if (own !== undefined) noteRead(own, event);
      observe({ kind: 'store', domain, event });
    },
    observeEngine: (domain: string, event: EventOf<'engine'>) => observe({ kind: 'engine', domain, event }),
    observeGuard: (domain: string, event: EventOf<'guard'>) => {
      const own = counts.of(domain);
      if (own !== undefined) notePermit(own, event);
      observe({ kind: 'guard', domain, event });
    },
    observeControl: (event: EventOf<'control'>) => observe({ kind: 'control', event }),
    observePopularity: (event: EventOf<'popularity'>) => observe({ kind: 'popularity', event }),
    observeFlush: (event: EventOf<'flush'>) => observe({ kind: 'flush', event }),
    observeWarm: (event: EventOf<'warm'>) => observe({ kind: 'warm', event }),
    observeDrill: (event: EventOf<'drill'>) => observe({ kind: 'drill', event }),
    observeShadow: (event: EventOf<'shadow'>) => observe({ kind: 'shadow', event }),
    observeDoctor: (event: EventOf<'doctor'>) => observe({ kind: 'doctor', event }),
  };
}

/** Counts the events of each domain that the meter does not count, since the start of the process. For the doctor. */
export interface EventCounts {
  /** Undefined for names other than those of domains (`control`, `counters`), whose events are not counted. */
  readonly of: (domain: string) => RunningCounts | undefined;
  /** Zeroes for an unknown domain. */
  readonly read: (domain: string) => DomainCounts;
}

/** The reasons and results are of closed unions, which bound the maps. */
interface RunningCounts {
  readonly shed: Map<string, number>;
  readonly permits: { count: number; waitedMs: number };
  readonly reads: Map<string, number>;
  readonly readDurations: Float64Array;
  readonly misses: Map<string, number>;
  readonly pages: { count: number; bytes: number; big: number; largestBytes: number };
}

const BOUNDS = Float64Array.from(DURATION_BOUNDS_MS);

export function createEventCounts(domains: readonly string[]): EventCounts {
  const counts = new Map(domains.map((domain) => [domain, zeroes()]));
  return {
    of: (domain) => counts.get(domain),
    read: (domain) => {
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

function zeroes(): RunningCounts {
  return {
    shed: new Map(),
    permits: { count: 0, waitedMs: 0 },
    reads: new Map(),
    readDurations: new Float64Array(BOUNDS.length + 1),
    misses: new Map(),
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
