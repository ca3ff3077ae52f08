import type { Lesson } from '../../finding/finding.ts';
import { valueText } from '../../finding/value-text.ts';
import { type Compared, compareAll } from './compare.ts';
import type { Figure } from './figures.ts';
import type { Outcome } from './outcome.ts';

/**
 * Whether serpcache is better than what one would use instead: first where a peer is ahead and by how much, each of them,
 * then where serpcache is.
 */
export function peersLesson(outcomes: readonly Outcome[]): Lesson {
  const compared = compareAll(outcomes);
  if (compared.length === 0) return { holds: 'no', sentence: 'Nothing could be compared: see the notes.' };
  const behind = compared.filter(({ ahead }) => ahead === 'peer');
  const before = compared.filter(({ ahead }) => ahead === 'serpcache');
  return {
    holds: behind.length === 0 ? 'yes' : before.length === 0 ? 'no' : 'partly',
    sentence: [
      behind.length === 0
        ? 'No peer is ahead of serpcache by more than 5 % in any figure.'
        : `Peers are ahead of serpcache in ${of(behind, compared)}: ${groups(behind).map(told).join('; ')}.`,
      before.length === 0
        ? 'serpcache is ahead in nothing.'
        : `serpcache is ahead in ${of(before, compared)}: ${groups(before).map(told).join('; ')}.`,
      ...levelWords(compared.length - behind.length - before.length),
    ].join(' '),
  };
}

function of(some: readonly Compared[], all: readonly Compared[]): string {
  return `${some.length} of ${all.length} comparisons`;
}

function levelWords(count: number): string[] {
  if (count === 0) return [];
  return [
    count === 1 ? 'In the one left they are level within 5 %.' : `In the other ${count} they are level within 5 %.`,
  ];
}

interface Group {
  readonly figure: Figure;
  readonly ours: number;
  readonly oursName: string;
  readonly all: readonly Compared[];
}

/** Of one figure and against the same serpcache, the peer furthest away first. */
function groups(compared: readonly Compared[]): readonly Group[] {
  const byKey = Map.groupBy(compared, ({ figure, oursName }) => `${figure.what}\n${oursName}`);
  return [...byKey.values()].flatMap((some) => {
    const [first] = some;
    if (first === undefined) return [];
    const all = some.toSorted((a, b) => distance(b) - distance(a));
    return [{ figure: first.figure, ours: first.ours, oursName: first.oursName, all }];
  });
}

/** Something against nothing is further apart than any two figures. */
function distance({ factor }: Compared): number {
  return factor ?? Number.MAX_VALUE;
}

/** `p99, one page (serpcache L1 1 ms): Varnish 2.5 ×, nginx 1.5 ×`: each peer by how much; its figures stand in the tables. */
function told({ figure, ours, oursName, all }: Group): string {
  const each = all.map(({ peer, theirs, factor }) => {
    return `${peer} ${factor === undefined ? shown(theirs, figure) : valueText(factor, 'times')}`;
  });
  return `${figure.what} (${oursName} ${shown(ours, figure)}): ${each.join(', ')}`;
}

function shown(value: number, { unit }: Figure): string {
  return Number.isFinite(value) ? valueText(value, unit) : 'never';
}
