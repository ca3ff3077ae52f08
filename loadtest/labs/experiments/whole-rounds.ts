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
