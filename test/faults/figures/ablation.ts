import { setTimeout as sleep } from 'node:timers/promises';
import { type Changes, DEFENCES, type Defence } from '../configuration.ts';
import { quantileMs } from '../report.ts';
import { isHit } from '../verdict.ts';
import { compareWithControl } from './comparison.ts';
import { example, type Figure, type FigureResult, measured, noneFound, retryWhileLagging, shown } from './figure.ts';
import { type EngineCapacity, type LimitedFleet, startLimitedFleet } from './fleets.ts';
import { isFault, isPage, isShed, type SentSearch } from './open-loop.ts';

/** A failure scenario for a fleet under an open loop, run with and without a defence. */
interface Scenario {
  readonly name: string;
  readonly ratePerSecond: number;
  /** Number of distinct searches. */
  readonly among: number;
  readonly changes: Changes;
  /** The engine's capacity during the failure. Before that it is unlimited. */
  readonly capacity: EngineCapacity;
  /** Time to fill the caches before the failure. */
  readonly warmMs: number;
  readonly measureMs: number;
  /** Injects the failure. Resolves when it is over. */
  readonly injectFailure: (fleet: LimitedFleet) => Promise<void>;
  /** The failure restarts the processes. They get no requests meanwhile, and the measurement begins afterwards. */
  readonly restarts?: boolean;
}

export interface AblationResult {
  readonly scenario: string;
  readonly without: readonly Defence[];
  readonly requests: number;
  readonly pages: number;
  /** Share of requests that got a page, and share that were hits. */
  readonly answered: number;
  readonly hits: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** NaN without refusals. */
  readonly shedP99Ms: number;
  readonly engineSearches: number;
  readonly perKey: number;
  readonly mostInFlight: number;
  /** From the end of the failure until the hit ratio was the control's; undefined: not within the scenario. */
  readonly recoveredMs: number | undefined;
  /** The control's hit ratio minus the fleet's at the end. */
  readonly gap: number;
  readonly wrong: readonly string[];
  readonly faults: readonly string[];
  readonly lagMs: number;
}

const PROCESSES = 2;
const SEARCHES = 400;

/** 30 % of the 200 searches a second, all of which reach the engine while nothing is cached. */
const LIMITED = { slots: 8, delayMs: 133 };
const RATE = 200;
/** Far more than the engine's slots: the service is not configured with the engine's capacity. */
const ENGINE = { maxConcurrent: 64, hardDeadline: '3s' };
const LONG_LIVED = { ttl: '1h', emptyTtl: '1h' };

/**
 * The scenario for every defence: all of L2 is lost while the engine has capacity for 30 % of the requests; after 2 s it
 * stops for 2 s. Pages expire during the scenario.
 */
const STANDARD: Scenario = {
  name: 'loss, stall',
  ratePerSecond: RATE,
  among: SEARCHES,
  changes: { engine: ENGINE, freshness: { ttl: '6s', emptyTtl: '6s' } },
  capacity: LIMITED,
  warmMs: 2500,
  measureMs: 8000,
  injectFailure: async ({ store, engineProxy }) => {
    await store.command('FLUSHALL');
    await sleep(2000);
    engineProxy.pause();
    await sleep(2000);
    engineProxy.resume();
  },
};

/** All caches are empty, few distinct pages are requested, and each takes 0.5 s at an engine without a limit. */
const CONCURRENT_MISSES: Scenario = {
  name: 'crowd',
  ratePerSecond: RATE,
  among: 40,
  changes: { engine: { ...ENGINE, maxConcurrent: 400, limit: 'fixed' }, freshness: LONG_LIVED },
  capacity: { slots: Number.POSITIVE_INFINITY, delayMs: 500 },
  warmMs: 500,
  measureMs: 3000,
  restarts: true,
  injectFailure: async ({ store, services }) => {
    await Promise.all(services.map((service) => service.stop()));
    await store.command('FLUSHALL');
    await Promise.all(services.map((service) => service.start(service.config() ?? '')));
  },
};

/** The engine refuses everything for 3 s and is four times slower for 4 s more, like an engine with cold caches. */
const DOWN: Scenario = {
  name: 'down, back cold',
  ratePerSecond: RATE,
  among: SEARCHES,
  changes: { engine: { ...ENGINE, maxConcurrent: 24, limit: 'fixed' }, freshness: LONG_LIVED },
  capacity: LIMITED,
  warmMs: 1500,
  measureMs: 9500,
  injectFailure: async ({ store, engineProxy }) => {
    engineProxy.set({ fail: 'shutdown in progress' });
    await store.command('FLUSHALL');
    await sleep(3000);
    engineProxy.set({ fail: undefined, delayMs: 4 * LIMITED.delayMs });
    await sleep(4000);
    engineProxy.set({ delayMs: LIMITED.delayMs });
  },
};

