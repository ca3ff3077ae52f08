import type { MissReason } from '../cache/events.ts';
import type { Lookup, Tiers } from '../cache/tiers.ts';
import { within } from '../resilience/guard.ts';
import { type NoPageReason, REASONS, SearchError } from '../resilience/search-error.ts';
import { type Clock, createBoundedMap } from '../runtime.ts';
import type { SearchRequest } from './domain.ts';
import type { SearchEvent } from './events.ts';
import type { PreparedSearch } from './key.ts';
import type { Lifeboat } from './lifeboat.ts';
import type { Loader, LoadJoin } from './load.ts';
import {
  type Answer,
  type AnswerMiss,
  answerOf,
  forwarded,
  HIT,
  type Lookups,
  missReason,
  type SearchClient,
} from './read-path.ts';
import { inSpan, type Span, untilSettled } from './trace.ts';

export type MissPath = ReturnType<typeof createMissPath>;

interface MissPathOptions {
  readonly domain: string;
  readonly tiers: Tiers<SearchRequest>;
  readonly loader: Pick<Loader, 'load' | 'reload' | 'isLoading'>;
  readonly lifeboat?: Lifeboat;
  /** The engine's deadline: the maximum time that a client waits for one engine call. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly observe: (event: SearchEvent) => void;
}

/**
 * Maximum number of keys in each of three maps: last misses for explain, pages that could not be stored, and pauses
 * after a worse load.
 */
const REMEMBERED_KEYS = 2048;

/**
 * After a load that gave a worse page than the one at hand, the page at hand is served for this time without a load.
 * Without it, one dead agent of the engine would disable the cache for every entry past its short stale window.
 */
const PAUSE_AFTER_WORSE_MS = 1000;

/** The status of a failed call: of the engine, for a client that gets an older page instead. */
type ForwardStatus = (typeof REASONS)[NoPageReason]['status'];

/** The status of a partial page when a whole older page is served instead. */
const PARTIAL_STATUS: ForwardStatus = 502;

interface Miss {
  readonly prepared: PreparedSearch;
  readonly lookups: Lookups;
  readonly reason: MissReason;
}

/**
 * A search that neither tier could answer: it joins or starts the key's load, and waits for it. When
 * the load gives no page in time, the search ends with the first of these that exists: a stale page, a page of the
 * lifeboat, the refusal.
 */
export function createMissPath({ domain, tiers, loader, lifeboat, deadlineMs, clock, observe }: MissPathOptions) {
  const lastMisses = createBoundedMap<{ reason: MissReason; atMs: number }>(REMEMBERED_KEYS);
  const notStorable = createBoundedMap<true>(REMEMBERED_KEYS);
  const pauses = createBoundedMap<{ untilMs: number; status: ForwardStatus }>(REMEMBERED_KEYS);

  const recordMiss = (prepared: PreparedSearch, lookups: Lookups): Miss => {
    const reason = missReason(lookups, notStorable.get(prepared.key) === true);
    observe({ kind: 'miss', domain, reason });
    lastMisses.set(prepared.key, { reason, atMs: clock.monotonicMs() });
    return { prepared, lookups, reason };
  };

  const pauseLoads = ({ prepared }: Miss, status: ForwardStatus): void =>
    pauses.set(prepared.key, { untilMs: clock.monotonicMs() + PAUSE_AFTER_WORSE_MS, status });

  const answer: AnswerMiss = async (prepared, lookups, client, deadlineAtMs) => {
    const miss = recordMiss(prepared, lookups);
    const pause = pauses.get(prepared.key);
    if (pause !== undefined && clock.monotonicMs() < pause.untilMs) {
      const stale = staleAnswer(miss, pause.status);
      if (stale !== undefined) return stale;
    }
    try {
      refuseEarly(prepared, client, deadlineAtMs);
      const load = client.bypass === true ? loader.reload : loader.load;
      const joined = load(prepared, lookups.l2, { deadlineAtMs, span: client.span });
      return await loadedAnswer(miss, joined, client.span, deadlineAtMs);
    } catch (error) {
      if (!(error instanceof SearchError)) throw error;
      return fallbackAnswer(miss, error, client.span);
    }
  };

  /**
   * The checks that need no load. Joining a running load costs the engine nothing, so it costs the client no budget.
   */
  const refuseEarly = (prepared: PreparedSearch, client: SearchClient, deadlineAtMs: number): void => {
    if (clock.monotonicMs() >= deadlineAtMs) throw new SearchError('queue-expired');
    if (loader.isLoading(prepared.key) || client.bypass === true) return;
    if (client.mayMiss?.(prepared) === false) throw new SearchError('over-budget');
  };

  /** Waits for the load. Its page also shows whether the key can be stored, and whether its loads must pause. */
  const loadedAnswer = async (
    miss: Miss,
    { result, leads, started, span: loadSpan }: LoadJoin,
    span: Span | undefined,
    deadlineAtMs: number,
  ): Promise<Answer> => {
    const { prepared, lookups, reason } = miss;
    const { l1, l2, l2Ms } = lookups;
    const startedMs = clock.monotonicMs();
    // The client leaves at its own deadline, or when the engine's call has lasted too long. The load goes on without it:
    // a late page is stored, and the next client gets it.
    const waited = within(result, {
      maxWaitMs: deadlineAtMs - startedMs,
      call: { asked: started, deadlineMs },
      monotonicMs: clock.monotonicMs,
    });
    // The load of another search has its spans in that search's trace.
    const joined = leads ? undefined : span?.begin('load', { 'serpcache.joined': true });
    if (loadSpan !== undefined) joined?.link(loadSpan);
    const { entry, from, stored } = await untilSettled(joined, waited);
    if (entry.degraded) {
      pauseLoads(miss, PARTIAL_STATUS);
      // A complete older page is better than a partial new one.
      const whole = staleAnswer(miss, PARTIAL_STATUS);
      if (whole !== undefined) return whole;
    }
    if (stored.l1 || stored.l2 || from !== 'engine') notStorable.delete(prepared.key);
    else if (!entry.degraded) notStorable.set(prepared.key, true);

    const nowMs = clock.monotonicMs();
    const timings = { l2Ms, engineMs: nowMs - startedMs };
    if (leads && from === 'store') {
      const status = { l1: forwarded(l1, { stored: stored.l1 }), l2: HIT, reason };
      return answerOf(entry, 'hit-l2', nowMs, status, timings);
    }
    // A page of another search's load, or of another process, is collapsed: the engine was not asked for this search.
    const isOwn = leads && from === 'engine';
    const outcome = isOwn ? 'engine' : 'collapsed';
    const part = (tier: 'l1' | 'l2') => (isOwn ? { stored: stored[tier] } : { collapsed: true });
    const status =
      l2 === undefined
        ? { l1: forwarded(l1, { ...part('l1'), detail: reason }), reason }
        : { l1: forwarded(l1, part('l1')), l2: forwarded(l2, { ...part('l2'), detail: reason }), reason };
    return answerOf(entry, outcome, nowMs, status, timings);
  };

  /** The answer in place of the page that the load did not give. @throws the failure when there is none. */
  const fallbackAnswer = async (miss: Miss, failure: SearchError, span: Span | undefined): Promise<Answer> => {
    const { prepared, lookups } = miss;
    const { status } = REASONS[failure.reason];
    // The engine refuses this one query, and will refuse it again.
    if (failure.reason === 'engine-rejected') pauseLoads(miss, status);
    const instead =
      staleAnswer(miss, status) ??
      // L1 again: a late reply of the store may have filled it while the load ran.
      staleAnswer({ ...miss, lookups: { ...lookups, l1: tiers.fromMemory(prepared) } }, status) ??
      // A client without budget for the engine has none for the lifeboat.
      (failure.reason === 'over-budget' ? undefined : await lifeboatAnswer(miss, status, span));
    if (instead === undefined) throw failure;
    return instead;
  };

  /**
   * Validated again: since the lookup a whole deadline may have passed, and a flush or a suppression may have arrived.
   */
  const isServable = (
    lookup: Lookup | undefined,
    prepared: PreparedSearch,
  ): lookup is Extract<Lookup, { kind: 'found' }> =>
    lookup?.kind === 'found' && tiers.validate(lookup.entry, prepared).kind === 'found';

  /** The stale entry of the tier nearest the client. */
  const staleAnswer = (
    { prepared, lookups: { l1, l2 }, reason }: Miss,
    forwardStatus: ForwardStatus,
  ): Answer | undefined => {
    const failed = { why: 'stale', forwardStatus } as const;
    const nowMs = clock.monotonicMs();
    if (isServable(l1, prepared)) {
      const l2Status = l2 === undefined ? {} : { l2: forwarded(l2, { detail: reason }) };
      return answerOf(l1.entry, 'stale', nowMs, { l1: forwarded(l1, failed), ...l2Status, reason });
    }
    if (!isServable(l2, prepared)) return undefined;
    const status = { l1: forwarded(l1), l2: forwarded(l2, { ...failed, detail: reason }), reason };
    return answerOf(l2.entry, 'stale', nowMs, status);
  };

  const lifeboatAnswer = async (
    { prepared, lookups: { l1, l2 }, reason }: Miss,
    forwardStatus: ForwardStatus,
    span: Span | undefined,
  ): Promise<Answer | undefined> => {
    if (lifeboat === undefined) return undefined;
    const startedMs = clock.monotonicMs();
    const entry = await inSpan(span, 'lifeboat', () => lifeboat.rescue(prepared));
    if (entry === undefined) return undefined;
    const failed = { forwardStatus, detail: 'lifeboat' } as const;
    const status =
      l2 === undefined
        ? { l1: forwarded(l1, failed), reason }
        : { l1: forwarded(l1), l2: forwarded(l2, failed), reason };
    const nowMs = clock.monotonicMs();
    return answerOf(entry, 'lifeboat', nowMs, status, { engineMs: nowMs - startedMs });
  };

  return {
    answer,
    /** The last miss of a key in this process, if it is remembered. */
    lastMiss: lastMisses.get,
  };
}
