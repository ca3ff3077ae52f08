import { setTimeout as sleep } from 'node:timers/promises';
import { type Changes, DEFENCES, type Defence } from '../configuration.ts';
import { share } from '../report.ts';
import { isHit } from '../verdict.ts';
import { compareWithControl } from './comparison.ts';
import {
  type Figure,
  type FigureResult,
  generatorKeptUp,
  type Holds,
  MAX_LAG_MS,
  measured,
  noneFound,
  retryWhileLagging,
  shown,
} from './figure.ts';
import {
  type EngineCapacity,
  freshIn,
  type GuardState,
  guardStateOf,
  type LimitedFleet,
  perSecondOf,
  servableIn,
  startLimitedFleet,
  tierStatesOf,
} from './fleets.ts';
import { isFault, isPage, type SentSearch } from './open-loop.ts';

interface Loss {
  /** `store`: all of L2. `both`: L2 and, by a restart, the L1 of every process. */
  readonly of: 'store' | 'both';
  readonly without: readonly Defence[];
}

interface LossSetup {
  readonly capacity: EngineCapacity;
  readonly ratePerSecond: number;
  /** Concurrency limit of the whole fleet. */
  readonly maxConcurrent: number;
  readonly ttlMs: number;
  readonly memory: string;
  /** Maximum time to wait for recovery. */
  readonly giveUpMs: number;
}

export interface LossResult extends Loss {
  /** Number of searches with a fresh page in L2, which the engine must compute again. */
  readonly hot: number;
  /** Mean number of searches in the L1 of a process. */
  readonly heldInMemory: number;
  readonly hitsBefore: number;
  /** The control's hit ratio minus the fleet's. */
  readonly gapBefore: number;
  /** Hit ratio in the second after the loss. */
  readonly hitsAfter: number;
  readonly mostInFlight: number;
  /** Requests for entries that the answering process had in L1 at the loss: count, and share with a page. */
  readonly heldRequests: number;
  readonly heldAnswered: number;
  /** Share of all requests with a page from the loss until recovery. */
  readonly answered: number;
  readonly engineSearches: number;
  readonly recoveredMs: number | undefined;
  /** Recovery time of a cache whose engine computes each miss instantly. */
  readonly idealMs: number | undefined;
  /** Results of the seconds after recovery. */
  readonly steady: {
    readonly requests: number;
    readonly refused: number;
    readonly gap: number;
    readonly guards: readonly GuardState[];
  };
  /** Requests to the fleet since the loss. */
  readonly requests: number;
  readonly faults: readonly string[];
  readonly wrong: readonly string[];
  readonly lagMs: number;
}

const PROCESSES = 2;
const SEARCHES = 800;
const SETUP: LossSetup = {
  capacity: { slots: 8, delayMs: 133 },
  ratePerSecond: 200,
  maxConcurrent: 16,
  ttlMs: 12_000,
  memory: '1MiB',
  giveUpMs: 15_000,
};
const CAPACITY = perSecondOf(SETUP.capacity);
/** Allowed recovery time, as a multiple of the time in which the engine computes every hot search once. */
const RECOVERY_FACTOR = 1.2;

const LOSSES: readonly Loss[] = [
  { of: 'store', without: [] },
  { of: 'both', without: [] },
  { of: 'both', without: DEFENCES },
];

/** The whole cache is lost under peak load, while the engine has capacity for a part of the requests. */
export const FULL_LOSS: Figure = {
  name: 'full-loss',
  summary: `all of L2, or L1 as well, lost at ${SETUP.ratePerSecond} searches a second, with an engine that can do ${shown(CAPACITY)}: ${shown((100 * CAPACITY) / SETUP.ratePerSecond)} % of them`,
  run: async ({ checkout }) => {
    const fleet = await startLimitedFleet({ checkout, services: PROCESSES, searches: SEARCHES });
    try {
      const losses: LossResult[] = [];
      for (const loss of LOSSES) losses.push(await retryWhileLagging(() => measureLoss(fleet, loss, SETUP)));
      return resultOf(losses);
    } finally {
      await fleet.stop();
    }
  },
};

