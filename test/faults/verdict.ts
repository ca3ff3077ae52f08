import { hash } from 'node:crypto';
import type { Reply } from '../../loadtest/traffic/client.ts';
import { OUTCOMES, type Outcome } from '../../src/search/events.ts';

/** What one reply is worth, before anybody knows what the engine says of that search. */
export type ReplyVerdict =
  | {
      readonly kind: 'page';
      readonly outcome: Outcome;
      /** Of the whole body: equal pages are equal bytes. */
      readonly hash: string;
      readonly degraded: boolean;
    }
  /** Refused in the way the documentation says: a status, a problem document, when to come again. */
  | { readonly kind: 'shed'; readonly code: string }
  /** An answer that no client can act on, or that contradicts itself. */
  | { readonly kind: 'dishonest'; readonly why: string }
  | { readonly kind: 'hung' }
  | { readonly kind: 'broken'; readonly why: string };

/** What the engine says of each search: learned from pages of the process nobody disturbs. */
export interface Reference {
  readonly learn: (text: string, verdict: ReplyVerdict) => void;
  readonly knows: (text: string) => boolean;
  /**
   * Whether that page is the engine's, byte for byte. A page that says it is degraded promises its shape only.
   * Undefined when nothing was learned of this search, or two different pages and this is one of them.
   */
  readonly agrees: (text: string, verdict: ReplyVerdict) => boolean | undefined;
  /** Searches of which two different whole pages were learned. */
  readonly contradictions: () => readonly string[];
}

/** A fresh page from L1 or L2. */
export function isHit({ verdict }: { readonly verdict: ReplyVerdict }): boolean {
  return verdict.kind === 'page' && (verdict.outcome === 'hit-l1' || verdict.outcome === 'hit-l2');
}

/** Refusals with their statuses. The last two are honest, but only where a row expects them. */
const SHEDS: Readonly<Record<string, number>> = {
  overloaded: 503,
  busy: 503,
  'engine-open': 503,
  'engine-unavailable': 503,
  'engine-deadline': 504,
  'engine-rejected': 502,
  'over-budget': 429,
};

/** @param text what was asked, in canonical form: a page must say which search it answers. */
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
  if (SHEDS[code] !== reply.status) return dishonest(code);
  if ((reply.status === 503 || reply.status === 429) && !(Number(reply.headers['retry-after']) >= 1))
    return dishonest(`${code} without Retry-After`);
  if (reply.headers['cache-control'] !== 'no-store') return dishonest(`${code} may be stored`);
  return { kind: 'shed', code };
}

/** The two headers tell one story. */
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

export function createReference(): Reference {
  const pages = new Map<string, Set<string>>();
  return {
    learn: (text, verdict) => {
      if (verdict.kind !== 'page' || verdict.degraded) return;
      const known = pages.get(text);
      if (known === undefined) pages.set(text, new Set([verdict.hash]));
      else known.add(verdict.hash);
    },
    knows: (text) => pages.has(text),
    agrees: (text, verdict) => {
      if (verdict.kind !== 'page' || verdict.degraded) return true;
      const known = pages.get(text);
      if (known === undefined) return undefined;
      if (!known.has(verdict.hash)) return false;
      return known.size === 1 ? true : undefined;
    },
    contradictions: () => [...pages].flatMap(([text, hashes]) => (hashes.size > 1 ? [text] : [])),
  };
}
