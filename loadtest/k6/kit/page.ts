import { canonicalText } from '../../../src/search/canonical.ts';
import type { Reply } from './outcome.ts';
import type { Ask } from './queries.ts';

export const CHECK_NAMES = {
  /** The number of failures is judged by the limits of the step. */
  answered: 'answered with a page, or refused honestly',
  cacheStatus: 'Cache-Status parses',
  shape: 'the body has the shape of a page',
  ofTheSearch: 'the page is of the search',
} as const;

/** One failure of these fails the run: a wrong page is worse than none, however rare it is. */
export const ALWAYS: readonly string[] = [CHECK_NAMES.cacheStatus, CHECK_NAMES.shape, CHECK_NAMES.ofTheSearch];

interface Page {
  readonly query: string;
  readonly domain: string;
  readonly page: number;
  readonly limit: number;
  readonly total: number;
  readonly totalRelation: string;
  readonly results: readonly { readonly id: string; readonly title: string; readonly attributes: object }[];
}

/** The page in a body; undefined if the body does not have the shape of a page. */
export function pageOf(body: unknown): Page | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { query, domain, page, limit, total, totalRelation, results } = body as Partial<Page>;
  const isWhole =
    typeof query === 'string' &&
    typeof domain === 'string' &&
    [page, limit, total].every((one) => typeof one === 'number' && Number.isInteger(one) && one >= 0) &&
    (totalRelation === 'eq' || totalRelation === 'gte') &&
    Array.isArray(results) &&
    results.every(
      (one) => typeof one?.id === 'string' && typeof one.title === 'string' && typeof one.attributes === 'object',
    );
  return isWhole ? (body as Page) : undefined;
}

/** Whether the page answers the search. A page of another search under our key is the worst fault of a cache. */
export function answers(page: Page, { domain, q, page: wanted }: Pick<Ask, 'domain' | 'q' | 'page'>): boolean {
  const { query, limit, total, totalRelation, results } = page;
  const before = (wanted - 1) * limit;
  const mostHere = totalRelation === 'eq' ? Math.max(0, total - before) : limit;
  return (
    query === canonicalText(q) &&
    (domain === undefined || page.domain === domain) &&
    page.page === wanted &&
    results.length <= Math.min(limit, mostHere) &&
    (results.length > 0 || mostHere === 0) &&
    new Set(results.map(({ id }) => id)).size === results.length
  );
}

const FACTS = '{"status":';
/** All members that are read stand before the first long one. */
const FACTS_CHARACTERS = 80;
const FACTS_SHAPE = /^\{"status":(\d{3}),"outcome":"([a-z0-9-]+)"(?:,"retryAfter":(\d+))?(,"problem":)?/;

/**
 * The replies to the searches of a batch, in order, in the form of single answers; undefined if the body is not that of
 * a batch of `count` searches.
 *
 * Parsing 50 pages costs the generator more than all its other work, so the pages are not parsed: the scan looks for the
 * text with which every item begins. A page that contains the same text gives more matches than items, and then the
 * whole body is parsed.
 */
export function itemReplies(text: string, count: number): readonly Reply[] | undefined {
  const replies: Reply[] = [];
  for (let at = text.indexOf(FACTS); at >= 0 && replies.length <= count; at = text.indexOf(FACTS, at + 1)) {
    const [, status, outcome, retryAfter, problem] = FACTS_SHAPE.exec(text.slice(at, at + FACTS_CHARACTERS)) ?? [];
    if (status === undefined || outcome === undefined) return parseReplies(text, count);
    replies.push(replyOf(Number(status), outcome, retryAfter, problem !== undefined));
  }
  return replies.length === count ? replies : parseReplies(text, count);
}

function parseReplies(text: string, count: number): readonly Reply[] | undefined {
  const items = itemsOf(text);
  if (items.length !== count) return undefined;
  const replies: Reply[] = [];
  for (const { status, outcome, retryAfter, problem } of items) {
    if (typeof status !== 'number' || typeof outcome !== 'string') return undefined;
    const seconds = typeof retryAfter === 'number' ? String(retryAfter) : undefined;
    replies.push(replyOf(status, outcome, seconds, typeof problem === 'object'));
  }
  return replies;
}

/** The items of a batch with their pages; empty if the text is not the body of a batch. */
export function itemsOf(text: string): readonly Readonly<Record<string, unknown>>[] {
  const { results } = Object(parsed(text));
  return Array.isArray(results) ? results.filter((one) => typeof one === 'object' && one !== null) : [];
}

function replyOf(status: number, outcome: string, retryAfter: string | undefined, isProblem: boolean): Reply {
  return {
    status,
    headers: {
      'Server-Timing': `cache;desc=${outcome}`,
      'Retry-After': retryAfter,
      'Content-Type': isProblem ? 'application/problem+json' : undefined,
    },
  };
}

/** The value of a JSON text; undefined if it is not JSON. */
export function parsed(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
