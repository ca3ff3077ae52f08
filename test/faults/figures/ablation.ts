import { setTimeout as sleep } from 'node:timers/promises';
import { DEFENCES, type Defence } from '../../../src/config/settings.ts';
import type { Changes } from '../service.ts';
import { isHit } from '../verdict.ts';
import { compareWithControl } from './comparison.ts';
import { example, type Figure, type FigureResult, measured, noneFound, retryWhileLagging, shown } from './figure.ts';
import { type EngineCapacity, type LimitedFleet, startLimitedFleet } from './fleets.ts';
import { isFault, isPage, isShed, quantileMs, type SentSearch } from './open-loop.ts';

/** What happens to a fleet that is asked by an open loop, with and without a defence. */
export interface Scenario {
  readonly name: string;
  readonly ratePerSecond: number;
  /** How many different searches come. */
  readonly among: number;
  readonly changes: Changes;
  /** From the beginning of what happens; before that it is wide. */
  readonly width: EngineCapacity;
  /** How long the caches are filled before. */
  readonly warmMs: number;
  readonly measureMs: number;
  /** Begins when it is called; returns when what it does is over. */
  readonly happens: (fleet: LimitedFleet) => Promise<void>;
  /** It starts the processes anew: the balancer leaves them out meanwhile, and what is measured begins afterwards. */
  readonly restarts?: boolean;
}

