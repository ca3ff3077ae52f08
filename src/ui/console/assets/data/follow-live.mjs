import { linesOf } from './lines.mjs';
import { asProblem, Problem } from './problem.mjs';

/**
 * @typedef {import('./shapes.mjs').LiveLine} LiveLine
 * @typedef {{ readonly kind: 'connecting' } | { readonly kind: 'live' }
 *   | { readonly kind: 'lost', readonly why: string, readonly again: boolean, readonly retryAtMs: number }} Link
 *   `again`: it was live before. `retryAtMs`: of `performance.now()`.
 */

/** One line a second is promised: after so many missing ones the connection is dead, whatever the network says. */
const SILENCE_MS = 5000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/**
 * Reads `/admin/live` for good, and says what became of the connection.
 * @param {object} options
 * @param {import('./api.mjs').Api} options.api
 * @param {(line: LiveLine) => void} options.onLine
 * @param {(link: Link) => void} options.onLink
 * @param {() => number} options.random
 * @returns {{ readonly retry: () => void }} Ends a wait at once.
 */
export function followLive({ api, onLine, onLink, random }) {
  let waitMs = FIRST_WAIT_MS;
  let wasLive = false;
  let wake = () => {};

  /** @returns {Promise<never>} */
  const once = async () => {
    const stop = new AbortController();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const expectMore = () => {
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(new Problem('silent', 'Nothing was heard for 5 s.')), SILENCE_MS);
    };
    try {
      const response = await api.open('/admin/live', stop.signal);
      expectMore();
      if (response.body === null) throw new Problem('unreadable', 'The answer has no body.');
      for await (const line of linesOf(response.body)) {
        expectMore();
        waitMs = FIRST_WAIT_MS;
        wasLive = true;
        onLink({ kind: 'live' });
        onLine(/** @type {LiveLine} */ (line));
      }
      throw new Problem('ended', 'The service has ended the connection.');
    } finally {
      clearTimeout(timer);
      stop.abort();
    }
  };

  const run = async () => {
    onLink({ kind: 'connecting' });
    for (;;) {
      const problem = await once().catch(asProblem);
      // Spread, so that all the walls of a room do not come back together.
      const thisWaitMs = waitMs * (0.75 + 0.5 * random());
      waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
      onLink({ kind: 'lost', why: problem.message, again: wasLive, retryAtMs: performance.now() + thisWaitMs });
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, thisWaitMs);
        wake = () => {
          clearTimeout(timer);
          resolve(undefined);
        };
      });
    }
  };
  void run();
  return { retry: () => wake() };
}
