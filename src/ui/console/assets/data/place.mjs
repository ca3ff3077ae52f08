/**
 * @typedef {object} Place
 * @property {string | undefined} domain Undefined: the first.
 * @property {View} view
 * @property {string} [before] Of the audit: where an older page begins.
 */

export const VIEWS = /** @type {const} */ (['live', 'drills', 'changes', 'popular', 'audit']);
/** @typedef {typeof VIEWS[number]} View */

/**
 * @param {string} hash `#/goods/drills`, `#/goods/audit/0a1b2c3d4e5f-1234`
 * @returns {Place}
 */
export function placeFrom(hash) {
  const [, domain = '', name = '', before = ''] = hash.split('/');
  const place = { domain: decoded(domain), view: VIEWS.find((view) => view === name) ?? 'live' };
  return place.view === 'audit' && /^[0-9a-f-]+$/.test(before) ? { ...place, before } : place;
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
 * @param {string} [before]
 */
export function hrefOf(domain, view, before) {
  return `#/${encodeURIComponent(domain)}/${view}${before === undefined ? '' : `/${before}`}`;
}
