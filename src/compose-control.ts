import { longestLifeMs } from './cache/entry.ts';
import { BUCKETS } from './cache/invalidation.ts';
import type { Signing } from './cache/signing.ts';
import type { ComposedEngine } from './compose-engine.ts';
import type { ProcessStores } from './compose-stores.ts';
import type { DomainSettings } from './config/settings.ts';
import type { ControlEvent } from './control/control.ts';
import { createControl, type PollingControl } from './control/create-control.ts';
import { createMeter, type Meter } from './operations/meter/meter.ts';
import type { Clock } from './runtime.ts';
import type { RedisStore } from './stores/redis/store.ts';

export interface ComposedControl {
  readonly control: PollingControl;
  /** The document is not kept among the entries. */
  readonly elsewhere: boolean;
  /** A drill has it that the engine is dead. */
  readonly forcedOpen: () => boolean;
}

export interface ControlComposition {
  readonly stores: ProcessStores;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observeControl: (event: ControlEvent) => void;
}

/** @param store the domain's own. @param signing the domain's, with keys. */
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
  return { control, elsewhere, forcedOpen: () => control.overlay()?.blackout === true };
}

/** Counts what the domain does in this process, beside the levels of its engine. */
export function composeMeter(
  { guard: { permit, endpoints }, ceiling }: ComposedEngine,
  forcedOpen: () => boolean,
  clock: Clock,
): Meter {
  return createMeter({
    buckets: BUCKETS,
    engine: () => ({
      inFlight: permit.inFlight(),
      queued: permit.queued(),
      maxConcurrent: permit.max(),
      ceiling: ceiling(),
      breaker: forcedOpen() ? 'open' : endpoints.state(),
    }),
    clock,
  });
}
