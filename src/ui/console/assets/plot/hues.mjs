/** One cohort per stage, at most sixteen, and the control: hues go round, and the table below the plot has the names. */
const HUES = /** @type {const} */ (['engine', 'stale', 'store', 'shed', 'lifeboat', 'collapsed']);

/**
 * @param {number} at Of the cohort; 0 is the control.
 * @returns {import('./palette.mjs').Colour}
 */
export function hueOf(at) {
  return at === 0 ? 'memory' : (HUES[(at - 1) % HUES.length] ?? 'engine');
}
