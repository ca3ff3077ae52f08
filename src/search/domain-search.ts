import { createBoundedMap } from '../cache/bounded-map.ts';
import type { Entry } from '../cache/entry.ts';
import { freshnessOf, remainingMs } from '../cache/freshness.ts';
import type { MissReason } from '../cache/reason.ts';
import type { Lookup, Tiers } from '../cache/tiers.ts';
import type { Clock } from '../clock.ts';
import { withinDeadline } from '../resilience/deadline.ts';
import { Shed } from '../resilience/guard.ts';
import type { Answer, PreparedSearch, TierStep } from './answer.ts';
import type { SearchEvent } from './events.ts';
import { Unanswered } from './failure.ts';
import type { Flight, MissPath } from './flight.ts';
import { forwarded, HIT, missReason } from './steps.ts';
import { inTurns } from './turns.ts';
import { forwardStatus, toUnanswered } from './unanswered.ts';

/**
 * One domain's searches, in the order of design §3: L1, L2, the miss path; and when that fails a stale entry, else
 * Unanswered. Every way through ends in one Answer or one error.
 */
export interface DomainSearch {
  readonly fromMemory: (prepared: PreparedSearch) => Answer | undefined;
  readonly search: (prepared: PreparedSearch) => Promise<Answer>;
  /** Asks the engine whatever the tiers hold, and overwrites both. */
  readonly bypass: (prepared: PreparedSearch) => Promise<Answer>;
  readonly searchMany: (prepared: readonly PreparedSearch[]) => Promise<readonly PromiseSettledResult<Answer>[]>;
  readonly lastMiss: (key: string) => { readonly reason: MissReason; readonly atMs: number } | undefined;
}

export interface DomainSearchOptions {
  readonly domain: string;
  readonly tiers: Tiers;
  readonly missPath: MissPath;
  /** The client's deadline on the miss path, from the moment both tiers have missed. */
  readonly deadlineMs: number;
  readonly breakerRetryAfterMs: () => number;
  /** Items of one batch on the miss path at once: a batch alone never overloads an idle engine. */
  readonly batchConcurrency: number;
  readonly clock: Clock;
  readonly observe: (event: SearchEvent) => void;
}

/** Keys remembered for explain, and keys whose page could not be stored. */
const REMEMBERED_KEYS = 2048;

/** What the tiers said, on the way to the engine. `found` is absent where there is no store. */
interface Missed {
  readonly held: Lookup;
  readonly found?: Lookup;
  readonly l2Ms?: number;
}

