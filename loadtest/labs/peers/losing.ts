import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../http-driver/client.ts';
import { type HttpDriven, outcomeText, servedShare } from '../../http-driver/plan.ts';
import type { Lab } from '../kit/lab.ts';
import { httpDriven } from './driven.ts';
import { type Backend, LONG, type Peer, SHORT, type Sizes, type Try } from './peer.ts';
import { fillPages, type Replicas, startReplicas } from './replicas.ts';

interface LosingOptions {
  readonly lab: Lab;
  /** Two backends, with long and with short page lifetimes. */
  readonly backends: { readonly long: Backend; readonly short: Backend };
  readonly paths: readonly string[];
  readonly sizes: Sizes;
  readonly seconds: number;
  readonly attempt: Try;
}

/** One peer after the other, each alone: a stampede lasts a second, so peers cannot take turns. */
export async function measureLosing(options: LosingOptions, peer: Peer) {
  const { lab, sizes, attempt } = options;
  lab.say(`stampede: ${peer.name}, ${sizes.replicas} replicas`);
  const stampeded = await attempt(peer, 'the stampede was not measured', () => stampedeOf(options, peer));
  lab.say(`dead engine: ${peer.name}`);
  const dead = await attempt(peer, 'the dead engine was not measured', () => deadEngineOf(options, peer));
  return { stampede: stampeded, dead };
}

async function stampedeOf({ lab, backends, paths, sizes }: LosingOptions, peer: Peer): Promise<StampedeFigures> {
  const [path = '', ...others] = paths;
  const plan = {
    engineDelayMs: sizes.engineDelayMs,
    hot: { path, requests: sizes.hotRequests },
    many: { paths: others.slice(0, sizes.manyKeys), requestsEach: sizes.requestsEach },
  };
  await using replicas = await startReplicas(lab, backends.long, peer, { count: sizes.replicas, ...LONG });
  return await stampede(lab, backends.long, replicas, plan);
}

async function deadEngineOf(
  { lab, backends, paths, sizes, seconds }: LosingOptions,
  peer: Peer,
): Promise<DeadEngineFigures> {
  const plan = {
    ttlSeconds: SHORT.ttlSeconds,
    paths: paths.slice(0, sizes.knownPages),
    unseen: paths.slice(sizes.knownPages, sizes.knownPages + sizes.unseenPages),
    perSecond: sizes.deadPerSecond,
    seconds,
  };
  await using replicas = await startReplicas(lab, backends.short, peer, { count: 1, ...SHORT });
  return await deadEngine(lab, backends.short, replicas, plan);
}

interface StampedePlan {
  readonly engineDelayMs: number;
  /** The one page that all requests ask for. */
  readonly hot: { readonly path: string; readonly requests: number };
  /** Many pages at the same moment, each `requestsEach` times. */
  readonly many: { readonly paths: readonly string[]; readonly requestsEach: number };
}

export type StampedeFigures = Awaited<ReturnType<typeof stampede>>;
export type Stampeded = ReturnType<typeof stampededOf>;

/** A client that gives up earlier would hide what a stampede costs. */
const PATIENCE_MS = 30_000;
/** A thousand connections at once and more overflow the backlog of a listener (511 for each replica). */
const MOST_AT_ONCE = 1000;
/** Queries after the last answer belong to this stampede, not to the next. */
const QUIET_MS = 300;
const MOST_QUIET_MS = 20_000;

