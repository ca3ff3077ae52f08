import { asProblem } from './problem.mjs';

/**
 * @typedef {import('./shapes.mjs').FeedValues} FeedValues
 * @typedef {object} Feed One thing the console reads again and again while somebody looks at it.
 * @property {keyof FeedValues} name
 * @property {string} path Another path is another thing: what was read before is forgotten.
 * @property {number} everyMs
 */

/**
 * @template [T=unknown]
 * @typedef {object} Fed
 * @property {string} path
 * @property {T} [value] The last that was read; undefined: nothing yet.
 * @property {number} [heardMs] When, by `performance.now()`.
 * @property {import('./problem.mjs').Problem} [problem] Of the last try.
 */

/**
 * @param {object} options
 * @param {import('./api.mjs').Api} options.api
 * @param {() => readonly Feed[]} options.wanted Asked at every turn.
 * @param {(name: keyof FeedValues, fed: Fed) => void} options.put
 */
export function createFeeds({ api, wanted, put }) {
  /** @type {Map<string, { readonly fed: Fed, dueMs: number, busy: boolean }>} */
  const held = new Map();

  /** @param {Feed} feed */
  const read = async ({ name, path, everyMs }) => {
    const before = held.get(name);
    const known = before?.fed.path === path ? before.fed : { path };
    const mine = { fed: known, dueMs: Number.POSITIVE_INFINITY, busy: true };
    held.set(name, mine);
    if (known !== before?.fed) put(name, known);
    /** @type {Fed} */
    let fed;
    try {
      fed = { path, value: await api.get(path), heardMs: performance.now() };
    } catch (error) {
      fed = { ...known, problem: asProblem(error) };
    }
    // Somebody looks at another path by now.
    if (held.get(name) !== mine) return;
    held.set(name, { fed, dueMs: performance.now() + everyMs, busy: false });
    put(name, fed);
  };

  const turn = () => {
    for (const feed of wanted()) {
      const now = held.get(feed.name);
      if (now === undefined || now.fed.path !== feed.path || (!now.busy && performance.now() >= now.dueMs))
        void read(feed);
    }
  };

  return {
    turn,
    /** @param {readonly (keyof FeedValues)[]} names These have changed: they are read at the next turn. */
    refresh: (names) => {
      for (const name of names) {
        const now = held.get(name);
        if (now !== undefined) now.dueMs = 0;
      }
      turn();
    },
  };
}