/** Every page arrives after the deadline and before the hard deadline. */
const LATE_PAGES: Scenario = {
  name: 'late',
  ratePerSecond: RATE / 2,
  among: SEARCHES,
  changes: { engine: { ...ENGINE, limit: 'fixed' }, freshness: LONG_LIVED },
  capacity: { slots: 64, delayMs: 1000 },
  warmMs: 1500,
  measureMs: 5000,
  injectFailure: async ({ store }) => {
    await store.command('FLUSHALL');
  },
};

/** Every defence is left out of the standard scenario, and out of another one if the standard does not show its effect. */
const PLAN: readonly { readonly scenario: Scenario; readonly without: readonly (readonly Defence[])[] }[] = [
  { scenario: STANDARD, without: [[], ...DEFENCES.map((one) => [one]), DEFENCES, []] },
  { scenario: CONCURRENT_MISSES, without: [[], ['coalescing'], ['lease'], ['coalescing', 'lease']] },
  { scenario: DOWN, without: [[], ['breaker'], ['ramp']] },
  { scenario: LATE_PAGES, without: [[], ['late-pages']] },
];

/** Leaves out each defence in turn. */
export const ABLATION: Figure = {
  name: 'ablation',
  summary: 'what each defence is worth: the same misfortune without it',
  run: async ({ checkout }) => {
    const fleet = await startLimitedFleet({ checkout, services: PROCESSES, searches: SEARCHES });
    try {
      const results: AblationResult[] = [];
      for (const { scenario, without } of PLAN) {
        for (const omitted of without)
          results.push(await retryWhileLagging(() => runScenario(fleet, scenario, omitted), 2));
      }
      return resultOf(results);
    } finally {
      await fleet.stop();
    }
  },
};

const UNLIMITED: EngineCapacity = { slots: Number.POSITIVE_INFINITY, delayMs: 20 };

async function runScenario(
  fleet: LimitedFleet,
  scenario: Scenario,
  without: readonly Defence[],
): Promise<AblationResult> {
  const { engineProxy } = fleet;
  const { changes, capacity } = scenario;
  await Promise.all([
    fleet.startControl(changes),
    fleet.startServices({ ...changes, without }, { capacity: UNLIMITED, empty: true }),
  ]);
  const watch = compareWithControl(fleet, scenario);
  const { loop } = watch;
  try {
    await sleep(scenario.warmMs);
    engineProxy.set({ capacity: capacity.slots, delayMs: capacity.delayMs });
    if (scenario.restarts) {
      watch.includeFleet(false);
      await scenario.injectFailure(fleet);
      watch.includeFleet(true);
    }
    engineProxy.resetCounts();
    const beganMs = loop.sinceStartMs();
    const measured = sleep(scenario.measureMs);
    if (!scenario.restarts) await scenario.injectFailure(fleet);
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
      gap: watch.hitGap() ?? Number.NaN,
      wrong: await watch.wrong(),
      faults: asked.filter(isFault).map(describe),
      lagMs: loop.lagMs(),
    };
  } finally {
    await loop.stop();
  }
}

const describe = ({ text, verdict }: SentSearch): string => `${text}: ${JSON.stringify(verdict)}`;

export function resultOf(results: readonly AblationResult[]): FigureResult {
  const withAll = results.filter(({ without }) => without.length === 0);
  const faults = withAll.flatMap((result) => result.faults);
  const wrong = results.flatMap((result) => result.wrong);
  // Each run needs requests and pages.
  const requests = Math.min(...withAll.map((result) => result.requests));
  const pages = Math.min(...results.map((result) => result.pages));
  const standard = results.filter(({ scenario }) => scenario === STANDARD.name);
  const answered = (omitted: number): number =>
    Math.min(...standard.filter(({ without }) => without.length === omitted).map((result) => result.answered));
  const [all, bare] = [answered(0), answered(DEFENCES.length)];
  return {
    table: results.map((result) => ({
      scenario: result.scenario,
      without: result.without.length === DEFENCES.length ? 'all of them' : result.without.join(', ') || '–',
      'answered %': percent(result.answered),
      'hits %': percent(result.hits),
      wrong: result.wrong.length,
      'p50 ms': shown(result.p50Ms),
      'p99 ms': shown(result.p99Ms),
      'shed p99 ms': shown(result.shedP99Ms),
      'engine searches': result.engineSearches,
      'per key': shown(result.perKey, 2),
      'most in flight': result.mostInFlight,
      'back s': result.recoveredMs === undefined ? '–' : shown(result.recoveredMs / 1000, 1),
      'gap at the end, points': shown(100 * result.gap, 1),
      'no answer': result.faults.length,
      'lag ms': shown(result.lagMs),
    })),
    verdicts: [
      {
        says: `${STANDARD.name}: ${percent(all)} % answered with every defence, ${percent(bare)} % with none`,
        holds: measured(all - bare, (more) => more > 0),
      },
      {
        says: `${wrong.length} wrong answers, whatever is left out${example(wrong)}`,
        holds: noneFound(wrong, pages),
      },
      {
        says: `${faults.length} answers that a client cannot act on with every defence${example(faults)}`,
        holds: noneFound(faults, requests),
      },
    ],
  };
}

const percent = (part: number): string => (part * 100).toFixed(1);
