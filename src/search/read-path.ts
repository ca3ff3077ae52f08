import type { Lookup, Tiers } from '../cache/tiers.ts';
import { SearchError } from '../resilience/search-error.ts';
import type { Clock, Done } from '../runtime.ts';
import type { Answer, Lookups, TierAnswers } from './answer.ts';
import type { PreparedSearch } from './key.ts';
import type { MissPath, SearchClient } from './miss-path.ts';
import { factsOfLookup, faultOf, type Span } from './trace.ts';

/** Maximum number of searches in one batch. */
export const MAX_BATCH = 50;

/** The searches of one domain. Every search ends in one Answer or one error, a SearchError unless it is a bug. */
export interface ReadPath {
  /**
   * L1 → admission → L2 → the miss path; a fresh or servable stale entry ends the search at its tier. `done` is called once
   * and must not throw: for an entry of L1 before this returns, at the latest within the domain's patience plus the
   * lifeboat's deadline where there is one.
   */
  readonly search: (prepared: PreparedSearch, client: SearchClient, done: Done<Answer>) => void;
  /** Results in order; each search fails alone. L2 is read in per-node pipelines; misses share the loads of single searches. */
  readonly searchMany: (
    prepared: readonly PreparedSearch[],
    client: SearchClient,
  ) => Promise<readonly (Answer | Error)[]>;
}

interface ReadPathOptions {
  readonly tiers: Tiers;
  readonly tierAnswers: TierAnswers;
  readonly missPath: Pick<MissPath, 'answer'>;
  /** The store node of a name, for spans; undefined where there is no store. */
  readonly nodeOf: (storeName: string) => string | undefined;
  /** Called for every search that is not refused at once: it measures the popularity of queries. */
  readonly note: (key: string, prepared: PreparedSearch) => void;
  /**
   * Maximum number of searches of one batch that are on the miss path at once: the number of permits, so that a batch
   * does not overload an idle engine.
   */
  readonly batchConcurrency: () => number;
  /** The maximum time a client waits in all, from the L1 lookup on. */
  readonly patienceMs: number;
  readonly clock: Clock;
}

/** One error for all: its stack trace says nothing, and would cost more than the rest of a refusal. */
const BUSY = new SearchError('busy');

export function createReadPath(options: ReadPathOptions): ReadPath {
  const { tiers, tierAnswers, missPath, nodeOf, note, patienceMs, clock } = options;

  const lookInMemory = (prepared: PreparedSearch, { span, bypass }: SearchClient): Lookup => {
    if (bypass === true) return BYPASSED;
    const own = span?.begin('l1');
    const lookup = tiers.fromMemory(prepared);
    own?.end(factsOfLookup(lookup));
    return lookup;
  };

  /** The answer of L1, the refusal, or undefined: the search goes on. */
  const answerNear = (prepared: PreparedSearch, l1: Lookup, client: SearchClient): Answer | Error | undefined => {
    const near = tierAnswers.fromL1(prepared, l1);
    if (near === undefined && client.admit?.(prepared) === false) return BUSY;
    if (client.bypass !== true) note(prepared.key, prepared);
    return near;
  };

  const searchFar = (prepared: PreparedSearch, l1: Lookup, client: SearchClient, done: Done<Answer>): void => {
    const startedMs = clock.monotonicMs();
    const miss = (lookups: Lookups): void =>
      void missPath
        .answer(prepared, lookups, client, startedMs + patienceMs)
        .then((answer) => done(undefined, answer), done);
    if (!tiers.hasStore || client.bypass === true) {
      miss(tiers.hasStore ? { l1, l2: BYPASSED } : { l1 });
      return;
    }
    const own = client.span?.begin('l2');
    tiers.fromStore(prepared, (failure, l2) => {
      own?.end(l2 && factsOfLookup(l2, nodeOf(prepared.storeName)), l2 === undefined ? faultOf(failure) : undefined);
      if (l2 === undefined) {
        done(failure);
        return;
      }
      const lookups = { l1, l2, l2Ms: clock.monotonicMs() - startedMs };
      const found = tierAnswers.fromL2(prepared, lookups);
      if (found === undefined) miss(lookups);
      else done(undefined, found);
    });
  };

  /** One L2 read for each distinct key that L1 could not answer. */
  const readL2 = async (
    wanted: readonly PreparedSearch[],
    span: Span | undefined,
  ): Promise<ReadonlyMap<string, Lookup>> => {
    const distinct = [...new Map(wanted.map((prepared) => [prepared.key, prepared])).values()];
    const own = span?.begin('l2');
    const lookups = await tiers.fromStoreMany(distinct);
    own?.end({ 'serpcache.keys': distinct.length, 'serpcache.found': lookups.filter(isFound).length });
    return new Map(distinct.map(({ key }, i) => [key, lookups[i] ?? UNSEEN]));
  };

  return {
    search: (prepared, client, done) => {
      try {
        const l1 = lookInMemory(prepared, client);
        const near = answerNear(prepared, l1, client);
        if (near === undefined) {
          searchFar(prepared, l1, client, (error, answer) => {
            client.settle?.(prepared, answer ?? error);
            done(error, answer);
          });
        } else if (near instanceof Error) done(near);
        else done(undefined, near);
      } catch (error) {
        done(error);
      }
    },

    searchMany: async (many, client) => {
      const startedMs = clock.monotonicMs();
      const found = many.map((prepared) => {
        const l1 = lookInMemory(prepared, client);
        return { prepared, l1, near: answerNear(prepared, l1, client) };
      });
      const wanted = found.flatMap(({ prepared, near }) => (near === undefined ? [prepared] : []));
      const l2Of = tiers.hasStore && wanted.length > 0 ? await readL2(wanted, client.span) : undefined;
      const l2Ms = clock.monotonicMs() - startedMs;
      const deadlineAtMs = startedMs + patienceMs;

      // The cached pages of the batch do not wait for the pages that must be computed, and are not refused because of them.
      const tasks = found.map(({ prepared, l1, near }) => {
        if (near !== undefined) return () => near;
        const lookups = l2Of === undefined ? { l1 } : { l1, l2: l2Of.get(prepared.key) ?? UNSEEN, l2Ms };
        const stored = tierAnswers.fromL2(prepared, lookups);
        return async () => {
          const result = await (stored ?? missPath.answer(prepared, lookups, client, deadlineAtMs).catch(errorOf));
          client.settle?.(prepared, result);
          return result;
        };
      });
      return runConcurrently(tasks, options.batchConcurrency());
    },
  };
}

function isFound({ kind }: Lookup): boolean {
  return kind === 'found';
}

function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

const UNSEEN: Lookup = { kind: 'missed', reason: 'unseen' };
const BYPASSED: Lookup = { kind: 'missed', reason: 'bypass' };

/** Runs tasks in order, at most `maxAtOnce` at a time. @returns their results in order @throws what a task throws */
export async function runConcurrently<T>(
  tasks: readonly (() => T | Promise<T>)[],
  maxAtOnce: number,
): Promise<readonly T[]> {
  const results: T[] = [];
  const queue = tasks.entries();
  const worker = async (): Promise<void> => {
    for (const [i, task] of queue) results[i] = await task();
  };
  await Promise.all(Array.from({ length: Math.min(maxAtOnce, tasks.length) }, worker));
  return results;
}
