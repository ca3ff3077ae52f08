import { isDeepStrictEqual } from 'node:util';
import { decompress, etagOf } from '../cache/codec.ts';
import type { Entry } from '../cache/entry.ts';
import type { EntryRules } from '../cache/invalidation.ts';
import type { Guard } from '../resilience/guard.ts';
import type { SearchRequest } from './domain.ts';
import type { ResultPage } from './engine.ts';
import type { StaleReason } from './events.ts';
import type { PreparedSearch } from './key.ts';
import { type AskEngineOptions, askEngine, encodeBody, withoutSuppressed } from './page.ts';

interface AuditOptions extends AskEngineOptions {
  /** Mean number of hits for each one that is compared. */
  readonly every: number;
  /** An answer may be wrong for this time: then the feed must have said so. */
  readonly graceMs: number;
  readonly guard: Pick<Guard, 'admit'>;
  /** Engine permits that no client needs now. */
  readonly spare: () => number;
  readonly rules: Pick<EntryRules<SearchRequest>, 'judge' | 'hides'>;
  /** Replaces a page that was found stale. */
  readonly refresh: (prepared: PreparedSearch, entry: Entry) => void;
  readonly random: () => number;
}

/** Minimum time between two questions to the engine. */
const INTERVAL_MS = 100;
/** Pages that differed and wait for the end of `graceMs`. */
const MAX_WAITING = 64;
/** Maximum of an inflated body. A larger one is not compared. */
const MAX_BODY_BYTES = 16 * 2 ** 20;

/**
 * Asks the engine again for some of the hits, and compares its answers with those that were served: how many answers are stale
 * is measured, not derived from the feed of changes.
 */
export function createFreshnessAudit(options: AuditOptions) {
  const { domain, every, graceMs, guard, spare, rules, deadlineMs, clock, random, observe } = options;
  /** Spread evenly over 1 to 2 × `every` − 1, so that no rhythm of the traffic is met again and again. */
  const next = (): number => 1 + Math.floor(random() * (2 * every - 1));
  let left = next();
  let asking = false;
  let waiting = 0;
  let notBeforeMs = Number.NEGATIVE_INFINITY;

  const freshBody = async (prepared: PreparedSearch): Promise<Buffer | undefined> => {
    const permit = await guard.admit({ deadlineAtMs: clock.monotonicMs() + deadlineMs, priority: 'warm-up' });
    const page = await permit.run((endpoint, signal) =>
      askEngine(prepared, { endpoint, signal, above: undefined }, options),
    );
    if (page.partial !== undefined) return undefined;
    return encodeBody(prepared.request, withoutSuppressed(page, rules.hides()));
  };

  /** A page that the feed has found changed meanwhile is not reported: it is refreshed in time. */
  const report = (prepared: PreparedSearch, entry: Entry, result: 'equal' | StaleReason): void => {
    if (rules.judge(entry, prepared) !== 'whole') return;
    observe({ kind: 'audit', domain, result });
    if (result !== 'equal') options.refresh(prepared, entry);
  };

  const audit = async (prepared: PreparedSearch, entry: Entry): Promise<void> => {
    const fresh = await freshBody(prepared);
    if (fresh === undefined) return;
    const isSame = etagOf(fresh) === entry.etag;
    const stale = isSame ? undefined : differenceOf(await pageIn(entry), JSON.parse(fresh.toString()));
    if (stale === undefined) {
      report(prepared, entry, 'equal');
      return;
    }
    waiting += 1;
    setTimeout(() => {
      waiting -= 1;
      report(prepared, entry, stale);
    }, graceMs).unref();
  };

  /** Called for each hit. */
  return (prepared: PreparedSearch, entry: Entry): void => {
    left -= 1;
    if (left > 0) return;
    left = next();
    if (asking || waiting >= MAX_WAITING || entry.degraded || clock.monotonicMs() < notBeforeMs || spare() < 1) return;
    asking = true;
    notBeforeMs = clock.monotonicMs() + INTERVAL_MS;
    audit(prepared, entry)
      // An engine that fails and a body that cannot be read tell nothing about freshness.
      .catch(() => undefined)
      .finally(() => {
        asking = false;
      });
  };
}

/** The members of a body that are compared. */
type ComparedPage = Pick<ResultPage, 'total' | 'totalRelation' | 'results' | 'facets'>;

/** The body of an entry. @throws where it cannot be inflated or is no JSON */
export async function pageIn({ body, coding }: Pick<Entry, 'body' | 'coding'>): Promise<ComparedPage> {
  return JSON.parse((await decompress(body, coding, MAX_BODY_BYTES)).toString());
}

/** Undefined: the pages show the same. Scores and the order of equal ranks may differ: other documents change them too. */
export function differenceOf(served: ComparedPage, fresh: ComparedPage): StaleReason | undefined {
  const now = new Map(fresh.results.map((result) => [result.id, result]));
  const before = new Set(served.results.map(({ id }) => id));
  const isChanged = served.results.some((result) => {
    const other = now.get(result.id);
    return other !== undefined && !isDeepStrictEqual({ ...result, score: 0 }, { ...other, score: 0 });
  });
  if (isChanged) return 'changed';
  if (served.results.some(({ id }) => !now.has(id))) return 'left';
  if (fresh.results.some(({ id }) => !before.has(id))) return 'entered';
  const counted = ({ total, totalRelation, facets }: ComparedPage) => ({ total, totalRelation, facets });
  if (!isDeepStrictEqual(counted(served), counted(fresh))) return 'facet';
  const isMoved = served.results.some(({ id }, at) => now.get(id)?.score !== fresh.results[at]?.score);
  return isMoved ? 'unknown' : undefined;
}
