import type { FindingTable } from '../../kit/finding.ts';
import { valueText } from '../../kit/text.ts';
import { type Compared, compareAll } from './compare.ts';
import type { Figure } from './figures.ts';
import type { Outcome } from './outcome.ts';

/** Who is ahead in one figure, against one serpcache. */
export interface Group {
  readonly figure: Figure;
  readonly ours: number;
  readonly oursName: string;
  /** The peer furthest away first. */
  readonly all: readonly Compared[];
}

/** Of one figure and against the same serpcache, in the order of the figures. */
export function groups(compared: readonly Compared[]): readonly Group[] {
  const byKey = Map.groupBy(compared, ({ figure, oursName }) => `${figure.what}\n${oursName}`);
  return [...byKey.values()].flatMap((some) => {
    const [first] = some;
    if (first === undefined) return [];
    const all = some.toSorted((a, b) => distance(b) - distance(a));
    return [{ figure: first.figure, ours: first.ours, oursName: first.oursName, all }];
  });
}

/** `Varnish 2.5 ×`; where one of both is nothing, or never came, the peer's own figure. */
export function leadText({ peer, theirs, factor, figure }: Compared): string {
  return `${peer} ${factor === undefined ? shown(theirs, figure) : valueText(factor, 'times')}`;
}

/** First where a peer is ahead of serpcache, then where serpcache is: a row for each figure, with all who are. */
export function leadTables(outcomes: readonly Outcome[]): readonly FindingTable[] {
  const compared = compareAll(outcomes);
  const of = (ahead: Compared['ahead']): readonly Group[] => groups(compared.filter((one) => one.ahead === ahead));
  return [
    leadTable('Where a peer is ahead of serpcache, and by how much', 'ahead', of('peer')),
    leadTable('Where serpcache is ahead of a peer, and by how much', 'behind', of('serpcache')),
  ].filter(({ rows }) => rows.length > 0);
}

function leadTable(title: string, who: string, found: readonly Group[]): FindingTable {
  return {
    title,
    columns: [
      { name: 'serpcache', unit: 'text' },
      { name: who, unit: 'text' },
    ],
    rows: found.map(({ figure, ours, oursName, all }) => ({
      name: figure.what,
      values: [`${oursName.replace('serpcache ', '')} ${shown(ours, figure)}`, all.map(leadText).join(', ')],
    })),
  };
}

/** Something against nothing is further apart than any two figures. */
function distance({ factor }: Compared): number {
  return factor ?? Number.MAX_VALUE;
}

function shown(value: number, { unit }: Figure): string {
  return Number.isFinite(value) ? valueText(value, unit) : 'never';
}
