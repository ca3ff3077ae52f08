import type { IncomingMessage } from 'node:http';
import type { Answer, PreparedSearch } from '../search/answer.ts';
import { Unanswered } from '../search/failure.ts';
import type { Search } from '../search/search.ts';
import type { MissBudget } from './miss-budget.ts';
import type { Pressure } from './pressure.ts';
import { type Problem, Refusal } from './problem.ts';

/** What stands between a request that memory cannot answer and the core: room for it, and its client's budget. */
export interface Door {
  /** @throws Refusal `busy`, and what `Search.search` throws. */
  readonly search: (asked: AskedSearch) => Promise<Answer>;
  /**
   * To be asked before a page is drawn, from memory too: a page costs several times as much as a hit of `/search`, so while
   * the event loop is late it is shed. With every place taken and the loop in time, pages in memory are drawn.
   * @throws Refusal `busy`.
   */
  readonly admitPage: () => void;
  /** Answers in order, from memory first; each other search takes its own place, and one that gets none costs the others nothing. */
  readonly searchMany: (
    many: readonly PreparedSearch[],
    request: IncomingMessage,
  ) => Promise<readonly (Answer | Error)[]>;
}

export interface AskedSearch {
  readonly prepared: PreparedSearch;
  readonly request: IncomingMessage;
  readonly bypass?: boolean;
}

export interface DoorOptions {
  readonly search: Search;
  /** Absent: nothing is shed here. */
  readonly pressure?: Pressure;
  /** Absent: clients may miss as they like. */
  readonly budget?: { readonly misses: MissBudget; readonly clientOf: (request: IncomingMessage) => string };
}

export function createDoor({ search, pressure, budget }: DoorOptions): Door {
  // One for all: where it was thrown says nothing, and to find out costs more than the rest of a refusal.
  const busy = new Refusal(BUSY);
  const enter = (): boolean => pressure === undefined || pressure.enter();

  const askMany = async (
    inside: readonly PreparedSearch[],
    request: IncomingMessage,
  ): Promise<readonly (Answer | Error)[]> => {
    if (inside.length === 0) return [];
    const tab = budget === undefined ? undefined : openTab(budget, request);
    try {
      const results = await search.searchMany(inside, tab === undefined ? undefined : { mayMiss: tab.mayMiss });
      inside.forEach((prepared, i) => {
        tab?.settle(prepared, results[i]);
      });
      return results;
    } finally {
      for (const _ of inside) pressure?.leave();
    }
  };

  return {
    search: async ({ prepared, request, bypass }) => {
      if (!enter()) throw busy;
      const tab = budget === undefined ? undefined : openTab(budget, request);
      try {
        const answer = await search.search(prepared, {
          ...(bypass ? { bypass } : {}),
          ...(tab === undefined ? {} : { mayMiss: tab.mayMiss }),
        });
        tab?.settle(prepared, answer);
        return answer;
      } catch (error) {
        tab?.settle(prepared, error);
        throw error;
      } finally {
        pressure?.leave();
      }
    },
    admitPage: () => {
      if (pressure?.isLate() === true) throw busy;
    },
    searchMany: async (many, request) => {
      const near = many.map((prepared) => search.fromMemory(prepared));
      const admitted = near.map((answer) => answer === undefined && enter());
      const inside = many.filter((_, i) => admitted[i]);
      const answered = (await askMany(inside, request)).values();
      return near.map((answer, i): Answer | Error => {
        if (answer !== undefined) return answer;
        if (!admitted[i]) return busy;
        return answered.next().value ?? new Error('searchMany gave fewer answers than it was asked for');
      });
    },
  };
}

/**
 * What one request spends. The client is named at once: a connection that is gone by the time of a miss has no address.
 * A miss that the guard turned away, or that was answered without the engine, is given back. Otherwise an engine's bad minute would be followed by one in which its
 * clients are refused for what they never got.
 */
function openTab({ misses, clientOf }: NonNullable<DoorOptions['budget']>, request: IncomingMessage) {
  const client = clientOf(request);
  const spent = new Set<PreparedSearch>();
  return {
    mayMiss: (prepared: PreparedSearch): boolean => {
      const allowed = misses.mayMiss(client);
      if (allowed) spent.add(prepared);
      return allowed;
    },
    settle: (prepared: PreparedSearch, result: unknown): void => {
      if (spent.has(prepared) && gotNothing(result)) misses.refund(client, 1);
    },
  };
}

/** The engine turned it away; or something else was served in the engine's stead. */
function gotNothing(result: unknown): boolean {
  if (result instanceof Unanswered) return result.code === 'overloaded' || result.code === 'engine-open';
  const outcome = typeof result === 'object' && result !== null && 'outcome' in result ? result.outcome : undefined;
  return outcome === 'lifeboat' || outcome === 'stale';
}

const BUSY: Problem = {
  code: 'busy',
  detail: 'This process has more to do than it can; for now only pages in its memory are served.',
  retryAfterMs: 1000,
};
