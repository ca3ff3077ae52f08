/** How much is asked for. Sizes, not times: those are the lab's. */
export interface Sizes {
  /** All peers take turns, so often. */
  readonly rounds: number;
  /** Pages asked for in turn: many more than the smallest first tier holds. */
  readonly pages: number;
  /** The rate at which times are taken: a third of what the slowest can do on one core. */
  readonly perSecond: number;
  /** Pages that memory is measured with. */
  readonly memoryPages: number;
  readonly replicas: number;
  readonly engineDelayMs: number;
  readonly hotRequests: number;
  readonly manyKeys: number;
  readonly requestsEach: number;
  /** Pages that are cached when the engine dies, and that are not. */
  readonly knownPages: number;
  readonly unseenPages: number;
  /** Of expired pages. */
  readonly deadPerSecond: number;
}

export const SIZES: Sizes = {
  rounds: 2,
  pages: 1200,
  perSecond: 1000,
  memoryPages: 4000,
  replicas: 3,
  engineDelayMs: 200,
  // Who does not coalesce sends all of them to the engine, eight at once: more would take a minute.
  hotRequests: 150,
  manyKeys: 30,
  requestsEach: 15,
  knownPages: 100,
  unseenPages: 20,
  deadPerSecond: 200,
};

/** Of the pages of all peers, but those the engine dies under. */
export const LONG = { ttlSeconds: 3600, staleSeconds: 60 } as const;
export const SHORT = { ttlSeconds: 3, staleSeconds: 60 } as const;
