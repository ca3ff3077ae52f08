/** @typedef {{ readonly domain: string | undefined, readonly view: View }} Place `domain` undefined: the first. */

export const VIEWS = /** @type {const} */ (['live', 'drills', 'changes', 'popular', 'audit']);
/** @typedef {typeof VIEWS[number]} View */

/**
 * @param {string} hash `#/goods/drills`
 * @returns {Place}
 */
export function placeFrom(hash) {
  const [, domain = '', name = ''] = hash.split('/');
  return { domain: decoded(domain), view: VIEWS.find((view) => view === name) ?? 'live' };
}

/** @param {string} text */
function decoded(text) {
  try {
    return text === '' ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/**
 * @param {string} domain
 * @param {View} view
 */
export function hrefOf(domain, view) {
  return `#/${encodeURIComponent(domain)}/${view}`;
}
