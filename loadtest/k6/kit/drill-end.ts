/** How a drill of a script came out: what the service says of it, and two ends that only its operator knows. */
export const DRILL_ENDS = [
  'passed',
  'failed',
  'refused',
  'aborted',
  'lost',
  'not-measured',
  /** The service would not begin it, or could not be asked to. */
  'not-started',
  /** It went on after its last step, or the run ended before it. */
  'unfinished',
] as const;

export type DrillEnd = (typeof DRILL_ENDS)[number];

/** A metric of k6 holds numbers, and one without a sample is 0: the first end is 1. */
export function codeOfEnd(end: DrillEnd): number {
  return DRILL_ENDS.indexOf(end) + 1;
}

/** What never was told is `unfinished`. */
export function endOfCode(code: number | undefined): DrillEnd {
  return DRILL_ENDS[(code ?? 0) - 1] ?? 'unfinished';
}
