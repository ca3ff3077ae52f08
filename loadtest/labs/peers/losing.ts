import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../http-driver/client.ts';
import { type HttpDriven, type HttpPlan, outcomeText, servedShare } from '../../http-driver/plan.ts';
import type { Lab } from '../kit/lab.ts';
import type { Backend } from './backend.ts';
import { httpDriven } from './driven.ts';
import { LONG, type Peer, SHORT, type Sizes } from './peer.ts';
import { fillPages, type Replicas, startReplicas } from './replicas.ts';
import type { ServingOptions } from './serving.ts';

interface LosingOptions extends Omit<ServingOptions, 'backend' | 'peers'> {
  /** Two backends, with long and with short page lifetimes. */
  readonly backends: { readonly long: Backend; readonly short: Backend };
}

/** One peer after the other, each alone: a stampede lasts a second, so peers cannot take turns. */
export async function measureLosing(options: LosingOptions, peer: Peer) {
  const { lab, backends, paths, sizes, seconds, attempt } = options;
  lab.say(`stampede: ${peer.name}, ${sizes.replicas} replicas`);
  const stampeded = await attempt(peer, 'the stampede was not measured', async () => {
    await using replicas = await startReplicas(lab, backends.long, peer, { count: sizes.replicas, ...LONG });
    return await stampede(lab, backends.long, replicas, paths, sizes);
  });
  lab.say(`dead engine: ${peer.name}`);
  const dead = await attempt(peer, 'the dead engine was not measured', async () => {
    await using replicas = await startReplicas(lab, backends.short, peer, { count: 1, ...SHORT });
    return await deadEngine(lab, backends.short, replicas, paths, { ...sizes, ttlSeconds: SHORT.ttlSeconds, seconds });
  });
  return { stampede: stampeded, dead };
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

/**
 * All replicas purge their cached pages, then all requests come at once while the engine is slow: for the first path, and for
 * many others at the same moment.
 */
export async function stampede(
  lab: Lab,
  backend: Backend,
  replicas: Pick<Replicas, 'urls' | 'purge'>,
  [hot = '', ...others]: readonly string[],
  sizes: Pick<Sizes, 'engineDelayMs' | 'hotRequests' | 'manyKeys' | 'requestsEach'>,
) {
  const { engineDelayMs } = sizes;
  const once = async (paths: readonly string[], times: number): Promise<Stampeded> => {
    await fillPages(lab, replicas.urls, paths);
    const purgeRefusals = await replicas.purge();
    backend.delay(engineDelayMs);
    try {
      const pathsAtOnce = Math.max(1, Math.min(paths.length, Math.floor(MOST_AT_ONCE / times)));
      const pace = { kind: 'burst', times, pathsAtOnce } as const;
      const { result, searches } = await searchesOf(
        backend,
        () => httpDriven(lab, { replicas: replicas.urls, paths, pace, patienceMs: PATIENCE_MS }),
        () => sleep(engineDelayMs + QUIET_MS),
      );
      return stampededOf(result, { searches, purgeRefusals });
    } finally {
      backend.delay(0);
    }
  };
  return {
    hot: await once([hot], sizes.hotRequests),
    many: await once(others.slice(0, sizes.manyKeys), sizes.requestsEach),
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

interface DeadEnginePlan extends Pick<Sizes, 'knownPages' | 'unseenPages' | 'deadPerSecond'> {
  readonly ttlSeconds: number;
  /** Duration of the requests for expired pages. */
  readonly seconds: number;
}

export type DeadEngineFigures = Awaited<ReturnType<typeof deadEngine>>;

const DEAD_PATIENCE_MS = 5000;
const CONNECTIONS = 8;
/** Some peers spread lifetimes by up to a fifth; in that interval a page may be fresh or expired. */
const SPREAD = 0.2;
const RECOVERY_MS = 20_000;
const LOOK_EVERY_MS = 50;
const WATCHED = 5;

/** The engine dies under pages that are fresh, stays dead past their time, and comes back. */
export async function deadEngine(
  lab: Lab,
  backend: Backend,
  { urls }: Pick<Replicas, 'urls'>,
  all: readonly string[],
  { ttlSeconds, seconds, knownPages, unseenPages, deadPerSecond }: DeadEnginePlan,
) {
  /** Requested for the first time while it is dead. */
  const [paths, unseenPaths] = [all.slice(0, knownPages), all.slice(knownPages, knownPages + unseenPages)];
  const ask = (some: readonly string[], pace: HttpPlan['pace']): Promise<HttpDriven> =>
    httpDriven(lab, { replicas: urls, paths: some, pace, patienceMs: DEAD_PATIENCE_MS });

  const startedMs = performance.now();
  await fillPages(lab, urls, paths);
  const filledMs = performance.now();
  await backend.die();
  let isDead = true;
  try {
    const fresh = await ask(paths, { kind: 'once', connections: CONNECTIONS });
    // A page is certainly fresh until it is 4/5 of its lifetime old, and certainly expired after 6/5 of it.
    const isInTime = performance.now() - startedMs < ttlSeconds * (1 - SPREAD) * 1000;
    await sleep(Math.max(0, filledMs + ttlSeconds * (1 + SPREAD) * 1000 - performance.now()));
    const expired = await ask(paths, { kind: 'rate', perSecond: deadPerSecond, seconds });
    const unseen = await ask(unseenPaths, { kind: 'once', connections: unseenPaths.length });
    await backend.revive();
    isDead = false;
    /** From the engine's revival to the first answer made from it. Undefined: not within 20 s. */
    const recoveredSeconds = await recovery(backend, urls[0] ?? '', paths.slice(0, WATCHED));
    return { ...answersOf({ fresh: isInTime ? fresh : undefined, expired, unseen }), recoveredSeconds };
  } finally {
    if (isDead) await backend.revive();
  }
}

/** The answers while the engine was dead. @param answers `fresh` is undefined when they were not in time. */
export function answersOf({
  fresh,
  expired,
  unseen,
}: Record<'expired' | 'unseen', HttpDriven> & { fresh?: HttpDriven }) {
  return {
    /** Share of fresh pages that were answered 200: 0–1. Undefined: this machine was too slow to ask in time. */
    freshShare: fresh && servedShare(fresh),
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
