import { DEFENCES } from '../../../src/config/settings.ts';
import { type Figure, type FigureResult, type Holds, measured, none } from './figure.ts';
import { type Loss, type LossFigures, type LossSetup, lose } from './full-loss-run.ts';
import { perSecondOf, startNarrowBed } from './narrow-bed.ts';
import { keptUp, MOST_LAG_MS, shown, unhurried } from './open-loop.ts';

const PROCESSES = 2;
const SEARCHES = 800;
const SETUP: LossSetup = {
  width: { places: 8, delayMs: 133 },
  ratePerSecond: 200,
  maxConcurrent: 16,
  ttlMs: 12_000,
  memory: '1MiB',
  giveUpMs: 15_000,
};
const CAPACITY = perSecondOf(SETUP.width);
/** Of what the engine needs to compute every hot search once. */
const PATIENCE = 1.2;

const LOSSES: readonly Loss[] = [
  { of: 'store', without: [] },
  { of: 'both', without: [] },
  { of: 'both', without: DEFENCES },
];

/** The whole cache is lost at the busiest hour, and the engine can do a part of what is asked. */
export const FULL_LOSS: Figure = {
  name: 'full-loss',
  says: `all of L2, or L1 as well, lost at ${SETUP.ratePerSecond} searches a second, with an engine that can do ${shown(CAPACITY)}: ${shown((100 * CAPACITY) / SETUP.ratePerSecond)} % of them`,
  run: async ({ checkout }) => {
    const bed = await startNarrowBed({ checkout, services: PROCESSES, searches: SEARCHES });
    try {
      const losses: LossFigures[] = [];
      for (const loss of LOSSES) losses.push(await unhurried(() => lose(bed, loss, SETUP)));
      return resultOf(losses);
    } finally {
      await bed.stop();
    }
  },
};

const NAMES: Readonly<Record<Loss['of'], string>> = { store: 'L2', both: 'L2 and L1' };

export function resultOf(losses: readonly LossFigures[]): FigureResult {
  const whole = losses.filter(({ without }) => without.length === 0);
  return { table: losses.map(rowOf), verdicts: whole.flatMap(verdictsOf) };
}

const boundMs = ({ hot }: LossFigures): number => (PATIENCE * hot * 1000) / CAPACITY;
const seconds = (ms: number | undefined): string => (ms === undefined ? '–' : (ms / 1000).toFixed(1));
const percent = (part: number): string => (Number.isNaN(part) ? '–' : (part * 100).toFixed(1));

function rowOf(loss: LossFigures): FigureResult['table'][number] {
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
    'places after': loss.steady.guards.map(({ maxConcurrent }) => maxConcurrent).join('+'),
    wrong: loss.wrong.length,
    'lag ms': shown(loss.lagMs),
  };
}

const HELD_ANSWERED = 0.99;

function verdictsOf(loss: LossFigures): FigureResult['verdicts'] {
  const lost = `${NAMES[loss.of]} lost`;
  const latched = loss.steady.guards.filter(({ breaker, overloaded }) => breaker !== 'closed' || overloaded);
  const noState: Holds =
    loss.steady.refused > 0 ? false : none(latched, Math.min(loss.steady.requests, loss.steady.guards.length));
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
      says: `${lost}: hits as the control's within 2 points after ${seconds(loss.recoveredMs)} s, at most ${seconds(boundMs(loss))}: ${PATIENCE} × ${loss.hot} hot keys ÷ ${shown(CAPACITY)} a second`,
      holds: loss.hot > 0 ? (loss.recoveredMs ?? Number.POSITIVE_INFINITY) <= boundMs(loss) : 'not measured',
    },
    {
      says: `${lost}: no state stays: ${loss.steady.refused} of ${loss.steady.requests} refused in the seconds after, ${latched.length} guards not at rest`,
      holds: noState,
    },
    {
      says: `${lost}: ${loss.wrong.length} wrong answers, ${loss.faults.length} nobody can act on${loss.faults[0] === undefined ? '' : `, such as ${loss.faults[0]}`}`,
      holds: none([...loss.wrong, ...loss.faults], loss.requests),
    },
    {
      says: `${lost}: the generator kept up: p99 of its lateness ${shown(loss.lagMs)} ms, at most ${MOST_LAG_MS}`,
      holds: keptUp(loss.lagMs),
    },
  ];
}
