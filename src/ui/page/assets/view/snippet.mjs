// @ts-check
import { h } from './tree.mjs';

/** @typedef {import('./tree.mjs').Tree} Tree */

const NAMED = /** @type {Readonly<Record<string, string>>} */ ({
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
});

/**
 * A snippet as a tree. Only `<em>` is markup; whatever else looks like markup stays the text it is, so a document or
 * an engine that forgot to escape can write nothing into the page.
 * @param {string} snippet
 * @returns {Tree[]}
 */
export function snippetTree(snippet) {
  /** @type {Tree[]} */
  const trees = [];
  for (const [index, part] of snippet.split('<em>').entries()) {
    const end = index === 0 ? -1 : part.indexOf('</em>');
    if (end >= 0) trees.push(h('em', {}, decodeEntities(part.slice(0, end))));
    // An `<em>` nobody closed emphasises nothing.
    const rest = end >= 0 ? part.slice(end + '</em>'.length) : part;
    trees.push(decodeEntities(rest.replaceAll('</em>', '')));
  }
  return trees;
}

/** @param {string} text */
function decodeEntities(text) {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,4}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
    const code = decimal !== undefined ? Number.parseInt(decimal, 10) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : whole;
  });
}