/** The engine's capacity before the loss, so that the caches fill. */
const UNLIMITED: EngineCapacity = { slots: Number.POSITIVE_INFINITY, delayMs: 20 };
const LIMITED_BEFORE_MS = 2500;
const STEADY_MS = 3000;

/** The stream never stops. While the processes restart only the control gets it, as behind a load balancer. */
async function measureLoss(fleet: LimitedFleet, loss: Loss, setup: LossSetup): Promise<LossResult> {
  const { engineProxy, services } = fleet;
  const changes: Changes = {
    memory: { maxBytes: setup.memory },
    engine: { maxConcurrent: setup.maxConcurrent },
    freshness: { ttl: `${setup.ttlMs}ms`, emptyTtl: `${setup.ttlMs}ms` },
  };
  await fleet.startControl(changes);
  await fleet.startServices({ ...changes, without: loss.without }, { capacity: UNLIMITED, empty: true });
  const watch = compareWithControl(fleet, setup);
  const { loop } = watch;
  try {
    await sleep(setup.ttlMs);
    engineProxy.set({ capacity: setup.capacity.slots, delayMs: setup.capacity.delayMs });
    await sleep(LIMITED_BEFORE_MS);
    const seen = [...new Set(loop.asked.map(({ text }) => text))];
    const holdings = await Promise.all(services.map((service) => tierStatesOf(service, seen)));
    const lostMs = loop.sinceStartMs();
    engineProxy.resetCounts();
    if (loss.of === 'both') {
      watch.includeFleet(false);
      // The processes stop before FLUSHALL, because they write their entries back to L2 when they stop.
      await Promise.all(services.map((service) => service.stop()));
    }
    await fleet.store.command('FLUSHALL');
    if (loss.of === 'both') {
      await Promise.all(services.map((service) => service.start(service.config() ?? '')));
      watch.includeFleet(true);
    }
    const kept = loss.of === 'both' ? [] : holdings.map(({ l1 }) => l1);
    watch.begin(kept.map(freshIn));
    const beganMs = loop.sinceStartMs();
    while (watch.recoveredMs() === undefined && loop.sinceStartMs() < beganMs + setup.giveUpMs) await sleep(50);
    const steadyMs = loop.sinceStartMs();
    await sleep(STEADY_MS);
    await loop.stop();
    const { searches, mostAtEngine, mostWaiting } = engineProxy.counts();
    const before = watch.between(lostMs - LIMITED_BEFORE_MS, lostMs);
    const afterLoss = watch.between(beganMs, steadyMs);
    const steady = watch.between(steadyMs, Number.POSITIVE_INFINITY);
    const inMemory = kept.map(servableIn);
    const ofHeld = afterLoss.fleet.filter(({ to, text }) => inMemory[to]?.has(text) === true);
    return {
      ...loss,
      hot: freshIn(holdings[0]?.l2 ?? new Map()).size,
      heldInMemory: holdings.reduce((sum, { l1 }) => sum + servableIn(l1).size, 0) / holdings.length,
      hitsBefore: share(before.fleet, isHit),
      gapBefore: gapOf(before),
      hitsAfter: share(watch.between(beganMs, beganMs + 1000).fleet, isHit),
      mostInFlight: mostAtEngine + mostWaiting,
      heldRequests: ofHeld.length,
      heldAnswered: share(ofHeld, isPage),
      answered: share(afterLoss.fleet, isPage),
      engineSearches: searches,
      recoveredMs: watch.recoveredMs(),
      idealMs: watch.idealMs(),
      steady: {
        requests: steady.fleet.length,
        refused: steady.fleet.filter((one) => !isPage(one)).length,
        gap: gapOf(steady),
        guards: await Promise.all(services.map(guardStateOf)),
      },
      requests: afterLoss.fleet.length + steady.fleet.length,
      faults: loop.asked.filter(isFault).map(({ text, verdict }) => `${text}: ${JSON.stringify(verdict)}`),
      wrong: await watch.wrong(),
      lagMs: loop.lagMs(),
    };
  } finally {
    await loop.stop();
  }
}

