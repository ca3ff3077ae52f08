/**
 * @typedef {import('./shapes.mjs').LiveLine} LiveLine
 * @typedef {import('./shapes.mjs').DomainLook} DomainLook
 * @typedef {{ readonly atMs: number, readonly look?: DomainLook }} Moment Without a look: nothing was heard just then.
 */

export const WINDOW_MS = 300_000;
const MAX_MOMENTS = 400;
/** Lines come one a second: a longer pause is a hole in what is known, and is drawn as one. */
const HOLE_MS = 2500;

/** The last five minutes of each domain, in this page only. */
export function createHistory() {
  /** @type {Map<string, Moment[]>} */
  const byDomain = new Map();

  return {
    /** @param {LiveLine} line */
    note: ({ atMs, domains }) => {
      for (const look of domains) {
        const moments = byDomain.get(look.domain) ?? [];
        byDomain.set(look.domain, moments);
        const last = moments.at(-1);
        // The service's clock was set back: what came before it can no longer be put in order.
        if (last !== undefined && last.atMs >= atMs) moments.length = 0;
        else if (last !== undefined && atMs - last.atMs > HOLE_MS) moments.push({ atMs: last.atMs + 1 });
        moments.push({ atMs, look });
        const from = moments.findIndex((moment) => moment.atMs > atMs - WINDOW_MS);
        moments.splice(0, Math.max(from, moments.length - MAX_MOMENTS));
      }
    },
    /**
     * @param {string} domain
     * @returns {readonly Moment[]}
     */
    of: (domain) => byDomain.get(domain) ?? [],
  };
}
