import { DURATION_BOUNDS_MS } from '../meter/reading.ts';
import type { GuardRule, Plan } from './plan.ts';

/** The default of the configuration, for plans that no domain is named for. */
export const DEFAULT_PATIENCE_MS = 2000;

/** A timer that comes late, and the bytes of the answer itself. */
const SLACK_MS = 250;

/**
 * The limit of a guard over durations that follows a domain's patience. Quantiles are told as bounds of the histogram, so the
 * limit is a bound as well: the first one that leaves the slack. Otherwise a quantile below the limit could be told above it.
 */
export function limitOfPatience(patienceMs: number): number {
  const last = DURATION_BOUNDS_MS.at(-1) ?? 0;
  return DURATION_BOUNDS_MS.find((bound) => bound >= patienceMs + SLACK_MS) ?? last;
}

/** The plan with the limits of the domains that it is run on. The most patient of them counts. */
export function fitPatience(plan: Plan, patiencesMs: readonly number[]): Plan {
  const max = limitOfPatience(Math.max(...(patiencesMs.length === 0 ? [DEFAULT_PATIENCE_MS] : patiencesMs)));
  const fit = (rule: GuardRule): GuardRule => (rule.follows === 'patience' ? { ...rule, max } : rule);
  return { ...plan, guards: plan.guards.map(fit) };
}
