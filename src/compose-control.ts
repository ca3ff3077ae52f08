import { longestLifeMs } from './cache/entry.ts';
import { BUCKETS } from './cache/invalidation.ts';
import type { Signing } from './cache/signing.ts';

import type { DomainSettings } from './config/settings.ts';
import type { ControlEvent } from './control/control.ts';
import { createControl, type PollingControl } from './control/create-control.ts';
import type { DomainEngines } from './engines/create-engines.ts';
import { createMeter, type Meter } from './operations/meter/meter.ts';
import type { Clock } from './runtime.ts';
import type { RedisStore } from './stores/redis/store.ts';
import type { ProcessStores } from './stores/stores.ts';

export interface ComposedControl {
  readonly control: PollingControl;
  /** The document is not kept in the store of the entries. */
  readonly elsewhere: boolean;
  /** A drill is simulating an engine outage. */
  readonly forcedOpen: () => boolean;
}

export interface ControlComposition {
  readonly stores: ProcessStores;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observeControl: (event: ControlEvent) => void;
}

/** @param store the store of the domain, where it has one */
export function composeControl(
  { name, freshness }: DomainSettings,
  store: RedisStore | undefined,
  signing: Signing | undefined,
  { stores, clock, random, observeControl }: ControlComposition,
): ComposedControl {
  const { elsewhere, ...place } = stores.controlOf(store);
  const control = createControl({
    ...place,
    domain: name,
    locate: (storeName) => store?.locate(storeName).node,
    clock,
    random,
    observe: observeControl,
    signing,
    longestLifeMs: longestLifeMs(freshness),
  });
  return { control, elsewhere, forcedOpen: control.forcedOpen };
}

/** The meter of a domain, with the levels of its engine. */
export function composeMeter(
  { guard: { limiter, balancer, ceiling } }: Pick<DomainEngines, 'guard'>,
  forcedOpen: () => boolean,
  clock: Clock,
): Meter {
  return createMeter({
    buckets: BUCKETS,
    engine: () => ({
      inFlight: limiter.inFlight(),
      queued: limiter.queued(),
      maxConcurrent: limiter.max(),
      ceiling: ceiling(),
      breaker: forcedOpen() ? 'open' : balancer.state(),
    }),
    clock,
  });
}
