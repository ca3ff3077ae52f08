import type { FlushMode } from '../../control/document.ts';
import type { EraseBy } from '../flush/flush.ts';

/** A drill as it is written down: its stages, the limits that must hold, and what happens when one is exceeded. */
export interface Plan {
  /** 1–64 characters: a lower-case letter or digit, then these and `-`. */
  readonly name: string;
  readonly title: string;
  readonly mode: FlushMode;
  /** With `erase`. */
  readonly eraseBy: EraseBy;
  /** `domain`: the stages run for each named domain, one domain after another. */
  readonly over: 'one' | 'domains';
  /**
   * Duration of the baseline before the first stage, up to a minute longer with little traffic. Cohorts are compared
   * with the baseline.
   */
  readonly baselineMs: number;
  /** Share of the keys that no stage touches: the control cohort. 0.001–0.5. */
  readonly holdout: number;
  /** 1–16 stages. */
  readonly stages: readonly Stage[];
  readonly guards: readonly GuardRule[];
  /** After the last stage the flushed cohort must come back to within this many points of its own past. */
  readonly recovery: { readonly withinPoints: number; readonly timeoutMs: number };
  /** Duration of the measurement after the cache is restored, in which the hypothesis must hold again. */
  readonly afterMs: number;
  /** With fewer searches in the baseline the drill is refused, because nothing could be concluded. */
  readonly minSearches: number;
}

export type Stage = { readonly holdMs: number; readonly title?: string } & (
  | { readonly kind: 'fraction' /** Above 0, at most 1, rising from stage to stage. */; readonly fraction: number }
  /** Every key on one node, given by its place in the store's order from 0. */
  | { readonly kind: 'node'; readonly node: number }
  | { readonly kind: 'blackout' }
);

export const GUARD_FIGURES = [
  'errorRate',
  'shedRate',
  'p99Ms',
  'engineInFlightShare',
  'engineRateFactor',
  'hitRatioDrop',
] as const;

/**
 * `errorRate`, `shedRate`: 0–1. `p99Ms`. `engineInFlightShare`: in flight ÷ the fleet's ceiling. `engineRateFactor`: engine
 * calls per second ÷ those of the baseline. `hitRatioDrop`: points (0–100) that the control cohort has lost to its own past,
 * which is harm to keys that the drill did not flush.
 */
export type GuardFigure = (typeof GUARD_FIGURES)[number];

export interface GuardRule {
  readonly figure: GuardFigure;
  /**
   * The steady-state hypothesis: the figure is never above this limit. Checked before the first stage, during the drill
   * and after.
   */
  readonly max: number;
  /** `max` is the domain's patience plus some slack (`max: patience` in a plan): calculated again for the domains of a drill. */
  readonly follows?: 'patience';
  /** Minimum time for which the figure must exceed `max` without a break. */
  readonly forMs: number;
  /** `rollback`: ends the drill. `hold`: no further stage until it holds again. `continue`: only recorded. */
  readonly then: 'rollback' | 'hold' | 'continue';
}

/** One error in a plan. */
export interface PlanFault {
  readonly path: readonly (string | number)[];
  /** As given, shortened. */
  readonly value: string;
  /** The values that would be accepted. */
  readonly allowed: string;
  /** Line in the file, from 1. */
  readonly line?: number;
}

/** `stages[2].hold (line 7): "10 sec"; allowed: …` */
export function describeFault({ path, value, allowed, line }: PlanFault): string {
  const where = path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
  const at = line === undefined ? '' : ` (line ${line})`;
  return `${where === '' ? 'the plan' : where}${at}: ${value}; allowed: ${allowed}`;
}

/** A JSON pointer (RFC 6901) below `base`. */
export function pointerOf(path: PlanFault['path'], base: string): string {
  return [base, ...path.map((step) => String(step).replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');
}

/** Largest unit first: a value is shown in the largest unit that divides it. */
const UNITS: readonly (readonly [suffix: string, ms: number])[] = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
];

/** Milliseconds of `500ms`, `1.5s`, `5m`, `1h`; undefined for anything else, fractions of a millisecond included. */
export function parseDuration(text: string): number | undefined {
  const [, digits, suffix] = /^([0-9]{1,9}(?:\.[0-9]{1,3})?)(ms|s|m|h)$/.exec(text) ?? [];
  const unit = UNITS.find(([name]) => name === suffix)?.[1];
  if (digits === undefined || unit === undefined) return undefined;
  const exact = Number(digits) * unit;
  const whole = Math.round(exact);
  // 1.001s is 1000.9999999999999 ms in floating point, yet a whole millisecond.
  return Math.abs(exact - whole) < 1e-3 ? whole : undefined;
}

/** The shortest exact text: 90 000 → `90s`. Whole milliseconds only. */
export function formatDuration(ms: number): string {
  const [suffix, unit] = UNITS.find(([, each]) => ms > 0 && ms % each === 0) ?? ['s', 1000];
  return `${ms / unit}${suffix}`;
}
