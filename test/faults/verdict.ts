import { hash } from 'node:crypto';
import type { Reply } from '../../loadtest/http-driver/client.ts';
import { OUTCOMES, type Outcome } from '../../src/search/outcome.ts';

/** The classification of one reply, before it is compared with the engine's page. */
export type ReplyVerdict =
  | {
      readonly kind: 'page';
      readonly outcome: Outcome;
      /** Hash of the whole body: equal pages have equal bytes. */
      readonly hash: string;
      readonly degraded: boolean;
    }
  /** Refused as documented: a status, a problem document and Retry-After. */
  | { readonly kind: 'shed'; readonly code: string }
  /** An answer that a client cannot act on, or that contradicts itself. */
  | { readonly kind: 'dishonest'; readonly why: string }
  | { readonly kind: 'hung' }
  | { readonly kind: 'broken'; readonly why: string };

export type Reference = ReturnType<typeof createReference>;

/** A fresh page from L1 or L2. */
export function isHit({ verdict }: { readonly verdict: ReplyVerdict }): boolean {
  return verdict.kind === 'page' && (verdict.outcome === 'hit-l1' || verdict.outcome === 'hit-l2');
}

/** Documented refusals with their statuses. Only rows that list the last two in `bounds.refusals` allow them. */
const REFUSALS: Readonly<Record<string, number>> = {
  overloaded: 503,
  busy: 503,
  'engine-open': 503,
  'engine-unavailable': 503,
  'engine-deadline': 504,
  'engine-rejected': 502,
  'over-budget': 429,
};

/** @param text the search in canonical form; a page must repeat it. */
export function verdictOf(reply: Reply, text: string): ReplyVerdict {
  if (reply.kind !== 'answer') return reply;
  const dishonest = (why: string): ReplyVerdict => ({ kind: 'dishonest', why: `${reply.status}: ${why}` });
  if (reply.status !== 200) return shedOf(reply, dishonest);

  const described = [...String(reply.headers['server-timing']).matchAll(/\bcache;desc=([a-z0-9-]+)/g)];
  const outcome = OUTCOMES.find((each) => each === described[0]?.[1]);
  if (outcome === undefined || described.length !== 1) {
    return dishonest(`not exactly one outcome in ${reply.headers['server-timing']}`);
  }
  const contradiction = contradictionOf(outcome, String(reply.headers['cache-status']));
  if (contradiction !== undefined) return dishonest(contradiction);
  const body = readJson(reply.body);
  const shape = shapeFault(body, text);
  if (shape !== undefined) return dishonest(shape);
  const degraded = body?.['degraded'] === true;
  if (outcome === 'lifeboat' && !degraded) return dishonest('a lifeboat page that does not say degraded');
  return { kind: 'page', outcome, hash: hash('sha1', reply.body), degraded };
}

function shedOf(reply: Extract<Reply, { kind: 'answer' }>, dishonest: (why: string) => ReplyVerdict): ReplyVerdict {
  if (reply.headers['content-type'] !== 'application/problem+json') return dishonest('not a problem document');
  const code = readJson(reply.body)?.['code'];
  if (typeof code !== 'string') return dishonest('a problem without a code');
  if (REFUSALS[code] !== reply.status) return dishonest(code);
  if ((reply.status === 503 || reply.status === 429) && !(Number(reply.headers['retry-after']) >= 1))
    return dishonest(`${code} without Retry-After`);
  if (reply.headers['cache-control'] !== 'no-store') return dishonest(`${code} may be stored`);
  return { kind: 'shed', code };
}

/** Checks that Server-Timing and Cache-Status agree. */
function contradictionOf(outcome: Outcome, cacheStatus: string): string | undefined {
  const [near = '', ...rest] = cacheStatus.split(', ').toReversed();
  const expected =
    outcome === 'hit-l1' ? /^serpcache-l1; hit/ : outcome === 'hit-l2' ? /^serpcache-l1; fwd=/ : /^serpcache-l[12]; /;
  const tells = expected.test(near) && (outcome !== 'hit-l2' || /^serpcache-l2; hit/.test(rest[0] ?? ''));
  return tells ? undefined : `outcome ${outcome} but Cache-Status ${cacheStatus}`;
}

function shapeFault(body: Record<string, unknown> | undefined, text: string): string | undefined {
  if (body === undefined) return 'a body that is not a JSON object';
  if (body['query'] !== text) return `a page for another search: ${JSON.stringify(body['query'])}, not ${text}`;
  const { total, results } = body;
  if (typeof total !== 'number' || !Array.isArray(results)) return 'a page without total and results';
  if (results.length > total) return `${results.length} results of ${total}`;
  if (!results.every((each) => typeof each?.id === 'string' && typeof each?.title === 'string')) {
    return 'a result without id and title';
  }
  return undefined;
}

function readJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** The engine's page for each search, learned from the pages of the control. */
export function createReference() {
  const pages = new Map<string, Set<string>>();
  return {
    learn: (text: string, verdict: ReplyVerdict): void => {
      if (verdict.kind !== 'page' || verdict.degraded) return;
      const known = pages.get(text);
      if (known === undefined) pages.set(text, new Set([verdict.hash]));
      else known.add(verdict.hash);
    },
    knows: (text: string): boolean => pages.has(text),
    /**
     * Whether this page equals the engine's, byte for byte. Only the shape of a degraded page is checked.
     * Undefined when no page of this search was learned, or when two different ones were and this is one of them.
     */
    agrees: (text: string, verdict: ReplyVerdict): boolean | undefined => {
      if (verdict.kind !== 'page' || verdict.degraded) return true;
      const known = pages.get(text);
      if (known === undefined) return undefined;
      if (!known.has(verdict.hash)) return false;
      return known.size === 1 ? true : undefined;
    },
    /** Searches for which two different complete pages were learned. */
    contradictions: (): readonly string[] => [...pages].flatMap(([text, hashes]) => (hashes.size > 1 ? [text] : [])),
  };
}
