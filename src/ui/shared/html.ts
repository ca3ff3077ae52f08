import { escapeHtml } from '../../search/page.ts';
import type { Tree } from './tree.mjs';

/** Elements that have no end tag. */
const VOID = new Set(['input', 'link', 'meta', 'br', 'hr', 'img']);

/** Tags and attribute names are written by our own views; texts and attribute values are escaped. */
export function toHtml(tree: Tree): string {
  return piecesOf(tree).join('');
}

/** The HTML before an element of the tree and after it; the element itself is left out. */
export function htmlAround(tree: Tree, element: Tree): readonly [before: string, after: string] {
  const [before = '', after = ''] = piecesOf(tree, element);
  return [before, after];
}

function piecesOf(tree: Tree, left?: Tree): readonly string[] {
  const pieces: string[] = [];
  let html = '';
  const write = (part: Tree): void => {
    if (typeof part === 'string') {
      html += escapeHtml(part);
      return;
    }
    if (part === left) {
      pieces.push(html);
      html = '';
      return;
    }
    const { tag, attributes, children } = part;
    html += `<${tag}`;
    for (const name in attributes) {
      const value = attributes[name] ?? '';
      html += value === '' ? ` ${name}` : ` ${name}="${escapeHtml(value)}"`;
    }
    html += '>';
    if (VOID.has(tag)) return;
    for (const child of children) write(child);
    html += `</${tag}>`;
  };
  write(tree);
  return [...pieces, html];
}
