import type { Figures } from '../meter/reading.ts';
import type { Lookout, Stretch } from './lookout.ts';
import type { GuardFigure, GuardRule } from './plan.ts';

/** Guards look at the last two seconds; where little is searched, further back. */
export const WINDOW_MS = 2000;
/** One error among three searches is no error rate. */
const ENOUGH_SEARCHES = 20;
/** The control cohort is small, and with less the ratio wavers by more than five points. */
const ENOUGH_CONTROL = 100;
/** A cache that hits always has no engine calls to multiply: the factor counts from one a second. */
const LEAST_CALLS_PER_SECOND = 1;

/** What lies further back says nothing about now. */
const atMostMs = 30_000;
export const RECENT: Stretch = { atLeastMs: WINDOW_MS, atLeastSearches: ENOUGH_SEARCHES, atMostMs };
const RECENT_CONTROL: Stretch = { ...RECENT, atLeastSearches: ENOUGH_CONTROL, cohorts: [0] };

/** What a guard watches now; undefined where it cannot be told. @param baseline absent while that is being measured. */
export function guardValue(figure: GuardFigure, lookout: Lookout, baseline: Figures | undefined): number | undefined {
  switch (figure) {
    case 'errorRate':
    case 'shedRate':
    case 'p99Ms':
      return lookout.over(RECENT)?.[figure];
    case 'engineInFlightShare':
      return lookout.inFlightShare(WINDOW_MS);
    case 'engineRateFactor':
      return baseline && factorOf(lookout.over({ atLeastMs: WINDOW_MS }), baseline);
    case 'hitRatioDrop':
      return baseline && pointsLost(lookout.over(RECENT_CONTROL), baseline);
  }
}

/** The same over one long stretch, a whole phase. @param inFlightShare the mean over it, where that was watched */
export function valueOver(
  figure: GuardFigure,
  measured: Figures,
  baseline: Figures | undefined,
  inFlightShare: number | undefined,
): number | undefined {
  switch (figure) {
    case 'errorRate':
    case 'shedRate':
    case 'p99Ms':
      return measured[figure];
    case 'engineInFlightShare':
      return inFlightShare;
    case 'engineRateFactor':
      return baseline && factorOf(measured, baseline);
    case 'hitRatioDrop':
      return baseline && (measured.cohorts[0]?.searches ?? 0) >= ENOUGH_CONTROL
        ? pointsLost(measured, baseline)
        : undefined;
  }
}

/** Whether the steady-state hypothesis holds. In words what does not. */
export function brokenHypothesis(
  rules: readonly GuardRule[],
  measured: Figures,
  inFlightShare: number | undefined,
  baseline: Figures | undefined,
): readonly string[] {
  return rules.flatMap(({ figure, max }) => {
    const value = valueOver(figure, measured, baseline, inFlightShare);
    return value !== undefined && value > max ? [`${figure} is ${shown(value)}, above ${max}`] : [];
  });
}

export function shown(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** Of one moment; undefined while nobody is heard. */
export function shareAtEnd({ engineInFlight, engineCeiling }: Figures): number | undefined {
  return engineCeiling > 0 ? engineInFlight / engineCeiling : undefined;
}

function factorOf(now: Figures | undefined, baseline: Figures): number | undefined {
  if (now === undefined) return undefined;
  return now.engineCallsPerSecond / Math.max(LEAST_CALLS_PER_SECOND, baseline.engineCallsPerSecond);
}

/** Points of hit ratio the control cohort has lost to its own past. */
function pointsLost(now: Figures | undefined, baseline: Figures): number | undefined {
  const before = baseline.cohorts[0];
  const ratio = now?.cohorts[0]?.hitRatio;
  if (ratio === undefined || before?.hitRatio === undefined || before.searches < ENOUGH_CONTROL / 2) return undefined;
  return Math.max(0, (before.hitRatio - ratio) * 100);
}
