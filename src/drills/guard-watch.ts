import type { GuardFigure, GuardRule } from './plan.ts';

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
export interface GuardWatch {
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
