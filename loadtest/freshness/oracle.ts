import type { ResultPage } from '../../src/search/engine.ts';
import type { DoneChange } from './indexer.ts';

/** An answer as a user sees it: documents with their attributes, and the figures of the whole answer. */
export interface Seen {
  /** By id: the attributes as text. */
  readonly items: ReadonlyMap<string, string>;
  /** The total and the facets, by name. */
  readonly counts: ReadonlyMap<string, number>;
}

export function seenOf({ results, total, facets }: Pick<ResultPage, 'results' | 'total' | 'facets'>): Seen {
  const items = new Map(results.map(({ id, attributes }) => [id, attributesText(attributes)]));
  const counted = Object.entries(facets).flatMap(([name, values]) =>
    values.map(({ value, count }) => [`${name}: ${value}`, count] as const),
  );
  return { items, counts: new Map([['total', total], ...counted]) };
}

function attributesText(attributes: ResultPage['results'][number]['attributes']): string {
  return JSON.stringify(Object.entries(attributes).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

export interface Judged {
  /** The documents and attributes of the page are those of the engine at some moment between the two readings. */
  readonly isPageRight: boolean;
  /** The same of the total and the facets. */
  readonly areCountsRight: boolean;
  /** Documents that the page shows wrongly, or does not show. */
  readonly wrongIds: readonly string[];
}

/**
 * Compares an answer with the engine's before and after it. Several changes may lie between the two readings, so each document
 * and each count is compared by itself: a state between them is right too. The order of documents is not compared.
 */
export function judge(answer: Seen, before: Seen, after: Seen): Judged {
  const ids = new Set([...answer.items.keys(), ...before.items.keys(), ...after.items.keys()]);
  const wrongIds = [...ids].filter((id) => {
    const shown = answer.items.get(id);
    return shown !== before.items.get(id) && shown !== after.items.get(id);
  });
  const names = new Set([...answer.counts.keys(), ...before.counts.keys(), ...after.counts.keys()]);
  const areCountsRight = [...names].every((name) => {
    const [count = 0, then = 0, now = 0] = [answer, before, after].map(({ counts }) => counts.get(name));
    return count >= Math.min(then, now) && count <= Math.max(then, now);
  });
  return { isPageRight: wrongIds.length === 0, areCountsRight, wrongIds };
}

/**
 * How long ago the oldest change was made that a wrong page does not show, in ms. Undefined: none of its documents has changed since
 * the page was computed, so the engine orders the same documents in another way.
 */
export function ageOfWrongPage(
  wrongIds: readonly string[],
  lastOf: (id: string) => DoneChange | undefined,
  sentMs: number,
  computedMs: number,
): number | undefined {
  const ages = wrongIds.flatMap((id) => {
    const change = lastOf(id);
    return change === undefined || change.endMs < computedMs ? [] : [Math.max(0, sentMs - change.endMs)];
  });
  return ages.length === 0 ? undefined : Math.max(...ages);
}

/** Deleted documents of a page whose deletion had ended more than `graceMs` before the search was sent. */
export function shownTooLate(
  ids: Iterable<string>,
  lastOf: (id: string) => DoneChange | undefined,
  sentMs: number,
  graceMs: number,
): readonly string[] {
  return [...ids].filter((id) => {
    const change = lastOf(id);
    return change?.op === 'delete' && sentMs - change.endMs > graceMs;
  });
}

/** @param share 0–1 @returns the smallest value that this share of the values does not exceed; undefined without values */
export function quantile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}
