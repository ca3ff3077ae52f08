import type { FlushMode } from '../../control/document.ts';
import type { EraseBy } from '../flush/flush.ts';

/** A drill as it is written down: stages, what must hold, and what happens when it does not. */
export interface Plan {
  /** 1–64 characters: a lower-case letter or digit, then these and `-`. */
  readonly name: string;
  readonly title: string;
  readonly mode: FlushMode;
  /** With `erase`. */
  readonly eraseBy: EraseBy;
  /** `domain`: the stages are run for each domain named, one after another. */
  readonly over: 'one' | 'domains';
  /** Measured before the first stage, and up to a minute longer where little is searched: what cohorts are compared with. */
  readonly baselineMs: number;
  /** Share of the keys that no stage touches: the control cohort. 0.001–0.5. */
  readonly holdout: number;
  /** At least one; at most 16. */
  readonly stages: readonly Stage[];
  readonly guards: readonly GuardRule[];
  /** After the last stage: the flushed cohort is back within so many points of its own past, or it has not recovered. */
  readonly recovery: { readonly withinPoints: number; readonly timeoutMs: number };
  /** Measured after the cache is restored: the hypothesis must hold again. */
  readonly afterMs: number;
  /** With fewer searches in the baseline nothing can be learned, and the drill is refused. */
  readonly minSearches: number;
}

export type Stage = { readonly holdMs: number; readonly title?: string } & (
  | { readonly kind: 'fraction' /** 0–1, above 0, rising from stage to stage. */; readonly fraction: number }
  /** Everything that lives on the node of that place in the store's order; `next` is the one after the stage before. */
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
 * calls a second ÷ those of the baseline. `hitRatioDrop`: points (0–100) the control cohort has lost to its own past: harm
 * that reaches keys nobody flushed.
 */
export type GuardFigure = (typeof GUARD_FIGURES)[number];

export interface GuardRule {
  readonly figure: GuardFigure;
  /** The steady-state hypothesis: never above it. Checked before the first stage, all the while, and after. */
  readonly max: number;
  /** `max` is the domain's patience and some slack (`max: patience` in a plan): told anew for the domains it is run on. */
  readonly follows?: 'patience';
  /** For so long without a break. */
  readonly forMs: number;
  /** `rollback`: ends the drill. `hold`: no further stage until it holds again. `continue`: written down. */
  readonly then: 'rollback' | 'hold' | 'continue';
}

/** One thing wrong with a plan. */
export interface PlanFault {
  readonly path: readonly (string | number)[];
  /** As given, shortened. */
  readonly value: string;
  /** What would have been accepted. */
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

/** RFC 6901, below `base`. */
export function pointerOf(path: PlanFault['path'], base: string): string {
  return [base, ...path.map((step) => String(step).replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');
}

export function showValue(value: unknown): string {
  if (value === undefined || value === null) return '(missing)';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'a mapping';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}

/** Largest first, so that a value is shown in the largest unit that holds it whole. */
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
