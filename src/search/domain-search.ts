import type { Entry } from '../cache/entry.ts';
import { remainingMs } from '../cache/freshness.ts';
import type { Lookup, Tiers } from '../cache/tiers.ts';
import type { Clock } from '../clock.ts';
import { Shed } from '../resilience/guard.ts';
import type { Answer, PreparedSearch, TierStep } from './answer.ts';
import type { Forward, MayMiss } from './forward.ts';
import type { Refresh } from './refresh.ts';
import { forwarded, HIT } from './steps.ts';
import { inTurns } from './turns.ts';
import { toUnanswered } from './unanswered.ts';

/**
 * One domain's searches, in the order of design §3: L1, L2, and what neither can answer goes forward. Every way through
 * ends in one Answer or one error.
 */
export interface DomainSearch {
  readonly fromMemory: (prepared: PreparedSearch) => Answer | undefined;
  readonly search: (prepared: PreparedSearch, mayMiss?: MayMiss) => Promise<Answer>;
  /** Asks the engine whatever the tiers hold, and overwrites both. */
  readonly bypass: (prepared: PreparedSearch) => Promise<Answer>;
  readonly searchMany: (
    prepared: readonly PreparedSearch[],
    mayMiss?: MayMiss,
  ) => Promise<readonly PromiseSettledResult<Answer>[]>;
}

export interface DomainSearchOptions {
  readonly tiers: Tiers;
  readonly forward: Forward['forward'];
  readonly refresh: Refresh;
  /** While true, an entry of the long stale window is served at once, as if the engine had failed already. */
  readonly engineTroubled: () => boolean;
  /** Told of every search, before it is answered: how popular queries are known. */
  readonly note: (prepared: PreparedSearch) => void;
  /** The engine's. */
  readonly deadlineMs: number;
  /** Items of one batch on the miss path at once: a batch alone never overloads an idle engine. */
  readonly batchConcurrency: number;
  readonly clock: Clock;
}

export function createDomainSearch(options: DomainSearchOptions): DomainSearch {
  const { tiers, forward, refresh, note, clock } = options;

  const answer = (
    entry: Entry,
    outcome: Answer['outcome'],
    steps: { l1: TierStep; l2?: TierStep },
    timings: Answer['timings'] = {},
  ): Answer => ({ entry, outcome, remainingMs: remainingMs(entry, clock.monotonicMs()), ...steps, timings });

  /** May be served as it is: while the engine is well the stale window is short, while it is not, long. */
  const isAtHand = (lookup: Lookup): lookup is Extract<Lookup, { kind: 'found' }> =>
    lookup.kind === 'found' && (lookup.freshness !== 'failing' || options.engineTroubled());

  /** L1, fresh or stale; undefined when somebody else must be asked. */
  const fromHeld = (prepared: PreparedSearch, held: Lookup): Answer | undefined => {
    if (!isAtHand(held)) return undefined;
    if (held.freshness === 'fresh') return answer(held.entry, 'hit-l1', { l1: HIT });
    refresh.stale(prepared, true);
    return answer(held.entry, 'stale', { l1: HIT });
  };

  const fromFound = async (
    prepared: PreparedSearch,
    missed: { readonly held: Lookup; readonly found: Lookup; readonly l2Ms: number },
    mayMiss: MayMiss | undefined,
  ): Promise<Answer> => {
    const { held, found, l2Ms } = missed;
    if (!isAtHand(found)) return forward(prepared, missed, mayMiss);
    const steps = { l1: forwarded(held), l2: HIT };
    if (found.freshness === 'fresh') return answer(found.entry, 'hit-l2', steps, { l2Ms });
    refresh.stale(prepared, false);
    return answer(found.entry, 'stale', steps, { l2Ms });
  };

  return {
    fromMemory: (prepared) => {
      const held = tiers.fromMemory(prepared);
      if (held.kind !== 'found' || held.freshness !== 'fresh') return undefined;
      note(prepared);
      return fromHeld(prepared, held);
    },
    search: async (prepared, mayMiss) => {
      note(prepared);
      const held = tiers.fromMemory(prepared);
      const near = fromHeld(prepared, held);
      if (near !== undefined) return near;
      if (!tiers.hasStore) return forward(prepared, { held }, mayMiss);
      const startedMs = clock.monotonicMs();
      const found = await tiers.fromStore(prepared);
      return fromFound(prepared, { held, found, l2Ms: clock.monotonicMs() - startedMs }, mayMiss);
    },
    bypass: async (prepared) => {
      const bypassed: Lookup = { kind: 'missed', reason: 'bypass' };
      return forward(prepared, { held: bypassed, ...(tiers.hasStore ? { found: bypassed } : {}) });
    },
    searchMany: async (many, mayMiss) => {
      for (const prepared of many) note(prepared);
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
        if (!tiers.hasStore) return forward(prepared, { held: missed }, mayMiss);
        return fromFound(prepared, { held: missed, found: found.get(prepared.key) ?? UNSEEN, l2Ms }, mayMiss);
      };
      return inTurns(
        many.map((prepared, i) => async () => near[i] ?? finish(prepared, i)),
        options.batchConcurrency,
      );
    },
  };
}

const UNSEEN: Lookup = { kind: 'missed', reason: 'unseen' };
