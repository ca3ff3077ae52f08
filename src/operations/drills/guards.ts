import { DURATION_BOUNDS_MS, type Figures } from '../meter/figures.ts';
import type { Lookback, MetricsWindow } from './metrics-window.ts';
import type { GuardFigure, GuardRule, Plan } from './plan.ts';

/** Guards look at the last two seconds, or further back with little traffic. */
export const GUARD_WINDOW_MS = 2000;
/** Minimum number of searches for a rate: one error among three searches does not give an error rate. */
const MIN_SEARCHES = 20;
/** Minimum number of searches of the control cohort: with fewer, its ratio varies by more than five points by chance. */
const MIN_CONTROL_SEARCHES = 100;
/** With a hit ratio of 1 the baseline has no engine calls to multiply: the factor is computed from at least one a second. */
const MIN_BASELINE_CALLS_PER_SECOND = 1;

/** Older readings say nothing about the present. */
const atMostMs = 30_000;
export const RECENT: Lookback = { atLeastMs: GUARD_WINDOW_MS, atLeastSearches: MIN_SEARCHES, atMostMs };
const RECENT_CONTROL: Lookback = { ...RECENT, atLeastSearches: MIN_CONTROL_SEARCHES, cohorts: [0] };

/** The figures of most guards look back as `RECENT` says. */
const LOOKBACKS: Partial<Record<GuardFigure, Lookback>> = {
  engineRateFactor: { atLeastMs: GUARD_WINDOW_MS },
  hitRatioDrop: RECENT_CONTROL,
};

/** The value of a guard now; undefined when it cannot be measured. @param baseline absent while it is being measured */
export function guardValue(
  figure: GuardFigure,
  metrics: MetricsWindow,
  baseline: Figures | undefined,
): number | undefined {
  if (figure === 'engineInFlightShare') return metrics.inFlightShare(GUARD_WINDOW_MS);
  return valueIn(metrics.over(LOOKBACKS[figure] ?? RECENT), figure, baseline);
}

/** The value over a whole phase. @param inFlightShare the mean over the phase, when it was measured */
export function phaseValue(
  figure: GuardFigure,
  measured: Figures,
  baseline: Figures | undefined,
  inFlightShare: number | undefined,
): number | undefined {
  if (figure === 'engineInFlightShare') return inFlightShare;
  const controlSearches = measured.cohorts[0]?.searches ?? 0;
  if (figure === 'hitRatioDrop' && controlSearches < MIN_CONTROL_SEARCHES) return undefined;
  return valueIn(measured, figure, baseline);
}

function valueIn(
  now: Figures | undefined,
  figure: Exclude<GuardFigure, 'engineInFlightShare'>,
  baseline: Figures | undefined,
): number | undefined {
  if (figure === 'engineRateFactor') return baseline && rateFactor(now, baseline);
  if (figure === 'hitRatioDrop') return baseline && controlPointsLost(now, baseline);
  return now?.[figure];
}

/** The limits of the steady-state hypothesis that are exceeded, in words. Empty: it holds. */
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

function rateFactor(now: Figures | undefined, baseline: Figures): number | undefined {
  if (now === undefined) return undefined;
  return now.engineCallsPerSecond / Math.max(MIN_BASELINE_CALLS_PER_SECOND, baseline.engineCallsPerSecond);
}

function controlPointsLost(now: Figures | undefined, baseline: Figures): number | undefined {
  const before = baseline.cohorts[0];
  const ratio = now?.cohorts[0]?.hitRatio;
  if (ratio === undefined || before?.hitRatio === undefined || before.searches < MIN_CONTROL_SEARCHES / 2) {
    return undefined;
  }
  return Math.max(0, (before.hitRatio - ratio) * 100);
}

export interface GuardState {
  readonly rule: GuardRule;
  readonly value: number | undefined;
  /** The value is above the limit now. A breached guard without a value stays broken. */
  readonly broken: boolean;
  /** Broken for at least the time of the rule. */
  readonly breached: boolean;
  /** A change since the previous check, for the journal. */
  readonly turned: 'breached' | 'holds' | undefined;
}

/** Ticks come a little early or late; a guard waits for its time and not for one more tick. */
const TICK_SLACK_MS = 100;

/** Remembers since when each guard is broken. */
export function createGuardWatch(rules: readonly GuardRule[]) {
  const brokenSince = new Map<GuardRule, number>();
  const breaches = new Set<GuardRule>();
  return {
    check: (nowMs: number, currentValue: (figure: GuardFigure) => number | undefined): readonly GuardState[] =>
      rules.map((rule): GuardState => {
        const value = currentValue(rule.figure);
        // A breached guard holds again only when a value below the limit was measured.
        const broken = value === undefined ? breaches.has(rule) : value > rule.max;
        const sinceMs = broken ? (brokenSince.get(rule) ?? nowMs) : undefined;
        if (sinceMs === undefined) brokenSince.delete(rule);
        else brokenSince.set(rule, sinceMs);
        const breached = sinceMs !== undefined && nowMs - sinceMs >= rule.forMs - TICK_SLACK_MS;
        const was = breaches.has(rule);
        if (breached) breaches.add(rule);
        else breaches.delete(rule);
        const turned = breached === was ? undefined : breached ? 'breached' : 'holds';
        return { rule, value, broken, breached, turned };
      }),
  };
}

/** Covers a late timer, and the sending of the answer. */
const PATIENCE_SLACK_MS = 250;

/**
 * The limit on durations for a domain's patience. A quantile is one of the bounds of the histogram, so the limit is a bound
 * as well: the first one that includes the slack. Otherwise a duration below the limit could be reported above it.
 */
export function patienceLimitMs(patienceMs: number): number {
  const last = DURATION_BOUNDS_MS.at(-1) ?? 0;
  return DURATION_BOUNDS_MS.find((bound) => bound >= patienceMs + PATIENCE_SLACK_MS) ?? last;
}

/** The plan with the limit for the most patient of its domains. */
export function applyPatience(plan: Plan, domains: readonly { readonly patienceMs: number }[]): Plan {
  if (domains.length === 0) return plan;
  const max = patienceLimitMs(Math.max(...domains.map(({ patienceMs }) => patienceMs)));
  const fit = (rule: GuardRule): GuardRule => (rule.follows === 'patience' ? { ...rule, max } : rule);
  return { ...plan, guards: plan.guards.map(fit) };
}
