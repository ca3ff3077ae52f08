/**
 * One flight per key in this process, as in golang/groupcache: a caller that comes while it runs gets the leader's
 * result, or its error. `Context` is the value that the leader shares with its followers, for the duration of the
 * flight.
 */
interface Singleflight<T, Context = void> {
  /**
   * Joins the flight of `key`, or starts it. The key is free again before the result is delivered: a caller that comes
   * afterwards starts a new flight and never reads a settled one, so an error is never replayed to a later request.
   */
  readonly join: (key: string, start: () => Promise<T>, context: Context) => Flight<T, Context>;
  /** Whether a flight of this key is running. */
  readonly has: (key: string) => boolean;
  readonly size: () => number;
}

interface Flight<T, Context = void> {
  readonly result: Promise<T>;
  /** The context of the leader. */
  readonly context: Context;
  /** True for the one caller whose `start` ran. */
  readonly leads: boolean;
}

export function createSingleflight<T, Context = void>(): Singleflight<T, Context> {
  const flights = new Map<string, Flight<T, Context>>();
  return {
    join: (key, start, context) => {
      const running = flights.get(key);
      if (running !== undefined) return { result: running.result, context: running.context, leads: false };
      const flight = { result: begin(start), context, leads: true };
      flights.set(key, flight);
      // These are the first handlers of the promise, so they run before any handler of a waiter. They also handle the
      // rejection of a flight without waiters.
      const free = (): void => {
        flights.delete(key);
      };
      flight.result.then(free, free);
      return flight;
    },
    has: (key) => flights.has(key),
    size: () => flights.size,
  };
}

/** A `start` that throws synchronously is a failed flight. */
function begin<T>(start: () => Promise<T>): Promise<T> {
  try {
    return start();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Takes the result of a call without a promise: a value, or an error. It is called once and must not throw. */
export type Callback<T> = (error: unknown, value?: T) => void;

/** As Singleflight, for calls that end in a callback: no promise is made for a flight, or for a caller that joins it. */
interface CallbackFlights<T> {
  /** Joins the flight of `key`, or starts it. The key is free again before the first callback is called. */
  readonly join: (key: string, start: (done: Callback<T>) => void, done: Callback<T>) => void;
}

export function createCallbackFlights<T>(): CallbackFlights<T> {
  /** The callers that joined each flight after its first one. */
  const flights = new Map<string, Callback<T>[]>();
  return {
    join: (key, start, done) => {
      const running = flights.get(key);
      if (running !== undefined) {
        running.push(done);
        return;
      }
      const joined: Callback<T>[] = [];
      flights.set(key, joined);
      start((error, value) => {
        flights.delete(key);
        done(error, value);
        for (const each of joined) each(error, value);
      });
    },
  };
}
