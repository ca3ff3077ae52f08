import { escapeHtml } from '../search/page.ts';
import { UNKNOWN } from './format.mjs';
import { textOf } from './text-of.mjs';

/**
 * Markup made by `element`: its text is escaped already. A private member marks it, so an object that came as JSON is always
 * shown as text, whatever members it has.
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

  /** @param text must be escaped. */
  static readonly of = (text: string): Markup => new Markup(text);
}

/** Text is escaped. Numbers are not content, so each one is formatted explicitly. */
export type Content = string | Markup | undefined | readonly Content[];

/** Numbers are coordinates with two decimals. An attribute whose number is not finite is left out. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** Elements without an end tag in HTML. Written as `<meta/>` they are also well-formed XML. */
const EMPTY = new Set(['meta', 'link', 'path', 'rect', 'line', 'use']);
/** Characters that a document may not contain, or that reorder text in a terminal or in the page. */
const FORBIDDEN = /(?![\t\n\r])[\p{Cc}\p{Bidi_Control}\ufffe\uffff]/gu;

/** Tags and attribute names must be constants; every value and every text is escaped. */
export function element(tag: string, attributes: Attributes, ...content: readonly Content[]): Markup {
  const written = Object.entries(attributes).flatMap(([name, value]) => {
    const text = typeof value === 'number' ? decimal(value) : value;
    return text === undefined ? [] : [` ${name}="${clean(textOf(text))}"`];
  });
  const start = `<${tag}${written.join('')}`;
  return Markup.of(EMPTY.has(tag) ? `${start}/>` : `${start}>${flat(content)}</${tag}>`);
}

/** A style sheet. Not escaped, so only constants. */
export function styleSheet(rules: string): Markup {
  return Markup.of(`<style>${rules}</style>`);
}

/**
 * A text that an operator or a server wrote. It is isolated, so that its writing direction does not change the sentence
 * around it.
 */
export function said(text: string): Markup {
  return element('bdi', {}, text);
}

/** Maximum nesting of lists: our own are a few levels deep, and a value that came as JSON may have a million levels. */
const MAX_DEPTH = 32;

function flat(content: Content, depth = 0): string {
  if (content === undefined) return '';
  if (typeof content === 'string') return clean(content);
  if (Markup.is(content)) return content.markup;
  if (Array.isArray(content) && depth < MAX_DEPTH) return content.map((each) => flat(each, depth + 1)).join('');
  return clean(textOf(content));
}

function clean(text: string): string {
  return escapeHtml(text.toWellFormed().replace(FORBIDDEN, '\ufffd'));
}

function decimal(value: number): string | undefined {
  return Number.isFinite(value) ? String(Math.round(value * 100) / 100) : undefined;
}

export interface Column<Row> {
  readonly title: string;
  /** A tooltip of the title. */
  readonly meaning?: string;
  readonly cell: (row: Row) => Content;
  /** Aligned to the right. */
  readonly isNumber?: boolean;
  /** A sentence: shown without the title of the column on a telephone. */
  readonly isProse?: boolean;
}

interface TableOptions<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Layout on a telephone: each row as a card with titles, or the whole table scrolling sideways in a frame. */
  readonly narrow: 'cards' | 'sideways';
  /** Shown instead of an empty table. */
  readonly none?: string;
}

/** The first cell of a row is its heading. Roles are explicit, because a table styled as cards loses its implicit ones. */
export function table<Row>({ caption, columns, rows, narrow, none }: TableOptions<Row>): Markup | undefined {
  if (rows.length === 0) return none === undefined ? undefined : element('p', { class: 'note' }, none);
  const classOf = ({ isNumber, isProse }: Column<Row>, content?: Content): string | undefined => {
    const names = [isNumber && 'number', isProse && 'words', (content === UNKNOWN || content === '') && 'unknown'];
    return names.filter((one) => one !== false && one !== undefined).join(' ') || undefined;
  };
  const isCards = narrow === 'cards';
  const role = (name: string): string | undefined => (isCards ? name : undefined);
  const drawn = element(
    'table',
    { role: role('table'), class: narrow },
    element('caption', {}, caption),
    element(
      'thead',
      { role: role('rowgroup') },
      element(
        'tr',
        { role: role('row') },
        columns.map((one) =>
          element(
            'th',
            { role: role('columnheader'), scope: 'col', class: classOf(one) },
            one.meaning === undefined ? one.title : element('abbr', { title: one.meaning }, one.title),
          ),
        ),
      ),
    ),
    element(
      'tbody',
      { role: role('rowgroup') },
      rows.map((row) =>
        element(
          'tr',
          { role: role('row') },
          columns.map((one, i) => {
            const content = one.cell(row);
            return i === 0
              ? element('th', { role: role('rowheader'), scope: 'row' }, content)
              : element(
                  'td',
                  { role: role('cell'), class: classOf(one, content), 'data-title': isCards ? one.title : undefined },
                  element('span', {}, content),
                );
          }),
        ),
      ),
    ),
  );
  // A scrollable element must be reachable by keyboard.
  return isCards
    ? drawn
    : element('div', { class: 'frame', role: 'region', tabindex: '0', 'aria-label': caption }, drawn);
}

/** Names with their values; a pair without a value is left out. */
export function facts(pairs: readonly (readonly [string, Content])[]): Markup {
  return element(
    'dl',
    { class: 'facts' },
    pairs.flatMap(([name, content]) =>
      content === undefined ? [] : [element('div', {}, element('dt', {}, name), element('dd', {}, content))],
    ),
  );
}

/** A verdict as a word, a sentence and a sign, so that it is also recognised without colours. */
export interface VerdictWords {
  readonly word: string;
  readonly detail: string;
  readonly tone: 'good' | 'warn' | 'bad' | 'open';
  /** SVG path data in a box of 24 × 24. */
  readonly sign: string;
}

export function verdictLine({ word, detail, tone, sign }: VerdictWords): Markup {
  return element(
    'p',
    { class: `verdict ${tone}` },
    element(
      'svg',
      { width: 24, height: 24, viewBox: '0 0 24 24', 'aria-hidden': 'true' },
      element('path', { d: sign }),
    ),
    element('span', {}, element('strong', {}, word), ' ', said(detail)),
  );
}

/** Signs of verdicts, for readers without colours. */
export const SIGNS = {
  check: 'M5 13l5 5L19 7',
  cross: 'M6 6l12 12M18 6L6 18',
  stop: 'M7 7h10v10H7z',
  bar: 'M5 12h14',
  question: 'M8.5 9a3.5 3.5 0 1 1 5.3 3c-1.3.8-1.8 1.500-1.8 2.700M12 18.500v.1',
  wait: 'M12 3a9 9 0 1 0 .01 0M12 7.500v5l3 2',
} as const;
