import type { Callback } from '../cache/singleflight.ts';
import type { Lookup, Tiers } from '../cache/tiers.ts';
import type { Clock } from '../runtime.ts';
import type { Answer, Lookups, TierAnswers } from './answer.ts';
import type { PreparedSearch } from './key.ts';
import type { MissPath, SearchClient } from './miss-path.ts';
import { factsOfLookup, faultOf, type Span } from './trace.ts';

/**
 * The searches of one domain: L1, then L2, then the miss path. A fresh or servable stale entry ends the search at its tier.
 * Every search ends in one Answer or one error.
 */
export interface ReadPath {
  /** A fresh L1 entry, synchronously, or undefined. */
  readonly fromMemory: (prepared: PreparedSearch, span?: Span) => Answer | undefined;
  /** @throws SearchError */
  readonly search: (prepared: PreparedSearch, client?: SearchClient) => Promise<Answer>;
  /** As `search`, without a promise unless the search misses: see Search.searchLater. */
  readonly searchLater: (prepared: PreparedSearch, client: SearchClient | undefined, done: Callback<Answer>) => void;
  /** Asks the engine whatever the tiers hold, and overwrites both. @throws SearchError */
  readonly bypass: (prepared: PreparedSearch, client?: SearchClient) => Promise<Answer>;
  /** The results in order; each search fails alone. */
  readonly searchMany: (
    prepared: readonly PreparedSearch[],
    client?: SearchClient,
  ) => Promise<readonly PromiseSettledResult<Answer>[]>;
}

interface ReadPathOptions {
  readonly tiers: Tiers;
  readonly tierAnswers: TierAnswers;
  readonly missPath: Pick<MissPath, 'answer' | 'bypass'>;
  /** The store node of a name, for spans; undefined where there is no store. */
  readonly nodeOf: (storeName: string) => string | undefined;
  /** Called for every search before it is answered: it measures the popularity of queries. */
  readonly note: (key: string, prepared: PreparedSearch) => void;
  /**
   * Maximum number of searches of one batch that are on the miss path at once: the number of permits, so that a batch
   * does not overload an idle engine.
   */
  readonly batchConcurrency: () => number;
  /** The maximum time a client waits in all. */
  readonly patienceMs: number;
  readonly clock: Clock;
}

