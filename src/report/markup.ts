import { escapeHtml } from '../search/escape-html.ts';

/**
 * Markup made by `element`: everything in it is escaped already. A private member marks it, so that an object which came
 * as JSON is text, whatever its members are called.
 */
export class Markup {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  get markup(): string {
    return this.#text;
  }

  static is(value: unknown): value is Markup {
    return typeof value === 'object' && value !== null && #text in value;
  }

  /** @param text escaped already. */
  static readonly of = (text: string): Markup => new Markup(text);
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
    return text === undefined ? [] : [` ${name}="${clean(textOf(text))}"`];
  });
  const start = `<${tag}${written.join('')}`;
  return Markup.of(EMPTY.has(tag) ? `${start}/>` : `${start}>${flat(content)}</${tag}>`);
}

/** A style sheet, which is not escaped: it holds nothing but constants of ours. */
export function styleSheet(rules: string): Markup {
  return Markup.of(`<style>${rules}</style>`);
}

/** Words of operators and of servers: whatever direction they run in, the sentence around them keeps its own. */
export function said(text: string): Markup {
  return element('bdi', {}, text);
}

/** Lists in lists: we write a few, and what came as JSON may have a million. */
const MAX_DEPTH = 32;

function flat(content: Content, depth = 0): string {
  if (content === undefined) return '';
  if (typeof content === 'string') return clean(content);
  if (Markup.is(content)) return content.markup;
  if (Array.isArray(content) && depth < MAX_DEPTH) return content.map((each) => flat(each, depth + 1)).join('');
  return clean(textOf(content));
}

/** Characters of a value that is no text and is shown all the same. */
const MAX_FOREIGN = 200;

/** The types promise text; what another process wrote may be anything, and is shown as the JSON it came as, cut short. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return value === null ? '' : String(value);
  try {
    const json = JSON.stringify(value);
    return json.length > MAX_FOREIGN ? `${json.slice(0, MAX_FOREIGN)}…` : json;
  } catch {
    return '…';
  }
}

function clean(text: string): string {
  return escapeHtml(text.toWellFormed().replace(UNSEEN, '\ufffd'));
}

function decimal(value: number): string | undefined {
  return Number.isFinite(value) ? String(Math.round(value * 100) / 100) : undefined;
}
