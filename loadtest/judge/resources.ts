import { plannedRate } from '../k6/kit/step.ts';
import { type Meter, metersFor, type Reading } from './meters.ts';
import type { RunRecord } from './record.ts';
import { samplesIn, sum } from './series.ts';
import type { StepFigures } from './step-figures.ts';

export type Resources = ReturnType<typeof resourcesOf>;
export type ResourceUse = ReturnType<typeof useOf>;

/** The use of every resource that was measured at least once, fullest first, and the step of `used` and `words`. */
export function resourcesOf({ samples, machine }: RunRecord, steps: readonly StepFigures[]) {
  const windows = steps.map(({ searchesPerSecond, ...step }) => ({
    samples: samplesIn(samples, step),
    searchesPerSecond,
    machine,
  }));
  const measured = metersFor(samples)
    .map((meter) => ({ meter, readings: windows.map((window) => bounded(meter.read(window))) }))
    .filter(({ readings }) => readings.some((reading) => reading !== undefined));
  const working = measured.filter(({ meter }) => meter.growsWithRate && meter.kind !== 'generator');
  const fullestIn = (step: number): number => Math.max(0, ...working.map(({ readings }) => readings[step]?.share ?? 0));
  const at = decisiveStep(steps, fullestIn);
  const uses = measured.map(({ meter, readings }) => useOf(meter, readings, steps, at));
  const decisive = at === undefined ? undefined : steps[at];
  return { uses: uses.toSorted((a, b) => b.used - a.used), decisive };
}

/** A share can exceed 1: a store counts some memory beside its limit, and times of two clocks can give more than a core. */
function bounded(reading: Reading | undefined): Reading | undefined {
  return reading?.share === undefined ? reading : { ...reading, share: Math.min(1, reading.share) };
}

/** Rates from this share of the highest rate count as the highest. */
const SAME_RATE = 0.98;

/**
 * The first step that broke; else the step with the highest rate, and of several the one in which some resource was
 * fullest: the effect of a loss on the engine shows during the loss, not in the recovery at the same rate.
 */
function decisiveStep(steps: readonly StepFigures[], fullestIn: (step: number) => number): number | undefined {
  const broke = steps.findIndex(({ summary }) => summary.result === 'broke');
  if (broke !== -1) return broke;
  const ran = steps.flatMap(({ summary: { searches, step } }, at) =>
    searches > 0 ? [{ at, rate: plannedRate(step), full: fullestIn(at), isJudged: step.limits !== undefined }] : [],
  );
  const judged = ran.filter(({ isJudged }) => isJudged);
  const candidates = judged.length > 0 ? judged : ran;
  const highest = Math.max(0, ...candidates.map(({ rate }) => rate));
  return candidates
    .filter(({ rate }) => rate >= SAME_RATE * highest)
    .toSorted((a, b) => b.full - a.full || b.at - a.at)[0]?.at;
}

function useOf(
  { kind, name, cause, growsWithRate }: Meter,
  readings: readonly (Reading | undefined)[],
  steps: readonly StepFigures[],
  decisive = 0,
) {
  const held = steps.flatMap(({ summary, searchesPerSecond }, at) => {
    const share = readings[at]?.share;
    return summary.result === 'held' && share !== undefined ? [{ searchesPerSecond, share }] : [];
  });
  // A step may be too short for two samples: then the last measured step is shown.
  const shown = readings[decisive] === undefined ? readings.findLastIndex((one) => one !== undefined) : decisive;
  const reading = readings[shown];
  const where = shown === decisive ? '' : ` (at ${steps[shown]?.summary.step.name})`;
  return {
    kind,
    name,
    cause,
    /** By step in the order of `steps`, 0–1 of the capacity. */
    byStep: readings.map((one) => one?.share),
    used: reading?.share ?? 0,
    words: `${reading?.words ?? ''}${where}`,
    fullAtRps: growsWithRate ? fullAtRps(held) : undefined,
  };
}

/** Highest ÷ lowest rate: below this the rates count as one, and a line between them is chance. */
const MIN_SPREAD = 1.2;
/** Times the highest rate: a line predicts nothing at a higher rate. */
const MAX_FACTOR = 20;

/**
 * The rate at which a resource is full if its use grows as before: a line by least squares through the steps that held.
 * Undefined when the use does not grow, with fewer than two rates, and for a rate that is too high to predict. Never below a
 * rate that held.
 */
export function fullAtRps(
  held: readonly { readonly searchesPerSecond: number; readonly share: number }[],
): number | undefined {
  const rates = held.map(({ searchesPerSecond }) => searchesPerSecond);
  const [lowest, highest] = [Math.min(...rates), Math.max(...rates)];
  if (held.length < 2 || !(highest > 0) || highest < MIN_SPREAD * lowest) return undefined;
  const meanRate = mean(rates);
  const meanShare = mean(held.map(({ share }) => share));
  let [covariance, variance] = [0, 0];
  for (const { searchesPerSecond, share } of held) {
    covariance += (searchesPerSecond - meanRate) * (share - meanShare);
    variance += (searchesPerSecond - meanRate) ** 2;
  }
  const slope = covariance / variance;
  if (!(slope > 0)) return undefined;
  const rate = meanRate + (1 - meanShare) / slope;
  return rate > MAX_FACTOR * highest ? undefined : Math.max(rate, highest);
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}