export function createReadPath(options: ReadPathOptions): ReadPath {
  const { tiers, tierAnswers, missPath, nodeOf, note, patienceMs, clock } = options;

  /**
   * The client's deadline, derived here and nowhere else. It includes the L2 read and the time that a search of a batch
   * waits for its turn.
   */
  const deadlineOf = (startedMs: number): number => startedMs + patienceMs;

  /** One L2 read for each distinct key that L1 could not answer. */
  const readL2 = async (
    wanted: readonly PreparedSearch[],
    span: Span | undefined,
  ): Promise<ReadonlyMap<string, Lookup>> => {
    const distinct = [...new Map(wanted.map((prepared) => [prepared.key, prepared])).values()];
    const own = distinct.length > 0 ? span?.begin('l2') : undefined;
    const lookups = distinct.length > 0 ? await tiers.fromStoreMany(distinct) : [];
    own?.end({ 'serpcache.keys': distinct.length, 'serpcache.found': lookups.filter(isFound).length });
    return new Map(distinct.map(({ key }, i) => [key, lookups[i] ?? UNSEEN]));
  };

  const lookInMemory = (prepared: PreparedSearch, span: Span | undefined): Lookup => {
    const own = span?.begin('l1');
    const lookup = tiers.fromMemory(prepared);
    own?.end(factsOfLookup(lookup));
    return lookup;
  };

  const searchLater: ReadPath['searchLater'] = (prepared, client, done) => {
    const span = client?.span;
    let l1: Lookup;
    let near: Answer | undefined;
    try {
      note(prepared.key, prepared);
      l1 = lookInMemory(prepared, span);
      near = tierAnswers.fromL1(prepared, l1);
    } catch (error) {
      done(error);
      return;
    }
    if (near !== undefined) {
      done(undefined, near);
      return;
    }
    const startedMs = clock.monotonicMs();
    const miss = (lookups: Lookups): void => {
      const missing = { deadlineAtMs: deadlineOf(startedMs), mayMiss: client?.mayMiss, span };
      missPath.answer(prepared, lookups, missing).then((answer) => done(undefined, answer), done);
    };
    if (!tiers.hasStore) {
      miss({ l1 });
      return;
    }
    const own = span?.begin('l2');
    tiers.fromStoreTo(prepared, (failure, l2) => {
      own?.end(l2 && factsOfLookup(l2, nodeOf(prepared.storeName)), l2 === undefined ? faultOf(failure) : undefined);
      if (l2 === undefined) {
        done(failure);
        return;
      }
      const lookups = { l1, l2, l2Ms: clock.monotonicMs() - startedMs };
      let found: Answer | undefined;
      try {
        found = tierAnswers.fromL2(prepared, lookups);
      } catch (error) {
        done(error);
        return;
      }
      if (found === undefined) miss(lookups);
      else done(undefined, found);
    });
  };

  return {
    fromMemory: (prepared, span) => {
      // Without a hit the span is not ended, and so not shown: `searchLater` looks again and has a span for it.
      const own = span?.begin('l1');
      const l1 = tiers.fromMemory(prepared);
      if (l1.kind !== 'found' || l1.freshness !== 'fresh') return undefined;
      own?.end(factsOfLookup(l1));
      note(prepared.key, prepared);
      return tierAnswers.fromL1(prepared, l1);
    },

    search: (prepared, client) =>
      new Promise((resolve, reject) =>
        searchLater(prepared, client, (error, answer) => (answer === undefined ? reject(error) : resolve(answer))),
      ),
    searchLater,

    bypass: async (prepared, client) => {
      const lookups = tiers.hasStore ? { l1: BYPASSED, l2: BYPASSED } : { l1: BYPASSED };
      return missPath.bypass(prepared, lookups, {
        deadlineAtMs: deadlineOf(clock.monotonicMs()),
        span: client?.span,
      });
    },

    searchMany: async (many, client) => {
      for (const prepared of many) note(prepared.key, prepared);
      const found = many.map((prepared) => {
        const l1 = lookInMemory(prepared, client?.span);
        return { prepared, l1, answer: tierAnswers.fromL1(prepared, l1) };
      });
      const startedMs = clock.monotonicMs();
      const missing = { deadlineAtMs: deadlineOf(startedMs), mayMiss: client?.mayMiss, span: client?.span };
      const wanted = found.flatMap(({ prepared, answer }) => (answer === undefined ? [prepared] : []));
      const l2Of = tiers.hasStore ? await readL2(wanted, client?.span) : undefined;
      const l2Ms = clock.monotonicMs() - startedMs;
      const items = found.map(({ prepared, l1, answer }): BatchItem => {
        const lookups = l2Of === undefined ? { l1 } : { l1, l2: l2Of.get(prepared.key) ?? UNSEEN, l2Ms };
        return { prepared, lookups, ready: answer ?? tierAnswers.fromL2(prepared, lookups) };
      });

      // The cached pages of the batch do not wait for the pages that must be computed, and are not refused because of them.
      const settled = await runConcurrently(
        items.map(
          ({ prepared, lookups, ready }) =>
            async () =>
              ready ?? missPath.answer(prepared, lookups, missing),
        ),
        options.batchConcurrency(),
      );

      // A cached page is sent together with the last computed one: it may have been flushed or suppressed meanwhile.
      const invalidated = items.filter(
        ({ prepared, ready }) => ready !== undefined && tiers.validate(ready.entry, prepared).kind === 'missed',
      );
      if (invalidated.length === 0) return settled;
      const recomputed = await runConcurrently(
        invalidated.map(
          ({ prepared }) =>
            () =>
              missPath.answer(prepared, { l1: UNSEEN }, missing),
        ),
        options.batchConcurrency(),
      );
      const replacements = new Map(invalidated.map((item, i) => [item, recomputed[i]]));
      return items.flatMap((item, i) => replacements.get(item) ?? settled[i] ?? []);
    },
  };
}

interface BatchItem {
  readonly prepared: PreparedSearch;
  readonly lookups: Lookups;
  /** The answer of a tier. */
  readonly ready: Answer | undefined;
}

function isFound({ kind }: Lookup): boolean {
  return kind === 'found';
}

const UNSEEN: Lookup = { kind: 'missed', reason: 'unseen' };
const BYPASSED: Lookup = { kind: 'missed', reason: 'bypass' };

/** Runs tasks in order, at most `maxAtOnce` at a time; a task that fails stops no other. */
export async function runConcurrently<T>(
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
