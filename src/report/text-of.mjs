// @ts-check
/** Maximum number of characters shown for a value that is not text. */
const MAX_JSON_CHARACTERS = 200;

/**
 * The text of a value. The types promise text and numbers, but a store or another process may send anything: that is
 * shown as JSON, cut to a maximum. The browser loads this file as it is.
 * @param {unknown} value
 * @returns {string}
 */
export function textOf(value) {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return String(value);
  if (value === null) return '';
  try {
    const json = JSON.stringify(value) ?? '';
    return json.length > MAX_JSON_CHARACTERS ? `${json.slice(0, MAX_JSON_CHARACTERS)}…` : json;
  } catch {
    return '…';
  }
}
