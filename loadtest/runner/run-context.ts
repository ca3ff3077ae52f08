import type { BaseRate } from '../judge/record.ts';
import { CannotRun } from '../labs/kit/programs.ts';
import type { StackPlan } from '../stack/plan.ts';
import type { K6Program } from './k6-program.ts';

export interface RunContext {
  /** A line for whoever waits. */
  readonly say: (text: string) => void;
  /** Aborted: k6 is asked to end, and everything that was started is taken down. */
  readonly signal: AbortSignal;
  readonly calibrate: Calibrate;
}

/** Finds x1 on the local stack, which is running. */
export type Calibrate = (options: {
  readonly plan: StackPlan;
  readonly k6: K6Program;
  readonly queries: string;
  /** Of the run. */
  readonly folder: string;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}) => Promise<BaseRate>;

/** @throws CannotRun once the run was stopped. */
export function goOn({ signal }: RunContext): void {
  if (signal.aborted) throw new CannotRun('stopped before any load was sent');
}
