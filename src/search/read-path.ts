import type { Entry } from '../cache/entry.ts';
import type { MissReason } from '../cache/events.ts';
import { remainingMs } from '../cache/freshness.ts';
import type { Lookup, Tiers } from '../cache/tiers.ts';
import type { Clock } from '../runtime.ts';
import type { SearchRequest } from './domain.ts';
import type { AnswerOutcome } from './events.ts';
import type { Leave, Missed, Forward as MissPath } from './miss-path.ts';
import type { Refresh } from './refresh.ts';
import type { MayMiss } from './search.ts';

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
  readonly forward: MissPath['forward'];
  readonly refresh: Refresh;
  /** While true, an entry of the long stale window is served at once, as if the engine had failed already. */
  readonly engineTroubled: () => boolean;
  /** Told of every search, before it is answered: how popular queries are known. */
  readonly note: (prepared: PreparedSearch) => void;
  /** Items of one batch on the miss path at once: as many as there are permits, so that a batch overloads no idle engine. */
  readonly batchConcurrency: () => number;
  readonly clock: Clock;
}

export function createDomainSearch(options: DomainSearchOptions): DomainSearch {
  const { tiers, forward, refresh, note, clock } = options;

  const answer = (
    entry: Entry,
    outcome: Answer['outcome'],
    steps: { l1: TierStep; l2?: TierStep },
    timings: Answer['timings'] = {},
  ): Answer => ({ entry, outcome, remainingMs: lifeLeftMs(entry, outcome, clock), ...steps, timings });

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

  /** L2, fresh or stale; undefined when somebody else must be asked. */
  const fromFound = (prepared: PreparedSearch, looked: Missed | undefined): Answer | undefined => {
    if (looked?.found === undefined || !isAtHand(looked.found)) return undefined;
    const { held, found, l2Ms } = looked;
    const steps = { l1: forwarded(held), l2: HIT };
    const timings = l2Ms === undefined ? {} : { l2Ms };
    if (found.freshness === 'fresh') return answer(found.entry, 'hit-l2', steps, timings);
    refresh.stale(prepared, false);
    return answer(found.entry, 'stale', steps, timings);
  };

  /** L1 once more: while the store was read, or a batch waited for its turn, the page may have come. */
  const missedBoth = async (prepared: PreparedSearch, missed: Missed, leave: Leave): Promise<Answer> =>
    fromHeld(prepared, tiers.fromMemory(prepared)) ?? forward(prepared, missed, leave);

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
      if (!tiers.hasStore) return forward(prepared, { held }, { mayMiss });
      const startedMs = clock.monotonicMs();
      const found = await tiers.fromStore(prepared);
      const missed = { held, found, l2Ms: clock.monotonicMs() - startedMs };
      return fromFound(prepared, missed) ?? missedBoth(prepared, missed, { mayMiss, sinceMs: startedMs });
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
      const looked = many.map((prepared, i) => ({
        held: held[i] ?? UNSEEN,
        ...(tiers.hasStore ? { found: found.get(prepared.key) ?? UNSEEN, l2Ms } : {}),
      }));
      // Everything at hand first: it must not wait behind what has to be computed.
      const ready = many.map((prepared, i) => near[i] ?? fromFound(prepared, looked[i]));
      const finish = (prepared: PreparedSearch, i: number): Promise<Answer> => {
        // The client waits for the batch as a whole.
        return missedBoth(prepared, looked[i] ?? { held: UNSEEN }, { mayMiss, sinceMs: startedMs });
      };
      const settled = await inTurns(
        many.map((prepared, i) => async () => ready[i] ?? finish(prepared, i)),
        options.batchConcurrency(),
      );
      // What was at hand is answered with the last that had to be computed: it may have been flushed or suppressed by then.
      const gone = (prepared: PreparedSearch, i: number): boolean => {
        const at = ready[i];
        return at !== undefined && tiers.judge(at.entry, prepared).kind === 'missed';
      };
      const again = many.filter(gone);
      if (again.length === 0) return settled;
      const results = await inTurns(
        again.map((prepared) => () => missedBoth(prepared, { held: UNSEEN }, { mayMiss, sinceMs: startedMs })),
        options.batchConcurrency(),
      );
      const anew = new Map(again.map((prepared, i) => [prepared, results[i]]));
      return many.flatMap((prepared, i) => anew.get(prepared) ?? settled[i] ?? []);
    },
  };
}

