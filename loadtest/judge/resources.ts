import { connectionMeters, machineMeters, memoryMeters } from './machine-meters.ts';
import type { RunRecord, StepFigures } from './record.ts';
import { samplesIn } from './series.ts';
import { type CausedUse, coreMeters, engineMeters, generatorMeter, type Meter, type Reading } from './work-meters.ts';

export interface Resources {
  /** Fullest first. Only what was measured at least once. */
  readonly uses: readonly CausedUse[];
  /** The step that `used` and `words` are of; undefined when none ran. */
  readonly telling?: StepFigures;
}

/** Everything that can be full and was measured, step by step. */
export function resourcesOf(record: RunRecord, steps: readonly StepFigures[]): Resources {
  const { samples, machine } = record;
  const meters: readonly Meter[] = [
    ...coreMeters(samples),
    ...engineMeters(samples),
    ...connectionMeters(samples),
    ...memoryMeters(samples),
    ...machineMeters,
    generatorMeter,
  ];
  const looks = steps.map(({ searchesPerSecond, ...step }) => ({
    samples: samplesIn(samples, step),
    searchesPerSecond,
    machine,
  }));
  const measured = meters
    .map((meter) => ({ meter, readings: looks.map((look) => bounded(meter.read(look))) }))
    .filter(({ readings }) => readings.some((reading) => reading !== undefined));
  const working = measured.filter(({ meter }) => meter.growsWithRate && meter.kind !== 'generator');
  const fullestIn = (step: number): number => Math.max(0, ...working.map(({ readings }) => readings[step]?.share ?? 0));
  const telling = tellingStep(steps, fullestIn);
  const uses = measured.map(({ meter, readings }) => useOf(meter, readings, steps, telling));
  const found = telling === undefined ? undefined : steps[telling];
  return { uses: uses.toSorted((a, b) => b.used - a.used), ...(found === undefined ? {} : { telling: found }) };
}

/** A store's bookkeeping is beside its limit, and two clocks make more than a core of one: full is full. */
function bounded(reading: Reading | undefined): Reading | undefined {
  return reading?.share === undefined ? reading : { ...reading, share: Math.min(1, reading.share) };
}

/** A rate that is as high as this share of the highest is as high. */
const AS_HIGH = 0.98;

/**
 * The first step that broke; else that with the highest rate, and of several the one in which something was fullest:
 * what a loss does to the engine shows while it lasts, not in the recovery at the same rate.
 */
function tellingStep(steps: readonly StepFigures[], fullestIn: (step: number) => number): number | undefined {
  const broke = steps.findIndex(({ summary }) => summary.result === 'broke');
  if (broke !== -1) return broke;
  const ran = steps.flatMap(({ summary }, at) => (summary.searches > 0 ? [at] : []));
  const judged = ran.filter((at) => steps[at]?.summary.step.limits !== undefined);
  const those = judged.length > 0 ? judged : ran;
  const planned = (at: number): number => {
    const step = steps[at]?.summary.step;
    return step === undefined ? 0 : step.ratePerSecond * step.searchesPerRequest;
  };
  const highest = Math.max(0, ...those.map(planned));
  return those
    .filter((at) => planned(at) >= AS_HIGH * highest)
    .reduce<number | undefined>(
      (best, at) => (best === undefined || fullestIn(at) >= fullestIn(best) ? at : best),
      undefined,
    );
}

function useOf(
  { kind, name, cause, growsWithRate }: Meter,
  readings: readonly (Reading | undefined)[],
  steps: readonly StepFigures[],
  telling = 0,
): CausedUse {
  const held = steps.flatMap(({ summary, searchesPerSecond }, at) => {
    const share = readings[at]?.share;
    return summary.result === 'held' && share !== undefined ? [{ searchesPerSecond, share }] : [];
  });
  const fullAt = growsWithRate ? fullAtRps(held) : undefined;
  // A step too short for two samples: the last one before that was long enough says more than nothing.
  const before = readings[telling] === undefined ? readings.findLastIndex((one) => one !== undefined) : telling;
  const reading = readings[before];
  const where = before === telling ? '' : ` (at ${steps[before]?.summary.step.name})`;
  return {
    kind,
    name,
    cause,
    byStep: readings.map((one) => one?.share),
    used: reading?.share ?? 0,
    words: `${reading?.words ?? ''}${where}`,
    ...(fullAt === undefined ? {} : { fullAtRps: fullAt }),
  };
}

/** Below this spread the rates of two steps are one rate, and the line between them is chance. */
const LEAST_SPREAD = 1.2;
/** A line says nothing about what is so far away. */
const FARTHEST = 20;

export interface Held {
  readonly searchesPerSecond: number;
  /** 0–1 */
  readonly share: number;
}

/**
 * The rate at which something would be full if it goes on growing as it did: a line by least squares through the steps
 * that held. Undefined when it does not grow, with fewer than two rates, or when it is too far away to be told. Never
 * below a rate that held: that much is known.
 */
export function fullAtRps(held: readonly Held[]): number | undefined {
  const rates = held.map(({ searchesPerSecond }) => searchesPerSecond);
  const [lowest, highest] = [Math.min(...rates), Math.max(...rates)];
  if (held.length < 2 || !(highest > 0) || highest < LEAST_SPREAD * lowest) return undefined;
  const meanRate = mean(rates);
  const meanShare = mean(held.map(({ share }) => share));
  let [together, alone] = [0, 0];
  for (const { searchesPerSecond, share } of held) {
    together += (searchesPerSecond - meanRate) * (share - meanShare);
    alone += (searchesPerSecond - meanRate) ** 2;
  }
  const slope = together / alone;
  if (!(slope > 0)) return undefined;
  const rate = meanRate + (1 - meanShare) / slope;
  return rate > FARTHEST * highest ? undefined : Math.max(rate, highest);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
