import { setTimeout as sleep } from 'node:timers/promises';
import type { Defence } from '../../../src/config/settings.ts';
import type { Changes } from '../configuration.ts';
import { fresh, type GuardState, guardOf, holdingsOf, servable } from './held.ts';
import { watchLoss } from './loss-watch.ts';
import type { NarrowBed, Width } from './narrow-bed.ts';
import { type Asked, isFault, isHit, isPage } from './open-loop.ts';

export interface Loss {
  /** `store`: all that L2 holds. `both`: that and, by a restart, the memory of every process. */
  readonly of: 'store' | 'both';
  readonly without: readonly Defence[];
}

export interface LossSetup {
  readonly width: Width;
  readonly ratePerSecond: number;
  /** Of the fleet. */
  readonly maxConcurrent: number;
  readonly ttlMs: number;
  readonly memory: string;
  /** Recovery is waited for no longer than this. */
  readonly giveUpMs: number;
}

export interface LossFigures extends Loss {
  /** Searches whose page L2 held fresh: what the engine must compute anew. */
  readonly hot: number;
  /** Mean over the processes: of the searches asked so far, how many each held in memory. */
  readonly heldInMemory: number;
  readonly hitsBefore: number;
  /** The control's share of hits minus the fleet's. */
  readonly gapBefore: number;
  /** In the second after the loss. */
  readonly hitsAfter: number;
  readonly mostInFlight: number;
  /** Of requests for what the answering process held in memory at the loss. */
  readonly heldRequests: number;
  readonly heldAnswered: number;
  /** From the loss until recovered, of all. */
  readonly answered: number;
  readonly engineSearches: number;
  readonly recoveredMs: number | undefined;
  /** What a cache would have needed whose engine computes whatever is missing at once. */
  readonly idealMs: number | undefined;
  /** Seconds after it. */
  readonly steady: {
    readonly requests: number;
    readonly refused: number;
    readonly gap: number;
    readonly guards: readonly GuardState[];
  };
  /** Requests to the fleet from the loss on. */
  readonly requests: number;
  readonly faults: readonly string[];
  readonly wrong: readonly string[];
  readonly lagMs: number;
}

/** What it is before: wide, so that the caches fill. */
const WIDE: Width = { places: Number.POSITIVE_INFINITY, delayMs: 20 };
const NARROW_BEFORE_MS = 2500;
const STEADY_MS = 3000;

/** The stream goes on all the while; while processes are started anew it goes to the control alone, as past a balancer. */
export async function lose(bed: NarrowBed, loss: Loss, setup: LossSetup): Promise<LossFigures> {
  const { engineProxy, services } = bed;
  const changes: Changes = {
    memory: { maxBytes: setup.memory },
    engine: { maxConcurrent: setup.maxConcurrent },
    freshness: { ttl: `${setup.ttlMs}ms`, emptyTtl: `${setup.ttlMs}ms` },
  };
  await bed.startControl(changes);
  await bed.startServices({ ...changes, domain: { without: loss.without } }, { width: WIDE, empty: true });
  const watch = watchLoss(bed, setup);
  const { loop } = watch;
  try {
    await sleep(setup.ttlMs);
    engineProxy.set({ capacity: setup.width.places, delayMs: setup.width.delayMs });
    await sleep(NARROW_BEFORE_MS);
    const seen = [...new Set(loop.asked.map(({ text }) => text))];
    const holdings = await Promise.all(services.map((service) => holdingsOf(service, seen)));
    const lostMs = loop.sinceStartMs();
    engineProxy.resetCounts();
    if (loss.of === 'both') {
      watch.balance(false);
      // First they end: on their way out they would write back what they hold.
      await Promise.all(services.map((service) => service.stop()));
    }
    await bed.store.command('FLUSHALL');
    if (loss.of === 'both') {
      await Promise.all(services.map((service) => service.start(service.config() ?? '')));
      watch.balance(true);
    }
    const kept = loss.of === 'both' ? [] : holdings.map(({ l1 }) => l1);
    watch.begin(kept.map(fresh));
    const beganMs = loop.sinceStartMs();
    while (watch.recoveredMs() === undefined && loop.sinceStartMs() < beganMs + setup.giveUpMs) await sleep(50);
    const steadyMs = loop.sinceStartMs();
    await sleep(STEADY_MS);
    await loop.stop();
    const { searches, mostAtEngine, mostWaiting } = engineProxy.counts();
    const before = watch.between(lostMs - NARROW_BEFORE_MS, lostMs);
    const struck = watch.between(beganMs, steadyMs);
    const steady = watch.between(steadyMs, Number.POSITIVE_INFINITY);
    const inMemory = kept.map(servable);
    const ofHeld = struck.fleet.filter(({ to, text }) => inMemory[to]?.has(text) === true);
    return {
      ...loss,
      hot: fresh(holdings[0]?.l2 ?? new Map()).size,
      heldInMemory: holdings.reduce((sum, { l1 }) => sum + servable(l1).size, 0) / holdings.length,
      hitsBefore: share(before.fleet, isHit),
      gapBefore: gapOf(before),
      hitsAfter: share(watch.between(beganMs, beganMs + 1000).fleet, isHit),
      mostInFlight: mostAtEngine + mostWaiting,
      heldRequests: ofHeld.length,
      heldAnswered: share(ofHeld, isPage),
      answered: share(struck.fleet, isPage),
      engineSearches: searches,
      recoveredMs: watch.recoveredMs(),
      idealMs: watch.idealMs(),
      steady: {
        requests: steady.fleet.length,
        refused: steady.fleet.filter((one) => !isPage(one)).length,
        gap: gapOf(steady),
        guards: await Promise.all(services.map(guardOf)),
      },
      requests: struck.fleet.length + steady.fleet.length,
      faults: loop.asked.filter(isFault).map(({ text, verdict }) => `${text}: ${JSON.stringify(verdict)}`),
      wrong: await watch.wrong(),
      lagMs: loop.lagMs(),
    };
  } finally {
    await loop.stop();
  }
}

const gapOf = ({ fleet, control }: Record<'fleet' | 'control', readonly Asked[]>): number =>
  share(control, isHit) - share(fleet, isHit);

function share(asked: readonly Asked[], holds: (asked: Asked) => boolean): number {
  return asked.filter(holds).length / asked.length;
}
