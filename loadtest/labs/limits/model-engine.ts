import type { VirtualTime } from './virtual-time.ts';

/** An engine that does so many queries at once and keeps the others in a line of its own, where nobody can shed them. */
export interface ModelEngine {
  readonly ask: () => Promise<void>;
  /** Good answers a second it could give at the most, now. */
  readonly perSecond: () => number;
  /** Everything that starts from now on takes so many times as long. */
  readonly slowDown: (factor: number) => void;
}

export interface ModelEngineOptions {
  readonly time: VirtualTime;
  readonly atOnce: number;
  /** Of one query, its wait not included. */
  readonly meanMs: number;
  /** Spread of the logarithm: 0.4 puts p99 at 2.3 × the mean. */
  readonly spread: number;
  /** This part of the queries costs ten times as much. */
  readonly costly: number;
  readonly random: () => number;
}

export function createModelEngine(options: ModelEngineOptions): ModelEngine {
  const { time, atOnce, meanMs, spread, costly, random } = options;
  const line: (() => void)[] = [];
  let busy = 0;
  let slowness = 1;

  const workMs = (): number => {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return meanMs * slowness * Math.exp(spread * normal - spread ** 2 / 2) * (random() < costly ? 10 : 1);
  };

  const begin = (): void => {
    const done = busy < atOnce ? line.shift() : undefined;
    if (done === undefined) return;
    busy += 1;
    time.at(time.clock.monotonicMs() + workMs(), () => {
      busy -= 1;
      done();
      begin();
    });
  };

  return {
    ask: () =>
      new Promise((resolve) => {
        line.push(resolve);
        begin();
      }),
    perSecond: () => (1000 * atOnce) / (meanMs * slowness * (1 + 9 * costly)),
    slowDown: (factor) => {
      slowness = factor;
    },
  };
}
