import { UNKNOWN } from './format.ts';
import { type Child, h, type TreeElement } from './tree.ts';

/** A text that an operator or a server wrote. It is isolated, so that it does not change the direction of the sentence. */
export function said(text: string): TreeElement {
  return h('bdi')(text);
}

export function reportSection(id: string, title: Child, ...content: readonly Child[]): TreeElement {
  return h('section', { 'aria-labelledby': id })(h('h2', { id })(title), ...content);
}

export function note(...content: readonly Child[]): TreeElement {
  return h('p', { class: 'note' })(...content);
}

/** A list of sentences; nothing without one. */
export function bullets(items: readonly Child[], style = 'plain'): TreeElement | undefined {
  if (items.length === 0) return undefined;
  return h('ul', { class: style })(items.map((item) => h('li')(item)));
}

/** A word with a tooltip, if it has a meaning to tell. */
export function withTooltip(word: string, meaning: string | undefined): Child {
  return meaning === undefined ? word : h('abbr', { title: meaning })(word);
}

/** Names with their values. A pair without a value, and `false`, is left out. */
export function facts(
  pairs: readonly (readonly [name: Child, ...value: Child[]] | false)[],
  style = 'facts',
): TreeElement {
  return h('dl', { class: style })(
    pairs.map((pair) => {
      if (pair === false || pair[1] === undefined) return undefined;
      const [name, ...value] = pair;
      return h('div')(h('dt')(name), h('dd')(...value));
    }),
  );
}

export interface TableColumn<Row> {
  readonly title: string;
  readonly meaning?: string;
  readonly cell: (row: Row) => Child;
  /** Aligned to the right. */
  readonly isNumber?: boolean;
  /** A sentence: shown without the title of the column on a telephone. */
  readonly isProse?: boolean;
}

interface TableOptions<Row> {
  readonly caption: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  /** Layout on a telephone: each row as a card with titles, or the whole table scrolling sideways in a frame. */
  readonly narrow?: 'cards' | 'sideways';
  readonly none?: string;
}

/** The first cell of a row is its heading. Roles are explicit, because a table styled as cards loses its implicit ones. */
export function table<Row>({
  caption,
  columns,
  rows,
  narrow = 'cards',
  none,
}: TableOptions<Row>): TreeElement | undefined {
  if (rows.length === 0) return none === undefined ? undefined : note(none);
  const isCards = narrow === 'cards';
  const part = (tag: string, role: string, ...content: readonly Child[]): TreeElement =>
    h(tag, { role: isCards && role })(...content);
  const titles = columns.map((one) =>
    h('th', { role: isCards && 'columnheader', scope: 'col', class: cellClass(one) })(
      withTooltip(one.title, one.meaning),
    ),
  );
  const cells = (row: Row): readonly TreeElement[] =>
    columns.map((one, i) => {
      const content = one.cell(row);
      if (i === 0) return h('th', { role: isCards && 'rowheader', scope: 'row' })(content);
      return h('td', { role: isCards && 'cell', class: cellClass(one, content), 'data-title': isCards && one.title })(
        h('span')(content),
      );
    });
  const drawn = h('table', { role: isCards && 'table', class: narrow })(
    h('caption')(caption),
    part('thead', 'rowgroup', part('tr', 'row', titles)),
    part(
      'tbody',
      'rowgroup',
      rows.map((row) => part('tr', 'row', cells(row))),
    ),
  );
  // A scrollable element must be reachable by keyboard.
  return isCards ? drawn : h('div', { class: 'frame', role: 'region', tabindex: 0, 'aria-label': caption })(drawn);
}

function cellClass<Row>({ isNumber, isProse }: TableColumn<Row>, content?: Child): string | undefined {
  const isUnknown = content === UNKNOWN || content === '';
  return [isNumber && 'number', isProse && 'words', isUnknown && 'unknown'].filter(Boolean).join(' ') || undefined;
}

/** The first and the last rows of a table that is too long for a page, with a sentence about those in between. */
export function ends<Row>(
  rows: readonly Row[],
  max: number,
): { readonly shown: readonly Row[]; readonly left: number } {
  const shown = rows.length > max ? [...rows.slice(0, max / 2), ...rows.slice(-max / 2)] : rows;
  return { shown, left: rows.length - shown.length };
}

/** A verdict as a word, a sentence and a sign, so that it is also recognised without colours. */
export interface VerdictWords {
  readonly word: string;
  readonly detail: string;
  readonly tone: 'good' | 'warn' | 'bad' | 'open';
  /** SVG path data in a box of 24 × 24. */
  readonly sign: string;
}

export function verdictLine({ word, detail, tone, sign }: VerdictWords): TreeElement {
  return h('p', { class: `verdict ${tone}` })(
    h('svg', { width: 24, height: 24, viewBox: '0 0 24 24', 'aria-hidden': 'true' })(h('path', { d: sign })()),
    h('span')(h('strong')(word), ' ', said(detail)),
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

/** `Failed`, of `failed`. */
export function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