const UNSEEN: Lookup = { kind: 'missed', reason: 'unseen' };

/** A validated search with the text that identifies its answer. Cheap to keep: http remembers it per URL. */
export interface PreparedSearch {
  readonly request: SearchRequest;
  /** Two requests share it exactly when they must share an answer; see canonical.ts. */
  readonly canonical: string;
  /** First 16 bytes of SHA-256 of the canonical form, base64url: 22 characters. */
  readonly key: string;
  /** The name of its entry in the domain's store: `sc1:<domain>:{<key>}`. */
  readonly storeName: string;
  /** Key hash mod 10 000: what flushes and drills count in. */
  readonly bucket: number;
}

/** A page, where it came from and what each tier did on the way. */
export interface Answer {
  readonly entry: Entry;
  readonly outcome: AnswerOutcome;
  /** Until the entry stops being fresh; negative while it is served stale. */
  readonly remainingMs: number;
  readonly l1: TierStep;
  /** Absent where the domain has no store, or L1 answered. */
  readonly l2?: TierStep;
  /** Why the first tier that had to forward missed; absent on hits. */
  readonly reason?: MissReason;
  /** Milliseconds spent in each part, for Server-Timing; only the parts that took part. */
  readonly timings: { readonly l2Ms?: number; readonly engineMs?: number };
}

/** What one tier did, in the words of RFC 9211. */
export type TierStep =
  | { readonly kind: 'hit' }
  | {
      readonly kind: 'forward';
      readonly why: 'uri-miss' | 'stale' | 'bypass';
      /** The status of a forwarded request that failed; then the tier served stale. */
      readonly forwardStatus?: 429 | 502 | 503 | 504;
      readonly stored?: boolean;
      readonly collapsed?: boolean;
      readonly detail?: MissReason | 'lifeboat';
    };

/** Until the entry stops being fresh. One served as stale has no fresh life left, whatever its age: it was outdated. */
export function lifeLeftMs(entry: Entry, outcome: AnswerOutcome, clock: Clock): number {
  const left = remainingMs(entry, clock.monotonicMs());
  return outcome === 'stale' ? Math.min(left, -1) : left;
}

type Forward = Extract<TierStep, { kind: 'forward' }>;

export const HIT: TierStep = { kind: 'hit' };

/** What a tier did that had no servable entry: it forwarded. */
export function forwarded(lookup: Lookup, extra: Partial<Forward> = {}): TierStep {
  return { kind: 'forward', why: whyForwarded(lookup), ...extra };
}

/** RFC 9211 §2.2: `stale` when the tier had an entry that could not be used as it was, `uri-miss` when it had none. */
function whyForwarded(lookup: Lookup): Forward['why'] {
  if (lookup.kind === 'found') return 'stale';
  switch (lookup.reason) {
    case 'bypass':
      return 'bypass';
    case 'lapsed':
    case 'flushed':
    case 'suppressed':
      return 'stale';
    default:
      return 'uri-miss';
  }
}

/**
 * Why both tiers missed: the first of MISS_REASONS that holds. L2 knows most; where it only says "unseen" (or there is
 * none), L1 may still remember the key.
 */
export function missReason(held: Lookup, found: Lookup | undefined, wasNotStorable: boolean): MissReason {
  const l2 = found === undefined ? 'unseen' : reasonIn(found);
  const known = l2 === 'unseen' ? reasonIn(held) : l2;
  return known === 'unseen' && wasNotStorable ? 'not-storable' : known;
}

/** An entry that may only be served when the engine fails has lapsed for everybody else. */
function reasonIn(lookup: Lookup): MissReason {
  return lookup.kind === 'missed' ? lookup.reason : 'lapsed';
}

/** Runs tasks in order, at most `maxAtOnce` at a time; each ends for itself, and one that fails stops no other. */
export async function inTurns<T>(
  tasks: readonly (() => Promise<T>)[],
  maxAtOnce: number,
): Promise<readonly PromiseSettledResult<T>[]> {
  const results: PromiseSettledResult<T>[] = [];
  const queue = tasks.entries();
  const worker = async (): Promise<void> => {
    for (const [i, task] of queue) {
      try {
        results[i] = { status: 'fulfilled', value: await task() };
      } catch (reason) {
        results[i] = { status: 'rejected', reason };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxAtOnce, tasks.length) }, worker));
  return results;
}
