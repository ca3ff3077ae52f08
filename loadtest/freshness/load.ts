import type { Engine, ResultPage } from '../../src/search/engine.ts';
import { createClient, outcomeOf, type Reply } from '../http-driver/client.ts';
import { closedLoop, openLoop } from '../http-driver/loops.ts';
import type { Indexer } from './indexer.ts';
import { ageOfWrongPage, judge, type Seen, seenOf, shownTooLate } from './oracle.ts';
import type { AskedSearch, Searches } from './searches.ts';

/** Where the load asks. `url` may change when the replica is started again. */
export interface Target {
  url: string;
  /** Answers to searches that were sent before this moment are not held against it. ms of `performance.now()` */
  excusedUntilMs: number;
}

export type Tally = ReturnType<typeof createTally>;

const PATIENCE_MS = 15_000;
/** After this time a change must be in force everywhere. */
export const GRACE_MS = 1000;
/** One answer in eight is compared with the engine. */
export const SAMPLE = 8;

function createTally() {
  return {
    answers: 0,
    outcomes: new Map<string, number>(),
    /** Searches without a page, by their end. Those of a replica in trouble are left out. */
    errors: new Map<string, number>(),
    /** The same, of those that were refused with the time to come again. */
    refused: new Map<string, number>(),
    sampled: 0,
    pageWrong: 0,
    countsWrong: 0,
    /** The page or its counts. */
    wrong: 0,
    /** Wrong pages none of whose documents has changed: the engine orders them in another way. */
    reordered: 0,
    /** Ages of the wrong pages, in ms. */
    ages: [] as number[],
    /** Deleted documents that were shown more than a second after the call, by replica too, and those of a replica in trouble. */
    deletedShown: 0,
    deletedShownBy: new Map<number, number>(),
    deletedShownExcused: 0,
    longestShownMs: 0,
    /** Pages that were asked again after a change: those that came back as the same bytes, and those in which nothing can be seen. */
    refreshed: 0,
    sameEtag: 0,
    sameSeen: 0,
  };
}

interface LoadOptions {
  readonly targets: readonly Target[];
  readonly searches: Pick<Searches, 'next'>;
  readonly engine: Pick<Engine, 'search'>;
  readonly indexer: Pick<Indexer, 'lastOf'>;
  readonly perSecond: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
  /** Told of every search without a page, those of a replica in trouble left out. */
  readonly unanswered?: (search: AskedSearch, at: number, end: string) => void;
}

