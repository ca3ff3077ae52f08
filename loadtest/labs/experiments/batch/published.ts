/** What was published for batches of so many commands: rate and p99, at a load that was not. */
export interface PublishedBatch {
  readonly pipeline: number;
  readonly perSecond: number;
  readonly p99Ms: number;
}

export const PUBLISHED: readonly PublishedBatch[] = [
  { pipeline: 1, perSecond: 5000, p99Ms: 35 },
  { pipeline: 10, perSecond: 8000, p99Ms: 22 },
  { pipeline: 50, perSecond: 12_000, p99Ms: 18 },
  { pipeline: 100, perSecond: 18_500, p99Ms: 15 },
  { pipeline: 200, perSecond: 20_000, p99Ms: 14 },
  { pipeline: 500, perSecond: 19_800, p99Ms: 16 },
];

/** The golden number: more than this gained nothing there, less than the first left something. */
export const GOLDEN = { least: 100, most: 200 } as const;

export function publishedOf(pipeline: number): PublishedBatch | undefined {
  return PUBLISHED.find((one) => one.pipeline === pipeline);
}
