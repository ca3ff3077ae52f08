/**
 * Measures the variants in turn, every second round in reverse, so that changes of the machine affect all of them.
 * @param measure gets the earlier runs of the variant, oldest first.
 */
export async function inTurns<Variant, Run>(
  variants: readonly Variant[],
  rounds: number,
  measure: (variant: Variant, before: readonly Run[]) => Promise<Run>,
) {
  const all = variants.map((variant) => ({ variant, runs: [] as Run[] }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { variant, runs } of round % 2 === 0 ? all : all.toReversed()) runs.push(await measure(variant, runs));
  }
  return all;
}

/** @returns the median run of each variant, by `figure`. */
export async function alternately<Variant, Run>(
  variants: readonly Variant[],
  rounds: number,
  measure: (variant: Variant, before: readonly Run[]) => Promise<Run>,
  figure: (run: Run) => number,
): Promise<readonly Run[]> {
  return (await inTurns(variants, rounds, measure)).flatMap(({ runs }) => medianRun(runs, figure) ?? []);
}

/** The median by `figure`. For an even number the lower of the two in the middle, because a mean of two runs is not a run. */
export function medianRun<Run>(runs: readonly Run[], figure: (run: Run) => number): Run | undefined {
  return runs.toSorted((one, other) => figure(one) - figure(other))[Math.floor((runs.length - 1) / 2)];
}

/**
 * Measures a disturbed row a second time. The second result counts, even when it is disturbed too.
 * @param isDisturbed judges by figures that the experiment does not vary. @param again is called before the second time.
 */
export async function onceMore<T>(
  measure: () => Promise<T>,
  isDisturbed: (row: T) => boolean,
  again: () => void,
): Promise<T> {
  const row = await measure();
  if (!isDisturbed(row)) return row;
  again();
  return measure();
}
