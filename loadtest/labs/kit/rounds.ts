/**
 * Measures variants in turn, there and back, so that other load of the machine affects all of them.
 * @param measure gets the earlier runs of the variant, the newest last.
 * @returns for each variant its whole median run, by `figure`.
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

/** The median run; the lower one of the two in the middle, because a mean of two runs is no run. */
export function medianRun<Run>(runs: readonly Run[], figure: (run: Run) => number): Run | undefined {
  return runs.toSorted((one, other) => figure(one) - figure(other))[Math.floor((runs.length - 1) / 2)];
}

/**
 * A row that was disturbed by other load is measured once more, and the second measurement counts.
 * @param isDisturbed reads figures that the experiment does not vary @param again is called before the second measurement
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

/**
 * Requests that fill the time at a measured rate: at least two rounds of all requests that are under way at once, because
 * one round is only a beginning and an end.
 */
export function wholeRounds(load: {
  readonly clients: number;
  readonly pipeline: number;
  readonly perSecond: number;
  readonly seconds: number;
}): number {
  return Math.max(2 * load.clients * load.pipeline, Math.round(load.perSecond * load.seconds));
}