/** Searches at a rate in turn to the replicas, each answer looked at, and one in `SAMPLE` compared with the engine. */
export function startLoad(options: LoadOptions) {
  const { targets, searches, engine, indexer, perSecond, seconds, signal } = options;
  const tally = createTally();
  const clients = createClients(targets);
  const outdated = new Map<string, { readonly etag: string; readonly seen: Seen }>();
  const latest = new Map<string, { readonly etag: string; readonly seen: Seen }>();

  const noteRefresh = (key: string, reply: Extract<Reply, { kind: 'answer' }>, seen: Seen): void => {
    const outcome = outcomeOf(reply) ?? '';
    const own = { etag: String(reply.headers.etag), seen };
    const before = outdated.get(key);
    if (outcome === 'stale') outdated.set(key, own);
    else {
      const isChanged = /detail=(changed|deleted)/.test(String(reply.headers['cache-status']));
      const old = before ?? (isChanged ? latest.get(key) : undefined);
      if (old !== undefined) {
        tally.refreshed += 1;
        if (old.etag === own.etag) tally.sameEtag += 1;
        const { isPageRight, areCountsRight } = judge(seen, old.seen, old.seen);
        if (isPageRight && areCountsRight) tally.sameSeen += 1;
      }
      outdated.delete(key);
    }
    latest.set(key, own);
  };
  /** Undefined: the engine has no room, so this answer is not compared. */
  const read = ({ request }: AskedSearch): Promise<ResultPage | undefined> =>
    engine.search(request, AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)])).catch(() => undefined);
  const ask = async (n: number): Promise<void> => {
    const search = searches.next();
    const at = n % targets.length;
    const target = targets[at];
    if (target === undefined) return;
    const isSampled = n % SAMPLE === 0;
    const before = isSampled ? await read(search) : undefined;
    const sentMs = performance.now();
    const reply = await clients.ask(at, search);
    const after = before === undefined ? undefined : await read(search);
    tally.answers += 1;
    if (reply.kind !== 'answer' || reply.status !== 200) {
      if (sentMs <= target.excusedUntilMs) return;
      const { end, isRefused } = endOf(reply);
      const counts = isRefused ? tally.refused : tally.errors;
      counts.set(end, (counts.get(end) ?? 0) + 1);
      options.unanswered?.(search, at, `${end} after ${(performance.now() - sentMs).toFixed(0)} ms`);
      return;
    }
    const outcome = outcomeOf(reply) ?? 'none';
    tally.outcomes.set(outcome, (tally.outcomes.get(outcome) ?? 0) + 1);
    const seen = seenOf(JSON.parse(reply.body) as ResultPage);
    const late = shownTooLate(seen.items.keys(), indexer.lastOf, sentMs, GRACE_MS);
    if (sentMs > target.excusedUntilMs) {
      tally.deletedShown += late.length;
      tally.deletedShownBy.set(at, (tally.deletedShownBy.get(at) ?? 0) + late.length);
      for (const id of late) {
        tally.longestShownMs = Math.max(tally.longestShownMs, sentMs - (indexer.lastOf(id)?.endMs ?? sentMs));
      }
    } else tally.deletedShownExcused += late.length;
    noteRefresh(`${at} ${search.path}`, reply, seen);
    if (before === undefined || after === undefined) return;
    const { isPageRight, areCountsRight, wrongIds } = judge(seen, seenOf(before), seenOf(after));
    tally.sampled += 1;
    if (!areCountsRight) tally.countsWrong += 1;
    if (!isPageRight || !areCountsRight) tally.wrong += 1;
    if (isPageRight) return;
    tally.pageWrong += 1;
    // Age is in whole seconds.
    const computedMs = sentMs - (Number(reply.headers['age'] ?? Number.POSITIVE_INFINITY) + 1) * 1000;
    const age = ageOfWrongPage(wrongIds, indexer.lastOf, sentMs, computedMs);
    if (age === undefined) tally.reordered += 1;
    else tally.ages.push(age);
  };
  const loop = openLoop({
    ratePerSecond: perSecond,
    random: Math.random,
    send: ask,
    maxRequests: Math.round(perSecond * seconds),
    maxInFlight: 256,
  });
  signal.addEventListener('abort', loop.stop, { once: true });
  const ended = loop.ended.finally(() => {
    signal.removeEventListener('abort', loop.stop);
    clients.close();
  });
  return {
    /** Counted until now. */
    tally: tally as Readonly<Tally>,
    /** The largest lateness of the generator among the latest requests. */
    lagMs: () => Math.max(0, ...loop.lagMs()),
    ended,
  };
}

/** The end of a search without a page: what went wrong, or the status with the code of the problem. */
export function endOf(reply: Reply): { readonly end: string; readonly isRefused: boolean } {
  if (reply.kind === 'hung') return { end: reply.kind, isRefused: false };
  if (reply.kind === 'broken') return { end: reply.why, isRefused: false };
  const { status, headers, body } = reply;
  const code = /"code":"([a-z-]+)"/.exec(body)?.[1] ?? 'without a code';
  return { end: `${status} ${code}`, isRefused: status === 503 && headers['retry-after'] !== undefined };
}

/** Asks each search once of one replica. */
export async function askAll(
  target: Target,
  searches: Iterable<AskedSearch>,
  look: (seen: Seen, sentMs: number) => void = () => undefined,
): Promise<void> {
  const clients = createClients([target]);
  await closedLoop(searches, 16, async (search) => {
    const sentMs = performance.now();
    const reply = await clients.ask(0, search);
    if (reply.kind === 'answer' && reply.status === 200) look(seenOf(JSON.parse(reply.body) as ResultPage), sentMs);
  });
  clients.close();
}

function createClients(targets: readonly Target[]) {
  const open = (baseUrl: string) => ({
    baseUrl,
    ...createClient({ baseUrl, patienceMs: PATIENCE_MS, maxConnections: 64 }),
  });
  const clients = targets.map(({ url }) => open(url));
  return {
    ask: (at: number, { path }: AskedSearch): Promise<Reply> => {
      const url = targets[at]?.url ?? '';
      let client = clients[at];
      if (client?.baseUrl !== url) {
        client?.close();
        client = open(url);
        clients[at] = client;
      }
      return client.get(path);
    },
    close: (): void => {
      for (const client of clients) client.close();
    },
  };
}
