import { ENOUGH_CALLS, MOST_HEADROOM, survivable } from '../flush/survival.ts';
import type { Figures } from '../meter/reading.ts';

/** What a figure lies between, by twice the standard error of what was counted. `high` absent: more than can be told. */
export interface Range {
  readonly low: number;
  readonly high?: number;
}

/** What a drill tells about losing the cache. A figure is absent where there was too little load to say. */
export interface Survival {
  /** H: what the engine can do ÷ what it was asked in the baseline. */
  readonly headroom?: Range;
  /** The same at the worst moment. */
  readonly headroomLeft?: Range;
  /** A: engine calls with nothing cached ÷ those of the baseline. */
  readonly amplification?: Range;
  /** f* = (H − 1) ÷ (A − 1): the share of the keys that may be lost at once, 0–1. */
  readonly survivable?: Range;
}

export interface Measured {
  readonly baseline: Figures;
  /** While the engine was asked most, with `share` of the keys lost at once. */
  readonly worst: Figures | undefined;
  readonly share: number;
  /** The engine had no place left: it would have been asked more. */
  readonly saturated: boolean;
}

/** From less than that nothing is concluded about losing everything: chance would be multiplied with it. */
const LEAST_SHARE = 0.1;

export function survivalOf({ baseline, worst, share, saturated }: Measured): Survival {
  const headroom = headroomOf(baseline);
  const headroomLeft = worst && headroomOf(worst);
  const amplification = worst && share >= LEAST_SHARE ? amplificationOf(baseline, worst, share, saturated) : undefined;
  const told = headroom === undefined || amplification === undefined ? undefined : shareOf(headroom, amplification);
  return {
    ...(headroom && { headroom: rounded(headroom, toFactor) }),
    ...(headroomLeft && { headroomLeft: rounded(headroomLeft, toFactor) }),
    ...(amplification && { amplification: rounded(amplification, toFactor) }),
    ...(told && { survivable: rounded(told, 100) }),
  };
}

function headroomOf(figures: Figures): Range | undefined {
  const { engineCallMs, engineMax } = figures;
  const asked = callsPerSecond(figures);
  if (asked === undefined || engineCallMs === undefined || engineCallMs <= 0 || engineMax <= 0) return undefined;
  const capacity = (engineMax * 1000) / engineCallMs;
  const [low, high] = [capacity / asked.high, capacity / asked.low];
  return high > MOST_HEADROOM ? { low: Math.min(low, MOST_HEADROOM) } : { low, high };
}

/** In proportion to what was lost. Undefined where the loss cannot be told from chance. */
function amplificationOf(
  baseline: Figures,
  worst: Figures,
  share: number,
  saturated: boolean,
): Required<Range> | undefined {
  const [before, during] = [callsPerSecond(baseline), callsPerSecond(worst)];
  if (before === undefined || during === undefined) return undefined;
  const whole = (factor: number): number => 1 + (factor - 1) / share;
  const [low, high] = [whole(during.low / before.high), whole(during.high / before.low)];
  if (low <= 1) return undefined;
  // Every hit of the baseline an engine call: the most there can be, before coalescing.
  const most = (before.high + (baseline.hitRatio ?? 0) * baseline.searchesPerSecond) / before.high;
  return saturated ? { low, high: Math.max(low, most) } : { low: Math.min(low, most), high: Math.min(high, most) };
}

function shareOf(headroom: Range, amplification: Required<Range>): Range {
  const low = survivable(headroom.low, amplification.high);
  return { low, high: headroom.high === undefined ? 1 : survivable(headroom.high, amplification.low) };
}

/** Calls come by chance, so their number is known to twice its root. */
function callsPerSecond({ engineCallsPerSecond, seconds }: Figures): Required<Range> | undefined {
  const calls = engineCallsPerSecond * seconds;
  if (!(calls >= ENOUGH_CALLS)) return undefined;
  const error = (2 * Math.sqrt(calls)) / seconds;
  return { low: engineCallsPerSecond - error, high: engineCallsPerSecond + error };
}

/** Outwards, to as many steps as are shown: every page, console and terminal says the same. */
function rounded({ low, high }: Range, steps: number | ((value: number) => number)): Range {
  const of = (value: number): number => (typeof steps === 'number' ? steps : steps(value));
  const down = Math.floor(low * of(low) + 1e-9) / of(low);
  return { low: down, ...(high === undefined ? {} : { high: Math.ceil(high * of(high) - 1e-9) / of(high) }) };
}

function toFactor(value: number): number {
  return value < 10 ? 10 : 1;
}
