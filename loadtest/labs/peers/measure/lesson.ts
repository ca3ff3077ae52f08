import type { Lesson } from '../../kit/finding.ts';
import { type Compared, compareAll } from './compare.ts';
import { type Group, groups, leadText } from './leads.ts';
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
        ? 'No peer is ahead of serpcache by more than the noise in any figure.'
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
    count === 1
      ? 'In the one left they are no further apart than the noise.'
      : `In the other ${count} they are no further apart than the noise.`,
  ];
}

/** `p99, one page: Varnish 2.5 × and 3 more`: who is furthest ahead; all of them stand in the tables. */
function told({ figure, all }: Group): string {
  const [first, ...others] = all;
  if (first === undefined) return figure.what;
  return `${figure.what}: ${leadText(first)}${others.length === 0 ? '' : ` and ${others.length} more`}`;
}
