import { escapeHtml } from '../search/escape-html.ts';

/** Markup made by `element`: everything in it is escaped already. */
export interface Markup {
  readonly markup: string;
}

/** Text is escaped, numbers are not content: whoever shows one says how. */
export type Content = string | Markup | undefined | readonly Content[];

/** Numbers are coordinates: two decimals are enough, and one that is not finite leaves its attribute out. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** Without content these have no end tag in HTML; closed at once they are well-formed XML too. */
const EMPTY = new Set(['meta', 'link', 'path', 'rect', 'line', 'use']);
/** No document may hold them, and some would reorder the text of a terminal or of the page. */
const UNSEEN = /(?![\t\n\r])[\p{Cc}\p{Bidi_Control}\ufffe\uffff]/gu;

/** Tags and attribute names are ours; every value and every text is escaped. */
export function element(tag: string, attributes: Attributes, ...content: readonly Content[]): Markup {
  const written = Object.entries(attributes).flatMap(([name, value]) => {
    const text = typeof value === 'number' ? decimal(value) : value;
    return text === undefined ? [] : [` ${name}="${clean(text)}"`];
  });
  const start = `<${tag}${written.join('')}`;
  return { markup: EMPTY.has(tag) ? `${start}/>` : `${start}>${flat(content)}</${tag}>` };
}

/** Words of operators and of servers: whatever direction they run in, the sentence around them keeps its own. */
export function said(text: string): Markup {
  return element('bdi', {}, text);
}

function flat(content: Content): string {
  if (content === undefined) return '';
  if (typeof content === 'string') return clean(content);
  return 'markup' in content ? content.markup : content.map(flat).join('');
}

function clean(text: string): string {
  return escapeHtml(text.toWellFormed().replace(UNSEEN, '\ufffd'));
}

function decimal(value: number): string | undefined {
  return Number.isFinite(value) ? String(Math.round(value * 100) / 100) : undefined;
}