const gapOf = ({ fleet, control }: Record<'fleet' | 'control', readonly SentSearch[]>): number =>
  share(control, isHit) - share(fleet, isHit);

const NAMES: Readonly<Record<Loss['of'], string>> = { store: 'L2', both: 'L2 and L1' };

export function resultOf(losses: readonly LossResult[]): FigureResult {
  const withAll = losses.filter(({ without }) => without.length === 0);
  return { table: losses.map(rowOf), verdicts: withAll.flatMap(verdictsOf) };
}

function rowOf(loss: LossResult): FigureResult['table'][number] {
  return {
    lost: NAMES[loss.of],
    without: loss.without.length === 0 ? '–' : 'all defences',
    'hot keys': loss.hot,
    'capacity/s': shown(CAPACITY),
    'held in L1': shown(loss.heldInMemory),
    'hits before %': percent(loss.hitsBefore),
    'first second %': percent(loss.hitsAfter),
    'answered %': percent(loss.answered),
    'held answered %': percent(loss.heldAnswered),
    'most in flight': loss.mostInFlight,
    'engine searches': loss.engineSearches,
    'back s': seconds(loss.recoveredMs),
    'on demand at best s': seconds(loss.idealMs),
    'bound s': seconds(boundMs(loss)),
    'gap before, points': percent(loss.gapBefore),
    'gap after, points': percent(loss.steady.gap),
    'refused after': loss.steady.refused,
    'permits after': loss.steady.guards.map(({ maxConcurrent }) => maxConcurrent).join('+'),
    wrong: loss.wrong.length,
    'lag ms': shown(loss.lagMs),
  };
}

function verdictsOf(loss: LossResult): FigureResult['verdicts'] {
  const lost = `${NAMES[loss.of]} lost`;
  const latched = loss.steady.guards.filter(({ breaker, overloaded }) => breaker !== 'closed' || overloaded);
  const noState: Holds =
    loss.steady.refused > 0 ? false : noneFound(latched, Math.min(loss.steady.requests, loss.steady.guards.length));
  const held = {
    says: `${lost}: ${percent(loss.heldAnswered)} % of ${loss.heldRequests} requests for what the process held answered, at least 99`,
    holds: measured(loss.heldAnswered, (share) => share >= HELD_ANSWERED),
  };
  return [
    {
      says: `${lost}: never more than ${loss.mostInFlight} at the engine, the limit is ${SETUP.maxConcurrent}`,
      holds: loss.engineSearches > 0 ? loss.mostInFlight <= SETUP.maxConcurrent : 'not measured',
    },
    ...(loss.of === 'both' ? [] : [held]),
    {
      says: `${lost}: hits as the control's within 2 points after ${seconds(loss.recoveredMs)} s, at most ${seconds(boundMs(loss))}: ${RECOVERY_FACTOR} × ${loss.hot} hot keys ÷ ${shown(CAPACITY)} a second`,
      holds: loss.hot > 0 ? (loss.recoveredMs ?? Number.POSITIVE_INFINITY) <= boundMs(loss) : 'not measured',
    },
    {
      says: `${lost}: no state stays: ${loss.steady.refused} of ${loss.steady.requests} refused in the seconds after, ${latched.length} guards not at rest`,
      holds: noState,
    },
    {
      says: `${lost}: ${loss.wrong.length} wrong answers, ${loss.faults.length} that a client cannot act on${loss.faults[0] === undefined ? '' : `, such as ${loss.faults[0]}`}`,
      holds: noneFound([...loss.wrong, ...loss.faults], loss.requests),
    },
    {
      says: `${lost}: the generator kept up: p99 of its lateness ${shown(loss.lagMs)} ms, at most ${MAX_LAG_MS}`,
      holds: generatorKeptUp(loss.lagMs),
    },
  ];
}

const HELD_ANSWERED = 0.99;

const boundMs = ({ hot }: LossResult): number => (RECOVERY_FACTOR * hot * 1000) / CAPACITY;
const seconds = (ms: number | undefined): string => (ms === undefined ? '–' : (ms / 1000).toFixed(1));
const percent = (part: number): string => (Number.isNaN(part) ? '–' : (part * 100).toFixed(1));
