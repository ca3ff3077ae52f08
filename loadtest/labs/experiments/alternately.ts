/**
 * Measures variants in turn, there and back, so that what the machine does meanwhile falls on all of them.
 * @param measure gets what the variant had before, the last one last.
 * @returns of each variant its median run as a whole, by `figure`.
 */
export async function alternately<Variant, Run>(
  variants: readonly Variant[],
  rounds: number,
  measure: (variant: Variant, before: readonly Run[]) => Promise<Run>,
  figure: (run: Run) => number,
): Promise<{ readonly variant: Variant; readonly run: Run }[]> {
  const all = variants.map((variant) => ({ variant, runs: [] as Run[] }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { variant, runs } of round % 2 === 0 ? all : all.toReversed()) runs.push(await measure(variant, runs));
  }
  return all.flatMap(({ variant, runs }) => {
    const run = medianRun(runs, figure);
    return run === undefined ? [] : [{ variant, run }];
  });
}

/** Of an even number the lower of both in the middle: half of two runs would be no run. */
export function medianRun<Run>(runs: readonly Run[], figure: (run: Run) => number): Run | undefined {
  return runs.toSorted((one, other) => figure(one) - figure(other))[Math.floor((runs.length - 1) / 2)];
}
