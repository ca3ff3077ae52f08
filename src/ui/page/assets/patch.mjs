/** @typedef {import('./view/tree.mjs').Tree} Tree */

/**
 * Makes a node's children equal a tree, keeping every node that can be kept: focus, an open `<details>` and a caret
 * survive a new answer. Text only ever becomes text nodes. What lies inside `data-own` belongs to who put it there.
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
 * A keyed tree takes the node of its key wherever it is; any other takes what stands at the cursor if that is alike.
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
    // What the reader has opened stays open.
    if (name !== 'open' && !Object.hasOwn(tree.attributes, name)) node.removeAttribute(name);
  }
  if (!node.hasAttribute('data-own')) patch(node, tree.children);
}
