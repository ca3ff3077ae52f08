/**
 * @typedef {import('./shapes.mjs').Journal} Journal
 * @typedef {import('./shapes.mjs').Sample} Sample
 * @typedef {object} Watched A drill somebody looks at.
 * @property {string} id
 * @property {Journal} [journal] The latest, with the samples read since the console looked.
 * @property {number} [heardMs]
 * @property {import('./problem.mjs').Problem} [problem]
 */

import { asProblem } from './problem.mjs';

/** The service keeps no more either. */
const MAX_SAMPLES = 4000;
/** It thins its samples out when there are too many; then those asked for by number are not there for a long while. */
const EMPTY_READS = 3;

/**
 * Reads a journal once a second, only what is new of it.
 * @param {import('./api.mjs').Api} api
 * @param {(watched: Watched) => void} put
 */
export function createWatch(api, put) {
  /** @type {Watched | undefined} */
  let watched;
  let taken = 0;
  let empty = 0;
  let busy = false;

  const read = async () => {
    if (watched === undefined || busy || watched.journal?.state.kind === 'over') return;
    const { id, journal: before } = watched;
    busy = true;
    /** @type {Watched} */
    let next;
    try {
      const journal = /** @type {Journal} */ (
        await api.get(`/admin/drills/${encodeURIComponent(id)}?samples=${taken}`)
      );
      const fresh = journal.samples;
      empty = fresh.length === 0 ? empty + 1 : 0;
      const samples = taken === 0 ? fresh : [...(before?.samples ?? []), ...fresh].slice(-MAX_SAMPLES);
      taken = empty >= EMPTY_READS ? 0 : taken + fresh.length;
      if (taken === 0) empty = 0;
      next = { id, journal: { ...journal, samples }, heardMs: performance.now() };
    } catch (error) {
      next = { ...watched, problem: asProblem(error) };
    } finally {
      busy = false;
    }
    if (watched?.id !== id) return;
    watched = next;
    put(next);
  };

  return {
    read,
    /** @param {string} id */
    look: (id) => {
      if (watched?.id === id) return;
      watched = { id };
      taken = 0;
      empty = 0;
      put(watched);
      void read();
    },
  };
}
