import type { FlushMode } from '../control/document.ts';
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
