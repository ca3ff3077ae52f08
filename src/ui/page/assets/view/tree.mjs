// @ts-check
/**
 * What the page is made of before it is HTML (on the server) or DOM (in the browser): plain data, so that one view
 * serves both and neither ever glues strings into markup.
 * @typedef {string | TreeElement} Tree
 * @typedef {Tree | number | false | undefined | readonly Child[]} Child
 */

/**
 * An element, made by `h` alone. A private member marks it: an object that came as JSON, whatever its members are called,
 * is no element and becomes text.
 */
export class TreeElement {
  #made = true;

  /**
   * @param {string} tag
   * @param {Readonly<Record<string, string>>} attributes
   * @param {readonly Tree[]} children
   */
  constructor(tag, attributes, children) {
    this.tag = tag;
    /** `data-key` marks what an update must keep, wherever it moves. */
    this.attributes = attributes;
    /** No two strings in a row and no empty ones: the shape a parser would give. */
    this.children = children;
  }

  /**
   * @param {unknown} value
   * @returns {value is TreeElement}
   */
  static is(value) {
    return typeof value === 'object' && value !== null && #made in value && value.#made;
  }
}

/**
 * @param {string} tag
 * @param {Readonly<Record<string, string | number | boolean | undefined>>} attributes `true` is an empty attribute;
 *   `false` and `undefined` leave it out. A `href` that could run as a script is left out too.
 * @param {...Child} children
 * @returns {TreeElement}
 */
export function h(tag, attributes, ...children) {
  /** @type {Record<string, string>} */
  const kept = {};
  for (const name in attributes) {
    const value = attributes[name];
    if (value === undefined || value === false) continue;
    const text = value === true ? '' : textOf(value);
    if (name !== 'href' || isSafeAddress(text)) kept[name] = text;
  }
  /** @type {Tree[]} */
  const flat = [];
  flatten(children, flat);
  return new TreeElement(tag, kept, flat);
}

/** Characters of a value that is no text and is shown all the same. */
const MAX_FOREIGN = 200;
/** Lists in lists: views write three, and what came as JSON may have a million. */
const MAX_DEPTH = 16;

/**
 * @param {readonly Child[]} children
 * @param {Tree[]} into
 */
function flatten(children, into, depth = 0) {
  for (const child of children) {
    if (child === undefined || child === false || child === '') continue;
    if (Array.isArray(child) && depth < MAX_DEPTH) {
      flatten(child, into, depth + 1);
      continue;
    }
    if (TreeElement.is(child)) {
      into.push(child);
      continue;
    }
    const text = textOf(child);
    if (text === '') continue;
    const last = into.at(-1);
    if (typeof last === 'string') into[into.length - 1] = last + text;
    else into.push(text);
  }
}

/**
 * What a reader sees of a value. The types promise text and numbers; what a store or another process sent may be anything,
 * and is shown as the JSON it came as, cut short.
 * @param {unknown} value
 * @returns {string}
 */
export function textOf(value) {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return String(value);
  if (value === null) return '';
  try {
    const json = JSON.stringify(value) ?? '';
    return json.length > MAX_FOREIGN ? `${json.slice(0, MAX_FOREIGN)}…` : json;
  } catch {
    return '…';
  }
}

/**
 * Addresses of this site, of http, and files that the console made to be saved. What begins with white space or holds a
 * control character is no address: browsers would drop it before they look for a scheme.
 * @param {string} address
 */
function isSafeAddress(address) {
  return /^(?:\/(?![/\\])|[?#]|https?:\/\/|blob:https?:\/\/)/i.test(address) && !/\p{Cc}/u.test(address);
}
