// @ts-check
/**
 * What the page is made of before it is HTML (on the server) or DOM (in the browser): plain data, so that one view
 * serves both and neither ever glues strings into markup.
 * @typedef {string | TreeElement} Tree
 * @typedef {object} TreeElement
 * @property {string} tag
 * @property {Readonly<Record<string, string>>} attributes `data-key` marks what an update must keep, wherever it moves.
 * @property {readonly Tree[]} children No two strings in a row and no empty ones: the shape a parser would give.
 *
 * @typedef {Tree | number | false | undefined | readonly Child[]} Child
 */

/**
 * @param {string} tag
 * @param {Readonly<Record<string, string | number | boolean | undefined>>} attributes `true` is an empty attribute;
 *   `false` and `undefined` leave it out.
 * @param {...Child} children
 * @returns {TreeElement}
 */
export function h(tag, attributes, ...children) {
  /** @type {Record<string, string>} */
  const kept = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    kept[name] = value === true ? '' : String(value);
  }
  /** @type {Tree[]} */
  const flat = [];
  flatten(children, flat);
  return { tag, attributes: kept, children: flat };
}

/**
 * @param {readonly Child[]} children
 * @param {Tree[]} into
 */
function flatten(children, into) {
  for (const child of children) {
    if (child === undefined || child === false || child === '') continue;
    if (Array.isArray(child)) {
      flatten(child, into);
      continue;
    }
    const node = typeof child === 'number' ? String(child) : /** @type {Tree} */ (child);
    const last = into.at(-1);
    if (typeof node === 'string' && typeof last === 'string') into[into.length - 1] = last + node;
    else into.push(node);
  }
}