/** All replicas purge their cached pages, then all requests come at once while the engine is slow. */
export async function stampede(
  lab: Lab,
  backend: Backend,
  replicas: Pick<Replicas, 'urls' | 'purge'>,
  plan: StampedePlan,
) {
  const once = async (paths: readonly string[], times: number): Promise<Stampeded> => {
    await fillPages(lab, replicas.urls, paths);
    const purgeRefusals = await replicas.purge();
    backend.delay(plan.engineDelayMs);
    try {
      const pathsAtOnce = Math.max(1, Math.min(paths.length, Math.floor(MOST_AT_ONCE / times)));
      const pace = { kind: 'burst', times, pathsAtOnce } as const;
      const { result, searches } = await searchesOf(
        backend,
        () => httpDriven(lab, { replicas: replicas.urls, paths, pace, patienceMs: PATIENCE_MS }),
        () => sleep(plan.engineDelayMs + QUIET_MS),
      );
      return stampededOf(result, { searches, purgeRefusals });
    } finally {
      backend.delay(0);
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
) {
  return {
    /**
     * Engine queries ÷ distinct pages that were answered; 1 is the minimum. Divided by answered pages, because a peer that
     * refuses everybody asks for little. Undefined: no page was answered.
     */
    queriesPerKey: burst.pathsServed === 0 ? undefined : searches / burst.pathsServed,
    /** Times of the answers with status 200, because a refusal is fast. */
    p50Ms: burst.servedMs?.p50,
    p99Ms: burst.servedMs?.p99,
    /** Share of other answers and of missing answers: 0–1. */
    failedShare: 1 - servedShare(burst),
    /** `200, 18 of 60 500`; `200` where nothing failed. */
    outcome: outcomeText(burst),
    /** Number of refused purges before the one that succeeded. */
    purgeRefusals,
  };
}

/** Searches at the engine during `work`, and after it until none came for a whole `pause`. */
export async function searchesOf<T>(
  backend: Pick<Backend, 'searches'>,
  work: () => Promise<T>,
  pause: () => Promise<unknown>,
): Promise<{ readonly result: T; readonly searches: number }> {
  const before = backend.searches();
  const result = await work();
  const untilMs = performance.now() + MOST_QUIET_MS;
  for (let seen = -1; seen !== backend.searches() && performance.now() < untilMs; ) {
    seen = backend.searches();
    await pause();
  }
  return { result, searches: backend.searches() - before };
}

interface DeadEnginePlan {
  readonly ttlSeconds: number;
  /** Cached when the engine dies. */
  readonly paths: readonly string[];
  /** Requested for the first time while it is dead. */
  readonly unseen: readonly string[];
  /** Duration of the requests for expired pages, at `perSecond`. */
  readonly seconds: number;
  readonly perSecond: number;
}

export type DeadEngineFigures = Awaited<ReturnType<typeof deadEngine>>;

const DEAD_PATIENCE_MS = 5000;
const CONNECTIONS = 8;
/** Some peers spread lifetimes by up to a fifth; in that interval a page may be fresh or expired. */
const SPREAD = 0.2;
const RECOVERY_MS = 20_000;
const LOOK_EVERY_MS = 50;
const WATCHED = 5;

/** Maximum age of a page that is certainly fresh, and minimum age of one that is certainly expired. */
export function agesOf(ttlSeconds: number): { readonly freshMs: number; readonly expiredMs: number } {
  return { freshMs: ttlSeconds * (1 - SPREAD) * 1000, expiredMs: ttlSeconds * (1 + SPREAD) * 1000 };
}

/** The engine dies under pages that are fresh, stays dead past their time, and comes back. */
export async function deadEngine(lab: Lab, backend: Backend, { urls }: Pick<Replicas, 'urls'>, plan: DeadEnginePlan) {
  const { paths, unseen } = plan;
  const { freshMs, expiredMs } = agesOf(plan.ttlSeconds);
  const askEach = (some: readonly string[], connections: number): Promise<HttpDriven> =>
    httpDriven(lab, { replicas: urls, paths: some, pace: { kind: 'once', connections }, patienceMs: DEAD_PATIENCE_MS });

  const startedMs = performance.now();
  await fillPages(lab, urls, paths);
  const filledMs = performance.now();
  await backend.die();
  let isDead = true;
  try {
    const fresh = await askEach(paths, CONNECTIONS);
    const isInTime = performance.now() - startedMs < freshMs;
    await sleep(Math.max(0, filledMs + expiredMs - performance.now()));
    const pace = { kind: 'rate', perSecond: plan.perSecond, seconds: plan.seconds } as const;
    const expired = await httpDriven(lab, { replicas: urls, paths, pace, patienceMs: DEAD_PATIENCE_MS });
    const never = await askEach(unseen, unseen.length);
    await backend.revive();
    isDead = false;
    /** From the engine's revival to the first answer made from it. Undefined: not within 20 s. */
    const recoveredSeconds = await recovery(backend, urls[0] ?? '', paths.slice(0, WATCHED));
    return { ...answersOf({ fresh: isInTime ? fresh : undefined, expired, unseen: never }), recoveredSeconds };
  } finally {
    if (isDead) await backend.revive();
  }
}

interface DeadEngineAnswers {
  /** Undefined: not in time. */
  readonly fresh: HttpDriven | undefined;
  readonly expired: HttpDriven;
  readonly unseen: HttpDriven;
}

/** The answers while the engine was dead. */
export function answersOf({ fresh, expired, unseen }: DeadEngineAnswers) {
  return {
    /** Share of fresh pages that were answered 200: 0–1. Undefined: this machine was too slow to ask in time. */
    freshShare: fresh && servedShare(fresh),
    /** The same after they expired. */
    expiredShare: servedShare(expired),
    /** Undefined: no expired page was answered. */
    expiredP99Ms: expired.servedMs?.p99,
    /** The answer for a page that is not cached: `503`, `502, 8 of 20 hung`. */
    unseenOutcome: outcomeText(unseen),
    /** Time of those answers. Undefined: none ended. */
    unseenP50Ms: (unseen.failedMs ?? unseen.servedMs)?.p50,
  };
}

/**
 * Requests page after page. A page that caused a search is requested again, because its first answer may be the stale one,
 * refreshed in the background. @returns seconds, in steps of 0.05
 */
async function recovery(backend: Backend, url: string, paths: readonly string[]): Promise<number | undefined> {
  const startedMs = performance.now();
  const client = createClient({ baseUrl: url, patienceMs: DEAD_PATIENCE_MS, maxConnections: 1, discardsBodies: true });
  let isRefreshed = false;
  for (let at = 0; performance.now() - startedMs < RECOVERY_MS; at += isRefreshed ? 0 : 1) {
    const searches = backend.searches();
    const reply = await client.getOnce(paths[at % paths.length] ?? '/');
    if (isRefreshed && reply.kind === 'answer' && reply.status === 200) {
      client.close();
      return (performance.now() - startedMs) / 1000;
    }
    await sleep(LOOK_EVERY_MS);
    isRefreshed = backend.searches() > searches;
  }
  client.close();
  return undefined;
}
