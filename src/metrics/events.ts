import type { StoreEvent } from '../cache/store.ts';
import type { ControlEvent } from '../control/control.ts';
import type { EngineEvent } from '../engines/create-engines.ts';
import type { RequestEvent } from '../http/events.ts';
import type { ConnectionEvent, TokenEvent } from '../http/transport/events.ts';
import type { Tally } from '../operations/doctor/collect/tally.ts';
import type { DoctorEvent } from '../operations/doctor/doctor.ts';
import type { DrillEvent } from '../operations/drills/drills.ts';
import type { FlushEvent } from '../operations/flush/flush.ts';
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
 * @param tally the doctor's counts, which come first: a reader of events may ask for them.
 */
export function reportersOf(observe: (event: ServiceEvent) => void, { note }: Pick<Tally, 'note'>) {
  return {
    observeSearch: (event: EventOf<'search'>) => {
      note.search(event);
      observe({ kind: 'search', event });
    },
    observeStore: (domain: string, event: EventOf<'store'>) => {
      note.store(domain, event);
      observe({ kind: 'store', domain, event });
    },
    observeEngine: (domain: string, event: EventOf<'engine'>) => observe({ kind: 'engine', domain, event }),
    observeGuard: (domain: string, event: EventOf<'guard'>) => {
      note.guard(domain, event);
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
