import { setTimeout as sleep } from 'node:timers/promises';
import { type HttpDriven, outcomeText, servedShare } from '../../../http-driver/plan.ts';
import type { Lab } from '../../kit/lab.ts';
import { fillPages } from './fill.ts';
import { httpDriven } from './http-driven.ts';
import type { Replicas } from './replicas.ts';
import type { Room } from './room.ts';

export interface StampedePlan {
  readonly engineDelayMs: number;
  /** Everybody asks for this one. */
  readonly hot: { readonly path: string; readonly requests: number };
  /** Many pages at one moment, each so often. */
  readonly many: { readonly paths: readonly string[]; readonly requestsEach: number };
}

export interface StampedeFigures {
  readonly hot: Stampeded;
  readonly many: Stampeded;
}

export interface Stampeded {
  /**
   * Engine queries for each distinct page that anybody got: 1 is as few as can be. Who refuses everybody asks for little, and
   * must not look thrifty. Undefined: no page was answered.
   */
  readonly queriesPerKey: number | undefined;
  /** Of answers with status 200: a refusal is quick. */
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  /** Answers that were not 200, and no answers: 0–1. */
  readonly failedShare: number;
  /** `200, 18 of 60 500`; `200` where nothing failed. */
  readonly outcome: string;
  /** How often a replica refused to forget its pages before it did. */
  readonly purgeRefusals: number;
}

/** A client that gives up earlier would hide what a stampede costs. */
const PATIENCE_MS = 30_000;
/** A thousand connections at once and more overflow the backlog of a listener (511 for each replica). */
const MOST_AT_ONCE = 1000;
/** What a server asks of its engine after it has answered belongs to the stampede too, and must not end up in the next. */
const QUIET_MS = 300;
const MOST_QUIET_MS = 20_000;

/** Pages are there, all replicas forget them, and everybody asks at once while the engine is slow. */
export async function stampede(
  lab: Lab,
  room: Room,
  replicas: Pick<Replicas, 'urls' | 'purge'>,
  plan: StampedePlan,
): Promise<StampedeFigures> {
  const once = async (paths: readonly string[], times: number): Promise<Stampeded> => {
    await fillPages(lab, replicas.urls, paths);
    const purgeRefusals = await replicas.purge();
    room.delay(plan.engineDelayMs);
    try {
      const pathsAtOnce = Math.max(1, Math.min(paths.length, Math.floor(MOST_AT_ONCE / times)));
      const pace = { kind: 'burst', times, pathsAtOnce } as const;
      const { result, searches } = await searchesOf(
        room,
        () => httpDriven(lab, { replicas: replicas.urls, paths, pace, patienceMs: PATIENCE_MS }),
        () => sleep(plan.engineDelayMs + QUIET_MS),
      );
      return stampededOf(result, { searches, purgeRefusals });
    } finally {
      room.delay(0);
    }
  };
  return {
    hot: await once([plan.hot.path], plan.hot.requests),
    many: await once(plan.many.paths, plan.many.requestsEach),
  };
}

export function stampededOf(
  burst: HttpDriven,
  { searches, purgeRefusals }: { readonly searches: number; readonly purgeRefusals: number },
): Stampeded {
  return {
    queriesPerKey: burst.pathsServed === 0 ? undefined : searches / burst.pathsServed,
    p50Ms: burst.servedMs?.p50,
    p99Ms: burst.servedMs?.p99,
    failedShare: 1 - servedShare(burst),
    outcome: outcomeText(burst),
    purgeRefusals,
  };
}

/** Those that reach the engine while `work` goes on, and after it until none came for a whole `pause`. */
export async function searchesOf<T>(
  room: Pick<Room, 'searches'>,
  work: () => Promise<T>,
  pause: () => Promise<unknown>,
): Promise<{ readonly result: T; readonly searches: number }> {
  const before = room.searches();
  const result = await work();
  const untilMs = performance.now() + MOST_QUIET_MS;
  for (let seen = -1; seen !== room.searches() && performance.now() < untilMs; ) {
    seen = room.searches();
    await pause();
  }
  return { result, searches: room.searches() - before };
}
