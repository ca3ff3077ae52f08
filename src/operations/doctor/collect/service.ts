import type { DomainSettings } from '../../../config/settings.ts';
import type { Meter } from '../../meter/meter.ts';
import type { ReadService } from '../doctor.ts';
import type { DomainCounts } from '../facts.ts';
import type { Fleet } from './fleet.ts';

/** One domain, as the doctor reads it. */
interface ReadDomain {
  readonly name: string;
  readonly settings: Pick<DomainSettings, 'freshness' | 'engine' | 'store'>;
  readonly meter: Pick<Meter, 'read'>;
}

export interface ServiceReaderOptions {
  readonly processId: string;
  readonly version: string;
  readonly domains: readonly ReadDomain[];
  /** The events of a domain that its meter does not count. */
  readonly counts: (domain: string) => DomainCounts;
  readonly fleet: Pick<Fleet, 'read'>;
  /** The delay of the event loop. */
  readonly loopDelay: () => { readonly loopDelayMs: number };
}

/** Reads the figures of this process. */
export function createServiceReader(options: ServiceReaderOptions): ReadService {
  const { processId, version, domains, counts, fleet, loopDelay } = options;
  return async () => {
    // Before the fleet is asked, which takes a round trip: the counters are of the snapshot's moment.
    const loop = { delayMs: loopDelay().loopDelayMs };
    const read = domains.map(({ name, settings, meter }) => {
      const { outcomes, engine } = meter.read();
      const { queued, inFlight, maxConcurrent, ceiling } = engine;
      const { freshness, store } = settings;
      return {
        domain: name,
        settings: {
          ttlMs: freshness.ttlMs,
          engineMaxConcurrent: settings.engine.maxConcurrent,
          storeDeadlineMs: store.kind === 'none' ? undefined : store.deadlineMs,
        },
        outcomes,
        engine: { queued, inFlight, maxConcurrent, ceiling },
        ...counts(name),
      };
    });
    return { processId, version, loop, domains: read, fleet: await fleet.read() };
  };
}
