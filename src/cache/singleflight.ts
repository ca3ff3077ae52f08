import type { Done } from '../runtime.ts';

/** One call per key in this process, as in golang/groupcache: a caller that comes while it runs gets its result, or its error. */
interface Singleflight<T> {
  /**
   * Joins the call of `key`, or starts it. The key is free again before the first callback is called: a caller that comes
   * afterwards starts a new call, so an error is never replayed to a later request.
   */
  readonly join: (key: string, start: (done: Done<T>) => void, done: Done<T>) => void;
}

export function createSingleflight<T>(): Singleflight<T> {
  /** The callers that joined each call after its first one. */
  const running = new Map<string, Done<T>[]>();
  return {
    join: (key, start, done) => {
      const others = running.get(key);
      if (others !== undefined) {
        others.push(done);
        return;
      }
      const joined: Done<T>[] = [];
      running.set(key, joined);
      start((error, value) => {
        running.delete(key);
        done(error, value);
        for (const each of joined) each(error, value);
      });
    },
  };
}
