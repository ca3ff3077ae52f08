// @ts-check
/**
 * Elements as plain data, which become HTML on the server and DOM in the browser: one view serves both, and no view
 * joins strings into markup.
 * @typedef {string | TreeElement} Tree
 * @typedef {Tree | number | false | undefined | readonly Child[]} Child
 */

import { textOf } from '../../report/text-of.mjs';

/**
 * An element, made by `h` only. A private member marks it: an object from JSON is not an element, whatever members it
 * has, and becomes text.
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
    /** `data-key` marks an element that an update keeps wherever it moves. */
    this.attributes = attributes;
    /** Without empty strings and without two strings in a row, as a parser would give them. */
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

/** Maximum nesting of lists: views write three levels, and JSON may have a million. */
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
 * Allows addresses of this site, of http and https, and the files that the console makes for saving. Leading white space
 * and control characters are not allowed: browsers drop them before they look for a scheme.
 * @param {string} address
 */
function isSafeAddress(address) {
  return /^(?:\/(?![/\\])|[?#]|https?:\/\/|blob:https?:\/\/)/i.test(address) && !/\p{Cc}/u.test(address);
}
