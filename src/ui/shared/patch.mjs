/** @typedef {import('./tree.mjs').Tree} Tree */

/**
 * Makes an element's children equal to trees and keeps each node that can be kept, so that focus, a caret and an open
 * `<details>` survive. Text becomes text nodes only. The content of an element with `data-own` is left alone.
 * @param {Element} parent
 * @param {readonly Tree[]} trees
 */
export function patch(parent, trees) {
  const keyed = new Map(
    [...parent.children].flatMap((child) => (keyOf(child) === undefined ? [] : [[keyOf(child), child]])),
  );
  let cursor = parent.firstChild;
  for (const tree of trees) {
    const node = keptFor(tree, cursor, keyed) ?? create(tree);
    if (node === cursor) cursor = cursor.nextSibling;
    else parent.insertBefore(node, cursor);
    update(node, tree);
  }
  while (cursor !== null) {
    const next = cursor.nextSibling;
    cursor.remove();
    cursor = next;
  }
}

/**
 * A tree with a key takes the node with that key, wherever it is. Another tree takes the node at the cursor if it has the
 * same tag and no key.
 * @param {Tree} tree
 * @param {ChildNode | null} cursor
 * @param {Map<string | undefined, Element>} keyed
 * @returns {ChildNode | undefined}
 */
function keptFor(tree, cursor, keyed) {
  if (typeof tree === 'string') return cursor instanceof Text ? cursor : undefined;
  const key = tree.attributes['data-key'];
  const candidate = key === undefined ? cursor : keyed.get(key);
  if (!(candidate instanceof Element) || candidate.localName !== tree.tag) return undefined;
  return keyOf(candidate) === key ? candidate : undefined;
}

/** @param {Element} element */
function keyOf(element) {
  return element.getAttribute('data-key') ?? undefined;
}

/** @param {Tree} tree */
function create(tree) {
  return typeof tree === 'string' ? document.createTextNode(tree) : document.createElement(tree.tag);
}

/**
 * @param {ChildNode} node
 * @param {Tree} tree
 */
function update(node, tree) {
  if (typeof tree === 'string') {
    if (node.nodeValue !== tree) node.nodeValue = tree;
    return;
  }
  if (!(node instanceof Element)) return;
  for (const [name, value] of Object.entries(tree.attributes)) {
    if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
  for (const name of node.getAttributeNames()) {
    // A `<details>` that the reader has opened stays open.
    if (name !== 'open' && !Object.hasOwn(tree.attributes, name)) node.removeAttribute(name);
  }
  if (!node.hasAttribute('data-own')) patch(node, tree.children);
}
