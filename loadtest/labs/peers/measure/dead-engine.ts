import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../../http-driver/client.ts';
import { type HttpDriven, outcomeText, servedShare } from '../../../http-driver/plan.ts';
import type { Lab } from '../../kit/lab.ts';
import { fillPages } from './fill.ts';
import { httpDriven } from './http-driven.ts';
import type { Replicas } from './replicas.ts';
import type { Room } from './room.ts';

export interface DeadEnginePlan {
  readonly ttlSeconds: number;
  /** Known when the engine dies. */
  readonly paths: readonly string[];
  /** Asked for the first time while it is dead. */
  readonly unseen: readonly string[];
  /** Of pages that are expired, how long they are asked for, at `perSecond`. */
  readonly seconds: number;
  readonly perSecond: number;
}

export interface DeadEngineFigures {
  /** Of cached pages, answered with 200 while still fresh: 0–1. Undefined: this machine was too slow to ask in time. */
  readonly freshShare: number | undefined;
  /** The same after their time. */
  readonly expiredShare: number;
  /** Of those. Undefined: none was. */
  readonly expiredP99Ms: number | undefined;
  /** What a page gets that nobody asked before: `503`, `502 and hung`. */
  readonly unseenOutcome: string;
  /** How long that takes, of all that end. Undefined: none does. */
  readonly unseenP50Ms: number | undefined;
  /** From the engine's revival to the first answer that is from the engine. Undefined: not within 20 s. */
  readonly recoveredSeconds: number | undefined;
}

const PATIENCE_MS = 5000;
const CONNECTIONS = 8;
/** A page's time is spread by up to a fifth, in some peers: before and after that nobody knows which pages are fresh. */
const SPREAD = 0.2;
const RECOVERY_MS = 20_000;
const LOOK_EVERY_MS = 50;
const WATCHED = 5;

/** How old a page is at most that is surely fresh, and at least that is surely expired. */
export function agesOf(ttlSeconds: number): { readonly freshMs: number; readonly expiredMs: number } {
  return { freshMs: ttlSeconds * (1 - SPREAD) * 1000, expiredMs: ttlSeconds * (1 + SPREAD) * 1000 };
}

/** The engine dies under pages that are fresh, stays dead past their time, and comes back. */
export async function deadEngine(
  lab: Lab,
  room: Room,
  { urls }: Pick<Replicas, 'urls'>,
  plan: DeadEnginePlan,
): Promise<DeadEngineFigures> {
  const { paths, unseen } = plan;
  const { freshMs, expiredMs } = agesOf(plan.ttlSeconds);
  const askEach = (some: readonly string[], connections: number): Promise<HttpDriven> =>
    httpDriven(lab, { replicas: urls, paths: some, pace: { kind: 'once', connections }, patienceMs: PATIENCE_MS });

  const startedMs = performance.now();
  await fillPages(lab, urls, paths);
  const filledMs = performance.now();
  await room.die();
  let isDead = true;
  try {
    const fresh = await askEach(paths, CONNECTIONS);
    const isInTime = performance.now() - startedMs < freshMs;
    await sleep(Math.max(0, filledMs + expiredMs - performance.now()));
    const pace = { kind: 'rate', perSecond: plan.perSecond, seconds: plan.seconds } as const;
    const expired = await httpDriven(lab, { replicas: urls, paths, pace, patienceMs: PATIENCE_MS });
    const never = await askEach(unseen, unseen.length);
    await room.revive();
    isDead = false;
    const recoveredSeconds = await recovery(room, urls[0] ?? '', paths.slice(0, WATCHED));
    return { ...answersOf({ fresh: isInTime ? fresh : undefined, expired, unseen: never }), recoveredSeconds };
  } finally {
    if (isDead) await room.revive();
  }
}

export interface DeadEngineAnswers {
  /** Undefined: not in time. */
  readonly fresh: HttpDriven | undefined;
  readonly expired: HttpDriven;
  readonly unseen: HttpDriven;
}

/** What was answered while the engine was dead. */
export function answersOf({ fresh, expired, unseen }: DeadEngineAnswers): Omit<DeadEngineFigures, 'recoveredSeconds'> {
  return {
    freshShare: fresh && servedShare(fresh),
    expiredShare: servedShare(expired),
    expiredP99Ms: expired.servedMs?.p99,
    unseenOutcome: outcomeText(unseen),
    unseenP50Ms: (unseen.failedMs ?? unseen.servedMs)?.p50,
  };
}

/**
 * Page after page is asked, and again when that had a search reach the engine: a first answer may still be the old one,
 * with a refresh behind it. @returns seconds, to a twentieth
 */
async function recovery(room: Room, url: string, paths: readonly string[]): Promise<number | undefined> {
  const client = createClient({ baseUrl: url, patienceMs: PATIENCE_MS, maxConnections: 1, discardsBodies: true });
  const startedMs = performance.now();
  let isRefreshed = false;
  for (let at = 0; performance.now() - startedMs < RECOVERY_MS; at += isRefreshed ? 0 : 1) {
    const searches = room.searches();
    const reply = await client.getOnce(paths[at % paths.length] ?? '/');
    if (isRefreshed && reply.kind === 'answer' && reply.status === 200) {
      client.close();
      return (performance.now() - startedMs) / 1000;
    }
    await sleep(LOOK_EVERY_MS);
    isRefreshed = room.searches() > searches;
  }
  client.close();
  return undefined;
}
