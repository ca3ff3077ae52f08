import type { OverlayRange } from '../control/document.ts';
import type { FlushPreview } from '../flush/flush.ts';
import type { Figures } from '../meter/reading.ts';
import type { GuardFigure, Plan } from './plan.ts';
import type { Survival } from './survivable.ts';

/** Everything a drill did and saw, in the order it happened: the report is drawn from it and from nothing else. */
export interface Journal {
  /** `20261121-064348-goods-canary-x7`: sorts by time, safe as a file name. */
  readonly id: string;
  readonly plan: Plan;
  /** In the order in which they are drilled; one, unless the plan goes over domains. */
  readonly domains: readonly string[];
  readonly reason: string;
  readonly by: string;
  readonly owner: string;
  /** Wall time. */
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  /** The dry run of the last stage, per domain, as shown before the start. */
  readonly previews: Readonly<Record<string, FlushPreview>>;
  /** About two a second; at most `MAX_SAMPLES`, then every second one is left out. */
  readonly samples: readonly Sample[];
  readonly marks: readonly Mark[];
  readonly state: DrillState;
  readonly verdict?: Verdict;
  /** Per domain that was drilled. */
  readonly learned: readonly Learned[];
  /** The drill this one goes on with. */
  readonly resumes?: string;
  /** The bucket where its stages begin: a resumed drill begins at the same. */
  readonly offset?: number;
}

export const MAX_SAMPLES = 4000;

export type DrillPhase = 'baseline' | 'stage' | 'hold' | 'recovery' | 'after';

export type DrillState =
  | { readonly kind: 'running'; readonly phase: DrillPhase; readonly domain: string; readonly stage: number }
  /** The cache is restored already; the last figures are being taken. `ended`: what they change nothing of. */
  | { readonly kind: 'ending'; readonly ended?: Pick<Verdict, 'kind' | 'detail'> }
  | { readonly kind: 'over' };

export const VERDICTS = ['passed', 'failed', 'not-measured', 'refused', 'aborted', 'lost'] as const;

/**
 * `passed`: every stage, no guard broken, recovered. `failed`: it ended by a guard, or did not recover, or the hypothesis
 * did not hold afterwards. `not-measured`: too little was seen for either. `refused`: the hypothesis failed before the first
 * stage; nothing was flushed. `aborted`: by an operator, the halt lever or SIGTERM. `lost`: the owner could not renew it, so
 * every process ended it by itself.
 */
export interface Verdict {
  readonly kind: (typeof VERDICTS)[number];
  /** One sentence for people. */
  readonly detail: string;
  /** Where a resumed drill begins: the stage that was not finished. Absent when there is nothing to go on with. */
  readonly resumable?: { readonly domain: string; readonly stage: number };
}

export interface Sample {
  /** Since the start. */
  readonly atMs: number;
  readonly domain: string;
  readonly phase: DrillPhase;
  readonly stage: number;
  /** Of the time since the sample before, about half a second. */
  readonly figures: Figures;
  /** Over the last two seconds or so: what guards look at. */
  readonly guards: readonly { readonly figure: GuardFigure; readonly value?: number; readonly broken: boolean }[];
}

export type Mark = { readonly atMs: number; readonly domain: string } & (
  | { readonly kind: 'phase'; readonly phase: DrillPhase }
  | {
      readonly kind: 'stage';
      readonly stage: number;
      /** Each with the generation below which its entries were flushed. */
      readonly ranges: readonly OverlayRange[];
      readonly title: string;
    }
  | {
      readonly kind: 'guard';
      readonly figure: GuardFigure;
      readonly value: number;
      readonly max: number;
      readonly then: string;
    }
  | { readonly kind: 'guard-holds'; readonly figure: GuardFigure }
  | { readonly kind: 'recovered'; readonly stage: number; readonly afterMs: number }
  | { readonly kind: 'restored'; readonly why: string }
);

export interface Learned {
  readonly domain: string;
  /** Before the first stage. */
  readonly baseline: Figures;
  /** After the cache was restored. */
  readonly after?: Figures;
  readonly stages: readonly StageLearned[];
  /** Absent in journals of versions that told single figures. */
  readonly survival?: Survival;
}

export interface StageLearned {
  readonly stage: number;
  readonly title: string;
  /** Of the cohort of this stage: before the drill, at its lowest, at the end of the stage. 0–1. */
  readonly before?: number;
  readonly lowest?: number;
  readonly end?: number;
  /** The control cohort at the same time. */
  readonly control?: number;
  /** Until the cohort was back within the plan's points of its own past; absent when it was not. */
  readonly refillMs?: number;
  readonly peakEngineCallsPerSecond: number;
}
