import { type Content, element, type Markup } from './markup.ts';
import { UNKNOWN } from './number-text.ts';

export interface Column<Row> {
  readonly title: string;
  /** A tooltip of the title. */
  readonly meaning?: string;
  readonly cell: (row: Row) => Content;
  /** Numbers stand at the right, under each other. */
  readonly isNumber?: boolean;
  /** A sentence: needs no title beside it. */
  readonly isProse?: boolean;
}

export interface TableOptions<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** On a telephone: each row a card with its titles, or the whole table moved sideways in its own frame. */
  readonly narrow: 'cards' | 'sideways';
  /** Said instead of an empty table. */
  readonly none?: string;
}

/** The first cell of a row is its heading. Roles are written out: styled as cards, a table would lose them. */
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
  // What can be scrolled must be reachable by keyboard.
  return isCards
    ? drawn
    : element('div', { class: 'frame', role: 'region', tabindex: '0', 'aria-label': caption }, drawn);
}
