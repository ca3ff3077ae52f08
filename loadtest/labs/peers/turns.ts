import { EngineError } from '../../../src/search/engine.ts';

export interface Turns {
  /** Does the work when it is its turn. @throws EngineError `engine-overloaded` when too many wait already. */
  readonly run: <T>(work: () => Promise<T>) => Promise<T>;
}

/** A queue as plain as backends have: so many at once, the others first in first out, however long it takes. */
export function createTurns(options: { readonly atOnce: number; readonly mostWaiting: number }): Turns {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    run: async (work) => {
      if (running < options.atOnce) running += 1;
      else if (waiting.length < options.mostWaiting) await new Promise<void>((resolve) => waiting.push(resolve));
      else throw new EngineError('engine-overloaded', `${options.mostWaiting} searches wait already`);
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        // Whoever is next takes the place over: nobody may slip in between.
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };
}
