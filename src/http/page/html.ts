import { escapeHtml } from '../../search/escape-html.ts';
import type { Tree } from './assets/view/tree.mjs';

/** Elements that have no end tag. */
const VOID = new Set(['input', 'link', 'meta', 'br', 'hr', 'img']);

/** Tags and attribute names come from our own views; everything else is escaped. */
export function toHtml(tree: Tree): string {
  if (typeof tree === 'string') return escapeHtml(tree);
  const attributes = Object.entries(tree.attributes).map(([name, value]) =>
    value === '' ? ` ${name}` : ` ${name}="${escapeHtml(value)}"`,
  );
  const start = `<${tree.tag}${attributes.join('')}>`;
  return VOID.has(tree.tag) ? start : `${start}${tree.children.map(toHtml).join('')}</${tree.tag}>`;
}
