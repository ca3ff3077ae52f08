import { escapeHtml } from '../search/page.ts';
import type { Tree } from './tree.ts';

/** Elements without an end tag in HTML, and the parts of a drawing. As `<meta/>` they are well-formed XML too. */
const EMPTY = new Set(['input', 'link', 'meta', 'br', 'hr', 'img', 'path', 'rect', 'line', 'use']);
/** Characters that a report may not contain, or that reorder text in it. */
const FORBIDDEN = /(?![\t\n\r])[\p{Cc}\p{Bidi_Control}\ufffe\uffff]/gu;

/** The only writer of markup: texts and attribute values are escaped, style sheets are constants and are not. */
export function toHtml(tree: Tree): string {
  return piecesOf(tree).join('');
}

/** The HTML before an element of the tree and after it; the element itself is left out. */
export function htmlAround(tree: Tree, element: Tree): readonly [before: string, after: string] {
  const [before = '', after = ''] = piecesOf(tree, element);
  return [before, after];
}

/** HTML or SVG of a file that others read: well-formed XML, whatever its texts are. */
export function toFile(tree: Tree): string {
  return toHtml(tree).toWellFormed().replace(FORBIDDEN, '\ufffd');
}

function piecesOf(tree: Tree, left?: Tree): readonly string[] {
  const pieces: string[] = [];
  let html = '';
  const write = (part: Tree, parent = ''): void => {
    if (typeof part === 'string') {
      html += parent === 'style' ? part : escapeHtml(part);
      return;
    }
    if (part === left) {
      pieces.push(html);
      html = '';
      return;
    }
    const { tag, attributes, children } = part;
    html += `<${tag}`;
    for (const name in attributes) html += ` ${name}="${escapeHtml(attributes[name] ?? '')}"`;
    if (EMPTY.has(tag)) {
      html += '/>';
      return;
    }
    html += '>';
    for (const child of children) write(child, tag);
    html += `</${tag}>`;
  };
  write(tree);
  return [...pieces, html];
}
