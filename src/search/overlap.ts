import type { AttributeValue, Sort } from './domain.ts';
import type { ResultPage, SearchResult } from './engine.ts';

/** The similarity of two engines' answers to one search. */
export type PageComparison = ReturnType<typeof comparePages>;

/**
 * Two whole pages for the same request, each cut to its first `depth` results. `tied` can only be true when the first
 * page holds more.
 */
export function comparePages(first: ResultPage, second: ResultPage, depth: number, sort: Sort) {
  const [last, next] = [first.results[depth - 1], first.results[depth]];
  const a = idsOf(first, depth);
  const b = idsOf(second, depth);
  const held = new Set(b);
  const counted = first.totalRelation === 'eq' && second.totalRelation === 'eq';
  const empty = a.length > 0 ? (b.length > 0 ? 'neither' : 'second') : b.length > 0 ? 'first' : 'both';
  return {
    overlap: overlapOf(a, b),
    /** The same documents in the same order, among the first `depth`. True for two empty pages. */
    sameOrder: a.length === b.length && a.every((id, at) => id === b[at]),
    /** The engines that found nothing. */
    empty,
    /** The second's total divided by the first's; undefined when either engine found nothing or stopped counting. */
    totalRatio: counted && first.total > 0 && second.total > 0 ? second.total / first.total : undefined,
    /** Number of results of the first. */
    shown: a.length,
    /** The ids of the first that the second does not show. */
    missing: a.filter((id) => !held.has(id)),
    /** The last result of the first engine and the one after it have the same rank: chance decides which of them is shown. */
    tied: last !== undefined && next !== undefined && rankOf(last, sort) === rankOf(next, sort),
  };
}

/**
 * |A ∩ B| ÷ max(|A|, |B|), 0–1, independent of the order. The longer list counts: four results that are all among the
 * other's ten give 0.4, since six are lost; four and the same four give 1. Both empty: 1. One empty: 0.
 */
export function overlapOf(a: readonly string[], b: readonly string[]): number {
  const [left, right] = [new Set(a), new Set(b)];
  const longer = Math.max(left.size, right.size);
  return longer === 0 ? 1 : left.intersection(right).size / longer;
}

function rankOf({ score, attributes }: SearchResult, sort: Sort): AttributeValue | undefined {
  return sort.by === 'relevance' ? score : attributes[sort.attribute];
}

function idsOf(page: ResultPage, depth: number): readonly string[] {
  return page.results.slice(0, depth).map(({ id }) => id);
}
