import type { StoreEvent } from '../cache/store.ts';
import type { ChangeEvent } from '../changes/feed.ts';
import type { ControlEvent } from '../control/control.ts';
import type { EngineEvent } from '../engines/create-engines.ts';
import type { RequestEvent } from '../http/events.ts';
import type { ConnectionEvent, TokenEvent } from '../http/transport/events.ts';
import type { DoctorEvent } from '../operations/doctor/doctor.ts';
import type { DrillEvent } from '../operations/drills/drills.ts';
import type { FlushEvent } from '../operations/flush/flush.ts';
import type { ShadowEvent } from '../operations/shadow/shadow.ts';
import type { WarmEvent } from '../operations/warm/warm.ts';
import type { PopularityEvent } from '../popularity/shared.ts';
import type { GuardEvent } from '../resilience/guard.ts';
import type { SearchEvent } from '../search/events.ts';
import type { TracingEvent } from '../tracing/delivery.ts';
import { together } from './series.ts';

/**
 * The events of all rooms, each with the callback that reads them; `domain` is given where the event does not name it. The
 * counters read all of them, the log and the meters some.
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
  readonly observeChanges: (event: ChangeEvent) => void;
  readonly observePopularity: (event: PopularityEvent) => void;
  readonly observeFlush: (event: FlushEvent) => void;
  readonly observeWarm: (event: WarmEvent) => void;
  readonly observeDrill: (event: DrillEvent) => void;
  readonly observeShadow: (event: ShadowEvent) => void;
  readonly observeDoctor: (event: DoctorEvent) => void;
  readonly observeTracing: (event: TracingEvent) => void;
}

interface EventReader {
  readonly observers: Partial<Observers>;
  /** The kinds that are read of the events with these callbacks; all when absent. */
  readonly kinds?: Partial<Record<keyof Observers, readonly string[]>>;
}

type ReadEvent = (first: unknown, second?: unknown) => void;

/** Each event goes to its readers, in this order. Every event must have a reader. */
export function shareEvents(readers: readonly EventReader[]): Observers {
  const names = new Set(readers.flatMap(({ observers }) => Object.keys(observers) as (keyof Observers)[]));
  const shared = [...names].map((name) => {
    const own = readers.flatMap(({ observers, kinds }) => {
      const read = observers[name] as ReadEvent | undefined;
      return read === undefined ? [] : [{ read, kinds: kinds?.[name] }];
    });
    const readOf = (kind = ''): ReadEvent => {
      const wanted = own.filter(({ kinds }) => kinds?.includes(kind) ?? true);
      const [first = () => {}, ...others] = wanted.map(({ read }) => read);
      return together(first, ...others);
    };
    if (own.every(({ kinds }) => kinds === undefined)) return [name, readOf()];
    const byKind = new Map<string, ReadEvent>();
    const share: ReadEvent = (first, second) => {
      const { kind } = (second ?? first) as { readonly kind: string };
      let read = byKind.get(kind);
      if (read === undefined) {
        read = readOf(kind);
        byKind.set(kind, read);
      }
      read(first, second);
    };
    return [name, share];
  });
  return Object.fromEntries(shared);
}
