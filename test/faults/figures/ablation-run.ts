import { setTimeout as sleep } from 'node:timers/promises';
import type { Defence } from '../../../src/config/settings.ts';
import type { Changes } from '../configuration.ts';
import { watchLoss } from './loss-watch.ts';
import type { NarrowBed, Width } from './narrow-bed.ts';
import { type Asked, isFault, isHit, isPage, isShed, quantileMs } from './open-loop.ts';

/** What happens to a fleet that is asked by an open loop, with and without a defence. */
export interface Scenario {
  readonly name: string;
  readonly ratePerSecond: number;
  /** How many different searches come. */
  readonly among: number;
  readonly changes: Changes;
  /** From the beginning of what happens; before that it is wide. */
  readonly width: Width;
  /** How long the caches are filled before. */
  readonly warmMs: number;
  readonly measureMs: number;
  /** Begins when it is called; returns when what it does is over. */
  readonly happens: (bed: NarrowBed) => Promise<void>;
  /** It starts the processes anew: the balancer leaves them out meanwhile, and what is measured begins afterwards. */
  readonly restarts?: boolean;
}

export interface Worth {
  readonly scenario: string;
  readonly without: readonly Defence[];
  readonly requests: number;
  readonly pages: number;
  /** Of all requests, those that got a page, and those whose page was fresh and at hand. */
  readonly answered: number;
  readonly hits: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** NaN when nobody was refused. */
  readonly shedP99Ms: number;
  readonly engineSearches: number;
  readonly perKey: number;
  readonly mostInFlight: number;
  /** Since what happened was over, until the hits were the control's; undefined: not within the scenario. */
  readonly recoveredMs: number | undefined;
  /** At the end: the control's share of hits minus the fleet's. */
  readonly gap: number;
  readonly wrong: readonly string[];
  readonly faults: readonly string[];
  readonly lagMs: number;
}

const WIDE: Width = { places: Number.POSITIVE_INFINITY, delayMs: 20 };

export async function measureWorth(bed: NarrowBed, scenario: Scenario, without: readonly Defence[]): Promise<Worth> {
  const { engineProxy } = bed;
  const { changes, width } = scenario;
  await Promise.all([
    bed.startControl(changes),
    bed.startServices({ ...changes, domain: { ...changes.domain, without } }, { width: WIDE, empty: true }),
  ]);
  const watch = watchLoss(bed, scenario);
  const { loop } = watch;
  try {
    await sleep(scenario.warmMs);
    engineProxy.set({ capacity: width.places, delayMs: width.delayMs });
    if (scenario.restarts) {
      watch.balance(false);
      await scenario.happens(bed);
      watch.balance(true);
    }
    engineProxy.resetCounts();
    const beganMs = loop.sinceStartMs();
    const measured = sleep(scenario.measureMs);
    if (!scenario.restarts) await scenario.happens(bed);
    watch.begin([]);
    await measured;
    const { searches, distinct, mostAtEngine, mostWaiting } = engineProxy.counts();
    await loop.stop();
    const asked = watch.between(beganMs, beganMs + scenario.measureMs).fleet;
    const pages = asked.filter(isPage);
    return {
      scenario: scenario.name,
      without,
      requests: asked.length,
      pages: pages.length,
      answered: pages.length / asked.length,
      hits: asked.filter(isHit).length / asked.length,
      p50Ms: quantileMs(pages, 0.5),
      p99Ms: quantileMs(pages, 0.99),
      shedP99Ms: quantileMs(asked.filter(isShed), 0.99),
      engineSearches: searches,
      perKey: searches / distinct,
      mostInFlight: mostAtEngine + mostWaiting,
      recoveredMs: watch.recoveredMs(),
      gap: watch.gap() ?? Number.NaN,
      wrong: await watch.wrong(),
      faults: asked.filter(isFault).map(inWords),
      lagMs: loop.lagMs(),
    };
  } finally {
    await loop.stop();
  }
}

const inWords = ({ text, verdict }: Asked): string => `${text}: ${JSON.stringify(verdict)}`;
