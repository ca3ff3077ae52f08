import type { Reply } from './reply.ts';

const FACTS = '{"status":';
/** All facts that are looked at stand before the first that can be long. */
const FACTS_CHARACTERS = 80;
const FACTS_SHAPE = /^\{"status":(\d{3}),"outcome":"([a-z0-9-]+)"(?:,"retryAfter":(\d+))?(,"problem":)?/;

/**
 * What became of a batch's searches, in order, each as an answer of its own would say it; undefined when the body is not
 * that of a batch of `count`.
 *
 * Reading 50 pages costs the generator more than all else it does, so they are not read: each search is looked for where its
 * facts begin. Every item begins so; a page that holds the same text makes more of them than there are, and then the whole
 * body is read.
 */
export function itemReplies(text: string, count: number): readonly Reply[] | undefined {
  const replies: Reply[] = [];
  for (let at = text.indexOf(FACTS); at >= 0 && replies.length <= count; at = text.indexOf(FACTS, at + 1)) {
    const [, status, outcome, retryAfter, problem] = FACTS_SHAPE.exec(text.slice(at, at + FACTS_CHARACTERS)) ?? [];
    if (status === undefined || outcome === undefined) return readReplies(text, count);
    replies.push(replyOf(Number(status), outcome, retryAfter, problem !== undefined));
  }
  return replies.length === count ? replies : readReplies(text, count);
}

function readReplies(text: string, count: number): readonly Reply[] | undefined {
  const items = itemsOf(text);
  if (items.length !== count) return undefined;
  const replies: Reply[] = [];
  for (const item of items) {
    const { status, outcome, retryAfter, problem } = item;
    if (typeof status !== 'number' || typeof outcome !== 'string') return undefined;
    const seconds = typeof retryAfter === 'number' ? String(retryAfter) : undefined;
    replies.push(replyOf(status, outcome, seconds, typeof problem === 'object'));
  }
  return replies;
}

/** Whole, with their pages: for a look at some of them. Empty when the text is not that of a batch. */
export function itemsOf(text: string): readonly Readonly<Record<string, unknown>>[] {
  try {
    const { results } = JSON.parse(text);
    return Array.isArray(results) ? results.filter((one) => typeof one === 'object' && one !== null) : [];
  } catch {
    return [];
  }
}

function replyOf(status: number, outcome: string, retryAfter: string | undefined, isProblem: boolean): Reply {
  return {
    status,
    headers: {
      'Server-Timing': `cache;desc=${outcome}`,
      ...(retryAfter === undefined ? {} : { 'Retry-After': retryAfter }),
      ...(isProblem ? { 'Content-Type': 'application/problem+json' } : {}),
    },
  };
}