export interface AblationResult {
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

const PROCESSES = 2;
const SEARCHES = 400;

/** 30 % of the 200 searches a second that come when nothing is cached. */
const NARROW = { slots: 8, delayMs: 133 };
const RATE = 200;
/** Far more than the engine's slots: nobody told the service what the engine can take. */
const ENGINE = { maxConcurrent: 64, hardDeadline: '3s' };
const LONG = { ttl: '1h', emptyTtl: '1h' };

/**
 * The one every defence is left out of in turn: all of L2 is lost and the engine can do 30 % of what is asked; after 2 s
 * it stands still for 2 s. Pages grow old within it.
 */
export const STANDARD: Scenario = {
  name: 'loss, stall',
  ratePerSecond: RATE,
  among: SEARCHES,
  changes: { engine: ENGINE, freshness: { ttl: '6s', emptyTtl: '6s' } },
  width: NARROW,
  warmMs: 2500,
  measureMs: 8000,
  happens: async ({ store, engineProxy }) => {
    await store.command('FLUSHALL');
    await sleep(2000);
    engineProxy.pause();
    await sleep(2000);
    engineProxy.resume();
  },
};

/** Nothing is cached anywhere, few pages are asked for, and each takes half a second of an engine that takes all. */
export const CROWD: Scenario = {
  name: 'crowd',
  ratePerSecond: RATE,
  among: 40,
  changes: { engine: { ...ENGINE, maxConcurrent: 400, limit: 'fixed' }, freshness: LONG },
  width: { slots: Number.POSITIVE_INFINITY, delayMs: 500 },
  warmMs: 500,
  measureMs: 3000,
  restarts: true,
  happens: async ({ store, services }) => {
    await Promise.all(services.map((service) => service.stop()));
    await store.command('FLUSHALL');
    await Promise.all(services.map((service) => service.start(service.config() ?? '')));
  },
};

/** The engine refuses everything for 3 s, and is four times slower for 4 s more, as one that has lost its own caches. */
export const DOWN: Scenario = {
  name: 'down, back cold',
  ratePerSecond: RATE,
  among: SEARCHES,
  changes: { engine: { ...ENGINE, maxConcurrent: 24, limit: 'fixed' }, freshness: LONG },
  width: NARROW,
  warmMs: 1500,
  measureMs: 9500,
  happens: async ({ store, engineProxy }) => {
    engineProxy.set({ fail: 'shutdown in progress' });
    await store.command('FLUSHALL');
    await sleep(3000);
    engineProxy.set({ fail: undefined, delayMs: 4 * NARROW.delayMs });
    await sleep(4000);
    engineProxy.set({ delayMs: NARROW.delayMs });
  },
};

/** Every page comes after the deadline, before the hard one. */
export const LATE: Scenario = {
  name: 'late',
  ratePerSecond: RATE / 2,
  among: SEARCHES,
  changes: { engine: { ...ENGINE, limit: 'fixed' }, freshness: LONG },
  width: { slots: 64, delayMs: 1000 },
  warmMs: 1500,
  measureMs: 5000,
  happens: async ({ store }) => {
    await store.command('FLUSHALL');
  },
};

/** Every defence in the standard scenario, and in one of its own where that does not show it. */
const PLAN: readonly { readonly scenario: Scenario; readonly without: readonly (readonly Defence[])[] }[] = [
  { scenario: STANDARD, without: [[], ...DEFENCES.map((one) => [one]), DEFENCES, []] },
  { scenario: CROWD, without: [[], ['coalescing'], ['lease'], ['coalescing', 'lease']] },
  { scenario: DOWN, without: [[], ['breaker'], ['ramp']] },
  { scenario: LATE, without: [[], ['late-pages']] },
];

/** Each defence left out in turn. */
export const ABLATION: Figure = {
  name: 'ablation',
  summary: 'what each defence is worth: the same misfortune without it',
  run: async ({ checkout }) => {
    const fleet = await startLimitedFleet({ checkout, services: PROCESSES, searches: SEARCHES });
    try {
      const worths: AblationResult[] = [];
      for (const { scenario, without } of PLAN) {
        for (const left of without) worths.push(await retryWhileLagging(() => runScenario(fleet, scenario, left), 2));
      }
      return resultOf(worths);
    } finally {
      await fleet.stop();
    }
  },
};

const WIDE: EngineCapacity = { slots: Number.POSITIVE_INFINITY, delayMs: 20 };

export async function runScenario(
  fleet: LimitedFleet,
  scenario: Scenario,
  without: readonly Defence[],
): Promise<AblationResult> {
  const { engineProxy } = fleet;
  const { changes, width } = scenario;
  await Promise.all([
    fleet.startControl(changes),
    fleet.startServices({ ...changes, domain: { ...changes.domain, without } }, { width: WIDE, empty: true }),
  ]);
  const watch = compareWithControl(fleet, scenario);
  const { loop } = watch;
  try {
    await sleep(scenario.warmMs);
    engineProxy.set({ capacity: width.slots, delayMs: width.delayMs });
    if (scenario.restarts) {
      watch.balance(false);
      await scenario.happens(fleet);
      watch.balance(true);
    }
    engineProxy.resetCounts();
    const beganMs = loop.sinceStartMs();
    const measured = sleep(scenario.measureMs);
    if (!scenario.restarts) await scenario.happens(fleet);
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

const inWords = ({ text, verdict }: SentSearch): string => `${text}: ${JSON.stringify(verdict)}`;

export function resultOf(worths: readonly AblationResult[]): FigureResult {
  const whole = worths.filter(({ without }) => without.length === 0);
  const faults = whole.flatMap((worth) => worth.faults);
  const wrong = worths.flatMap((worth) => worth.wrong);
  // Each must have been asked something, and have given a page.
  const requests = Math.min(...whole.map((worth) => worth.requests));
  const pages = Math.min(...worths.map((worth) => worth.pages));
  const standard = worths.filter(({ scenario }) => scenario === STANDARD.name);
  const answered = (left: number): number =>
    Math.min(...standard.filter(({ without }) => without.length === left).map((worth) => worth.answered));
  const [all, bare] = [answered(0), answered(DEFENCES.length)];
  return {
    table: worths.map((worth) => ({
      scenario: worth.scenario,
      without: worth.without.length === DEFENCES.length ? 'all of them' : worth.without.join(', ') || '–',
      'answered %': percent(worth.answered),
      'hits %': percent(worth.hits),
      wrong: worth.wrong.length,
      'p50 ms': shown(worth.p50Ms),
      'p99 ms': shown(worth.p99Ms),
      'shed p99 ms': shown(worth.shedP99Ms),
      'engine searches': worth.engineSearches,
      'per key': shown(worth.perKey, 2),
      'most in flight': worth.mostInFlight,
      'back s': worth.recoveredMs === undefined ? '–' : shown(worth.recoveredMs / 1000, 1),
      'gap at the end, points': shown(100 * worth.gap, 1),
      'no answer': worth.faults.length,
      'lag ms': shown(worth.lagMs),
    })),
    verdicts: [
      {
        says: `${STANDARD.name}: ${percent(all)} % answered with every defence, ${percent(bare)} % with none`,
        holds: measured(all - bare, (more) => more > 0),
      },
      { says: `${wrong.length} wrong answers, whatever is left out${example(wrong)}`, holds: noneFound(wrong, pages) },
      {
        says: `${faults.length} answers nobody can act on with every defence${example(faults)}`,
        holds: noneFound(faults, requests),
      },
    ],
  };
}

const percent = (part: number): string => (part * 100).toFixed(1);
