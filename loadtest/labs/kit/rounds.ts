/**
 * Measures variants in turn, there and back, so that what the machine does meanwhile falls on all of them.
 * @param measure gets what the variant had before, the last one last.
 * @returns the median run of each variant as a whole, by `figure`.
 */
export async function alternately<Variant, Run>(
  variants: readonly Variant[],
  rounds: number,
  measure: (variant: Variant, before: readonly Run[]) => Promise<Run>,
  figure: (run: Run) => number,
): Promise<readonly Run[]> {
  const all = variants.map((variant) => ({ variant, runs: [] as Run[] }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { variant, runs } of round % 2 === 0 ? all : all.toReversed()) runs.push(await measure(variant, runs));
  }
  return all.flatMap(({ runs }) => medianRun(runs, figure) ?? []);
}

/** Of an even number the lower of both in the middle: half of two runs would be no run. */
export function medianRun<Run>(runs: readonly Run[], figure: (run: Run) => number): Run | undefined {
  return runs.toSorted((one, other) => figure(one) - figure(other))[Math.floor((runs.length - 1) / 2)];
}

/**
 * A row that something else disturbed is measured once more, and no more often: it counts as it is then.
 * @param isDisturbed by figures that are not what the experiment varies @param again hears that it is measured again
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
 * How many requests fill the time, at a rate that was seen before: at least two rounds of everything that is under way at
 * once, because of one round alone its beginning and its end are all that is measured.
 */
export function wholeRounds(load: {
  readonly clients: number;
  readonly pipeline: number;
  readonly perSecond: number;
  readonly seconds: number;
}): number {
  return Math.max(2 * load.clients * load.pipeline, Math.round(load.perSecond * load.seconds));
}
