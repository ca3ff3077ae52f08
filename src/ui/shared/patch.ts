import type { Tree } from '../../report/tree.ts';

/**
 * Makes an element's children equal to trees and keeps each node that can be kept, so that focus, a caret and an open
 * `<details>` survive. Text becomes text nodes only. The content of an element with `data-own` is left alone.
 */
export function patch(parent: Element, trees: readonly Tree[]) {
  const keyed = new Map(
    [...parent.children].flatMap((child) => (keyOf(child) === undefined ? [] : [[keyOf(child), child]])),
  );
  let cursor = parent.firstChild;
  for (const tree of trees) {
    const node = keptFor(tree, cursor, keyed) ?? create(tree, parent);
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
 * A tree with a key takes the node with that key, wherever it is. Another tree takes the node at the cursor if it has
 * the same tag and no key.
 */
function keptFor(tree: Tree, cursor: ChildNode | null, keyed: Map<string | undefined, Element>): ChildNode | undefined {
  if (typeof tree === 'string') return cursor instanceof Text ? cursor : undefined;
  const key = tree.attributes['data-key'];
  const candidate = key === undefined ? cursor : keyed.get(key);
  if (!(candidate instanceof Element) || candidate.localName !== tree.tag) return undefined;
  return keyOf(candidate) === key ? candidate : undefined;
}

function keyOf(element: Element) {
  return element.getAttribute('data-key') ?? undefined;
}

const SVG = 'http://www.w3.org/2000/svg';

function create(tree: Tree, parent: Element): ChildNode {
  if (typeof tree === 'string') return document.createTextNode(tree);
  return document.createElementNS(tree.tag === 'svg' ? SVG : parent.namespaceURI, tree.tag);
}

function update(node: ChildNode, tree: Tree) {
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
