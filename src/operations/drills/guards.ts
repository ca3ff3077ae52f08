import { DURATION_BOUNDS_MS, type Figures } from '../meter/figures.ts';
import type { Lookback, MetricsWindow } from './metrics-window.ts';
import type { GuardFigure, GuardRule, Plan } from './plan.ts';

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
export const RECENT: Lookback = { atLeastMs: WINDOW_MS, atLeastSearches: ENOUGH_SEARCHES, atMostMs };
const RECENT_CONTROL: Lookback = { ...RECENT, atLeastSearches: ENOUGH_CONTROL, cohorts: [0] };

/** What a guard watches now; undefined where it cannot be told. @param baseline absent while that is being measured. */
export function guardValue(
  figure: GuardFigure,
  lookout: MetricsWindow,
  baseline: Figures | undefined,
): number | undefined {
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
export function phaseValue(
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
    const value = phaseValue(figure, measured, baseline, inFlightShare);
    return value !== undefined && value > max ? [`${figure} is ${figureText(value)}, above ${max}`] : [];
  });
}

export function figureText(value: number): string {
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

export interface GuardState {
  readonly rule: GuardRule;
  readonly value: number | undefined;
  /** Above what may be, now; of a breached one that cannot be told now, when it was last told. */
  readonly broken: boolean;
  /** For as long as the rule allows. */
  readonly breached: boolean;
  /** What has just begun or ended, for the journal. */
  readonly turned: 'breached' | 'holds' | undefined;
}

/** Remembers since when each guard is broken. */
interface GuardWatch {
  readonly look: (nowMs: number, told: (figure: GuardFigure) => number | undefined) => readonly GuardState[];
}

/** Ticks come a little early or late; a guard waits for its time, not for one tick more. */
const TICK_SLACK_MS = 100;

export function createGuardWatch(rules: readonly GuardRule[]): GuardWatch {
  const since = new Map<GuardRule, number>();
  const breaches = new Set<GuardRule>();
  return {
    look: (nowMs, told) =>
      rules.map((rule): GuardState => {
        const value = told(rule.figure);
        // What was breached holds again once that is seen, not when nothing is.
        const broken = value === undefined ? breaches.has(rule) : value > rule.max;
        const sinceMs = broken ? (since.get(rule) ?? nowMs) : undefined;
        if (sinceMs === undefined) since.delete(rule);
        else since.set(rule, sinceMs);
        const breached = sinceMs !== undefined && nowMs - sinceMs >= rule.forMs - TICK_SLACK_MS;
        const was = breaches.has(rule);
        if (breached) breaches.add(rule);
        else breaches.delete(rule);
        const turned = breached === was ? undefined : breached ? 'breached' : 'holds';
        return { rule, value, broken, breached, turned };
      }),
  };
}

/** The default of the configuration, for plans that no domain is named for. */
export const DEFAULT_PATIENCE_MS = 2000;

/** A timer that comes late, and the bytes of the answer itself. */
const SLACK_MS = 250;

/**
 * The limit of a guard over durations that follows a domain's patience. Quantiles are told as bounds of the histogram, so the
 * limit is a bound as well: the first one that leaves the slack. Otherwise a quantile below the limit could be told above it.
 */
export function patienceLimitMs(patienceMs: number): number {
  const last = DURATION_BOUNDS_MS.at(-1) ?? 0;
  return DURATION_BOUNDS_MS.find((bound) => bound >= patienceMs + SLACK_MS) ?? last;
}

/** The plan with the limits of the domains that it is run on. The most patient of them counts. */
export function applyPatience(plan: Plan, patiencesMs: readonly number[]): Plan {
  const max = patienceLimitMs(Math.max(...(patiencesMs.length === 0 ? [DEFAULT_PATIENCE_MS] : patiencesMs)));
  const fit = (rule: GuardRule): GuardRule => (rule.follows === 'patience' ? { ...rule, max } : rule);
  return { ...plan, guards: plan.guards.map(fit) };
}
