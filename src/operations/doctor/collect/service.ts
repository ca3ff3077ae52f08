import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import type { DomainSettings } from '../../../config/settings.ts';
import type { Control } from '../../../control/control.ts';
import type { Clock } from '../../../runtime.ts';
import type { DomainStatus } from '../../../search/status.ts';
import type { Meter } from '../../meter/meter.ts';
import type { ReadService } from '../doctor.ts';
import type { DomainFacts } from '../facts.ts';
import type { Fleet } from './fleet.ts';
import type { Tally } from './tally.ts';

/** One domain, as the doctor reads it. */
interface ReadDomain {
  readonly name: string;
  readonly settings: Pick<DomainSettings, 'patienceMs' | 'freshness' | 'maxEntryBytes' | 'engine' | 'store'>;
  readonly meter: Pick<Meter, 'read'>;
  readonly status: () => DomainStatus;
  readonly control: Pick<Control, 'state'>;
}

export interface ServiceReaderOptions {
  readonly processId: string;
  readonly version: string;
  readonly domains: readonly ReadDomain[];
  readonly tally: Pick<Tally, 'read'>;
  readonly fleet: Pick<Fleet, 'read'>;
  /** The delay of the event loop, and the delay above which only searches in memory are answered. */
  readonly loopDelay: () => { readonly loopDelayMs: number; readonly maxLoopDelayMs: number };
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** Reads the figures of this process. Its start is the call of this function. */
export function createServiceReader(options: ServiceReaderOptions): ReadService {
  const { processId, version, domains, tally, fleet, loopDelay, clock } = options;
  const startedMs = clock.monotonicMs();
  let utilisation: EventLoopUtilization = performance.eventLoopUtilization();

  /** Since the last reading; two doctors that read in turn each see the time since the other's reading. */
  const loopUtilisation = (): number => {
    const now = performance.eventLoopUtilization();
    const since = performance.eventLoopUtilization(now, utilisation).utilization;
    utilisation = now;
    return Number.isFinite(since) ? since : 0;
  };

  return async () => {
    // Before the fleet is asked, which takes a round trip: the counters are of the snapshot's moment.
    const { loopDelayMs, maxLoopDelayMs } = loopDelay();
    const { user, system } = process.cpuUsage();
    const own = {
      ...{ processId, version },
      uptimeSeconds: (clock.monotonicMs() - startedMs) / 1000,
      loop: { delayMs: loopDelayMs, maxDelayMs: maxLoopDelayMs, utilisation: loopUtilisation() },
      cpuSeconds: (user + system) / 1e6,
      rssBytes: process.memoryUsage.rss(),
      domains: domains.map((domain) => factsOf(domain, tally)),
    };
    return { ...own, fleet: await fleet.read() };
  };
}

function factsOf({ name, settings, meter, status, control }: ReadDomain, tally: Pick<Tally, 'read'>): DomainFacts {
  const { outcomes, durations, engine } = meter.read();
  const now = status();
  const { calls, failed, busyMs, queued, inFlight, maxConcurrent, ceiling } = engine;
  const { entries, bytes, maxBytes, evictions, ghostHits } = now.memory;
  return {
    domain: name,
    settings: settingsOf(settings),
    ...{ outcomes, durations },
    engine: { calls, failed, busyMs, queued, inFlight, maxConcurrent, ceiling },
    ...tally.read(name),
    openBreakers: {
      engine: now.engine.endpoints.flatMap((endpoint) => (endpoint.breaker === 'closed' ? [] : [endpoint.name])),
      store: (now.store?.nodes ?? []).flatMap(({ node, breaker }) => (breaker === 'closed' ? [] : [node])),
    },
    memory: { entries, bytes, maxBytes, evictions, ghostHits },
    controlStanding: control.state().standing,
  };
}

function settingsOf(settings: ReadDomain['settings']): DomainFacts['settings'] {
  const { patienceMs, freshness, maxEntryBytes, engine, store } = settings;
  return {
    ...{ patienceMs, maxEntryBytes },
    ttlMs: freshness.ttlMs,
    staleMs: Math.max(freshness.staleWhileRevalidateMs, freshness.staleIfErrorMs),
    engineMaxConcurrent: engine.maxConcurrent,
    engineDeadlineMs: engine.deadlineMs,
    ...(store.kind === 'none' ? {} : { storeDeadlineMs: store.deadlineMs }),
  };
}
