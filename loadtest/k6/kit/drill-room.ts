import { CALM_LIMITS } from './calm-limits.ts';
import type { Step, StepWish } from './step.ts';

/** A calm step, the loss, and the time to come back: all at one rate, each as long as the plan's defaults need. */
export interface DrillRoom {
  /** Its end is what the drill takes for its baseline. */
  readonly calm: Step;
  /** All stages are in it. */
  readonly loss: Step;
  readonly recovery: Step;
}

export interface DrillRoomWish {
  /** `x3-`: before the names of its steps. */
  readonly prefix?: string;
  readonly lossName: string;
  readonly lossTitle: string;
  readonly lossSeconds: number;
  readonly ratePerSecond: number;
  readonly stepSeconds: (otherwise: number) => number;
}

const RAMP_SECONDS = 5;
const CALM_SECONDS = 30;
/** The cohort comes back, and the figures are measured once more. */
const RECOVERY_SECONDS = 60;

/** While entries are missing the engine may say no, but honestly; and whoever is answered is answered with a page. */
const LOSS_LIMITS = { maxErrorRate: 0.001, abortErrorRate: 0.05, shedsAllowed: true };

export function drillRoom(wish: DrillRoomWish): readonly StepWish[] {
  const { prefix = '', lossName, lossTitle, lossSeconds, ratePerSecond, stepSeconds } = wish;
  return [
    {
      name: `${prefix}steady`,
      title: 'before: the baseline',
      rampSeconds: RAMP_SECONDS,
      holdSeconds: stepSeconds(CALM_SECONDS),
      ratePerSecond,
      limits: CALM_LIMITS,
    },
    {
      name: `${prefix}${lossName}`,
      title: lossTitle,
      goesOn: true,
      rampSeconds: 0,
      holdSeconds: stepSeconds(lossSeconds),
      ratePerSecond,
      limits: { ...LOSS_LIMITS, drillPasses: true },
    },
    {
      name: `${prefix}recovery`,
      title: 'the cache comes back',
      goesOn: true,
      rampSeconds: 0,
      holdSeconds: stepSeconds(RECOVERY_SECONDS),
      ratePerSecond,
      limits: LOSS_LIMITS,
    },
  ];
}

/** Each step that a drill has to pass in, between its neighbours. */
export function drillRooms(steps: readonly Step[]): readonly DrillRoom[] {
  return steps.flatMap((loss, at) => {
    const calm = steps[at - 1];
    const recovery = steps[at + 1];
    return loss.limits?.drillPasses === true && calm !== undefined && recovery !== undefined
      ? [{ calm, loss, recovery }]
      : [];
  });
}