export function createDomainSearch(options: DomainSearchOptions): DomainSearch {
  const { domain, tiers, missPath, clock, observe } = options;
  const lastMisses = createBoundedMap<{ reason: MissReason; atMs: number }>(REMEMBERED_KEYS);
  const notStorable = createBoundedMap<true>(REMEMBERED_KEYS);

  const answer = (
    entry: Entry,
    outcome: Answer['outcome'],
    steps: { l1: TierStep; l2?: TierStep; reason?: MissReason },
    timings: Answer['timings'] = {},
  ): Answer => ({ entry, outcome, remainingMs: remainingMs(entry, clock.monotonicMs()), ...steps, timings });

  /** L1, fresh or stale; undefined when somebody else must be asked. */
  const fromHeld = (prepared: PreparedSearch, held: Lookup): Answer | undefined => {
    if (held.kind !== 'found' || held.freshness === 'failing') return undefined;
    if (held.freshness === 'fresh') return answer(held.entry, 'hit-l1', { l1: HIT });
    missPath.refresh(prepared, tiers.hasStore);
    return answer(held.entry, 'stale', { l1: HIT });
  };

  const fromFound = async (prepared: PreparedSearch, held: Lookup, found: Lookup, l2Ms: number): Promise<Answer> => {
    if (found.kind !== 'found' || found.freshness === 'failing') return forward(prepared, { held, found, l2Ms });
    const steps = { l1: forwarded(held), l2: HIT };
    if (found.freshness === 'fresh') return answer(found.entry, 'hit-l2', steps, { l2Ms });
    missPath.refresh(prepared, false);
    return answer(found.entry, 'stale', steps, { l2Ms });
  };

  const forward = async (prepared: PreparedSearch, missed: Missed): Promise<Answer> => {
    const { held, found } = missed;
    const reason = missReason(held, found, notStorable.get(prepared.key) === true);
    observe({ kind: 'miss', domain, reason });
    lastMisses.set(prepared.key, { reason, atMs: clock.monotonicMs() });
    const startedMs = clock.monotonicMs();
    const fly = reason === 'bypass' ? missPath.flyAnew : missPath.fly;
    const flight = fly(prepared, found, startedMs + options.deadlineMs);
    try {
      return await landedAnswer(prepared, missed, flight, reason, startedMs);
    } catch (error) {
      const failure = toUnanswered(error, options.breakerRetryAfterMs());
      if (!(failure instanceof Unanswered)) throw failure;
      const stale =
        staleAnswer(missed, failure, reason) ??
        // A late reply of the store may have come into L1 meanwhile.
        staleAnswer({ ...missed, held: tiers.fromMemory(prepared) }, failure, reason);
      if (stale === undefined) throw failure;
      return stale;
    }
  };

  const landedAnswer = async (
    prepared: PreparedSearch,
    { held, found, l2Ms }: Missed,
    { result, leads }: Flight,
    reason: MissReason,
    startedMs: number,
  ): Promise<Answer> => {
    const { entry, from, stored } = await withinDeadline(result, options.deadlineMs);
    if (stored.l1 || stored.l2) notStorable.delete(prepared.key);
    else if (!entry.degraded) notStorable.set(prepared.key, true);
    const timings = { ...(l2Ms === undefined ? {} : { l2Ms }), engineMs: clock.monotonicMs() - startedMs };
    if (leads && from === 'store') {
      return answer(entry, 'hit-l2', { l1: forwarded(held, { stored: stored.l1 }), l2: HIT, reason }, timings);
    }
    const outcome = leads ? 'engine' : 'collapsed';
    const detail = { detail: reason };
    const l1 = forwarded(held, {
      ...(leads ? { stored: stored.l1 } : { collapsed: true }),
      ...(found === undefined ? detail : {}),
    });
    if (found === undefined) return answer(entry, outcome, { l1, reason }, timings);
    const l2 = forwarded(found, { ...(leads ? { stored: stored.l2 } : { collapsed: true }), ...detail });
    return answer(entry, outcome, { l1, l2, reason }, timings);
  };

  /** An entry the failure may be answered with, from the tier nearest the client. */
  const staleAnswer = ({ held, found }: Missed, failure: Unanswered, reason: MissReason): Answer | undefined => {
    const failed = { why: 'stale', forwardStatus: forwardStatus(failure.code) } as const;
    const l2 = found === undefined ? {} : { l2: forwarded(found, { detail: reason }) };
    if (servable(held)) return answer(held.entry, 'stale', { l1: forwarded(held, failed), ...l2, reason });
    if (!servable(found)) return undefined;
    const steps = { l1: forwarded(held), l2: forwarded(found, { ...failed, detail: reason }), reason };
    return answer(found.entry, 'stale', steps);
  };

  const servable = (lookup: Lookup | undefined): lookup is Extract<Lookup, { kind: 'found' }> =>
    lookup?.kind === 'found' && freshnessOf(lookup.entry, clock.monotonicMs()) !== 'lapsed';

  return {
    lastMiss: lastMisses.get,
    fromMemory: (prepared) => {
      const held = tiers.fromMemory(prepared);
      return held.kind === 'found' && held.freshness === 'fresh' ? fromHeld(prepared, held) : undefined;
    },
    search: async (prepared) => {
      const held = tiers.fromMemory(prepared);
      const near = fromHeld(prepared, held);
      if (near !== undefined) return near;
      if (!tiers.hasStore) return forward(prepared, { held });
      const startedMs = clock.monotonicMs();
      const found = await tiers.fromStore(prepared);
      return fromFound(prepared, held, found, clock.monotonicMs() - startedMs);
    },
    bypass: async (prepared) => {
      const bypassed: Lookup = { kind: 'missed', reason: 'bypass' };
      return forward(prepared, { held: bypassed, ...(tiers.hasStore ? { found: bypassed } : {}) });
    },
    searchMany: async (many) => {
      const held = many.map((prepared) => tiers.fromMemory(prepared));
      const near = many.map((prepared, i) => fromHeld(prepared, held[i] ?? UNSEEN));
      const startedMs = clock.monotonicMs();
      const wanted = [
        ...new Map(many.filter((_, i) => near[i] === undefined).map((each) => [each.key, each])).values(),
      ];
      const lookups = tiers.hasStore && wanted.length > 0 ? await tiers.fromStoreMany(wanted) : [];
      const found = new Map(wanted.map((each, i) => [each.key, lookups[i] ?? UNSEEN]));
      const l2Ms = clock.monotonicMs() - startedMs;
      const finish = async (prepared: PreparedSearch, i: number): Promise<Answer> => {
        // The batch as a whole has one deadline for beginning its items, so that it ends within two.
        if (clock.monotonicMs() - startedMs > options.deadlineMs) throw toUnanswered(new Shed('queue-expired'), 0);
        const missed = held[i] ?? UNSEEN;
        if (!tiers.hasStore) return forward(prepared, { held: missed });
        return fromFound(prepared, missed, found.get(prepared.key) ?? UNSEEN, l2Ms);
      };
      return inTurns(
        many.map((prepared, i) => async () => near[i] ?? finish(prepared, i)),
        options.batchConcurrency,
      );
    },
  };
}

const UNSEEN: Lookup = { kind: 'missed', reason: 'unseen' };
