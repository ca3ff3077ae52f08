import type { Clock } from '../../runtime.ts';
import type { WarmRequest, WarmUp } from './warm.ts';

/** The parts of a domain that a warm-up uses. */
export interface WarmDomain<Prepared> {
  /** Parses one line: a plain text, or a query string that begins with `q=`. Throws when it is not a valid search. */
  readonly prepare: (line: string) => Prepared;
  /** Computes the page, unless it is fresh in the cache, with the lowest priority. Rejects when shed or failed. */
  readonly warm: (prepared: Prepared) => Promise<'cached' | 'computed'>;
  /** Free concurrency slots of the engine, without waiting searches; 0 while the engine is in trouble. */
  readonly spare: () => number;
}

/** One warm-up. */
export type WarmRun = ReturnType<typeof createWarmRun>;

interface WarmRunOptions<Prepared> {
  readonly id: string;
  readonly request: WarmRequest;
  readonly domain: WarmDomain<Prepared>;
  /** Maximum number of taken and unfinished queries. */
  readonly maxWaiting: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly onEnd: (warmUp: WarmUp, detail?: string) => void;
}

/** A query that was shed or failed is tried once more after this time. */
const RETRY_MS = 2000;
/** Interval of checks for free slots while there are none. */
const CHECK_MS = 50;
/** An idle warm-up without new queries for this time is stopped: its client is gone. */
const UNFED_MS = 300_000;
/** Maximum number of queries begun in one turn of the event loop. */
const SLICE = 32;

export function createWarmRun<Prepared>(options: WarmRunOptions<Prepared>) {
  const { id, request, domain, maxWaiting, clock, onEnd } = options;
  const pace = createPace(request.maxPerSecond, clock);
  const progress = createSettlements();
  const queue = createWarmQueue();
  const startedMs = clock.monotonicMs();
  let inFlight = 0;
  let isLast = false;
  let busyMs = startedMs;
  let ended: { readonly state: 'done' | 'stopped'; readonly atMs: number } | undefined;
  let timer: NodeJS.Timeout | undefined;

  const dueInMs = (): number | undefined => queue.dueInMs(clock.monotonicMs());
  const isIdle = (): boolean => inFlight === 0 && dueInMs() === undefined;
  /** Running queries reduce `spare`, so a warm-up uses half of the free slots, and a search still finds one at once. */
  const hasSlot = (): boolean => inFlight < (pace.isProbing() ? Math.min(1, domain.spare()) : domain.spare());

  const end = (state: 'done' | 'stopped', detail?: string): void => {
    if (ended !== undefined) return;
    clearTimeout(timer);
    ended = { state, atMs: clock.monotonicMs() };
    queue.clear();
    onEnd(look(), detail);
  };

  const attempt = async (query: Query, prepared: Prepared): Promise<void> => {
    inFlight += 1;
    try {
      const found = await domain.warm(prepared);
      if (found === 'cached') pace.refund();
      else pace.succeeded();
      if (ended === undefined) progress.settle(query.index, found);
    } catch {
      pace.refused();
      if (ended === undefined && query.isSecond) progress.settle(query.index, 'failed');
      else if (ended === undefined) queue.addAgain(query, clock.monotonicMs() + RETRY_MS);
    } finally {
      inFlight -= 1;
      next();
    }
  };

  const begin = (query: Query): void => {
    let prepared: Prepared;
    try {
      if (query.line === undefined) throw new RangeError('too long');
      prepared = domain.prepare(query.line);
    } catch {
      progress.settle(query.index, 'invalid');
      pace.refund();
      return;
    }
    void attempt(query, prepared);
  };

  const beginDue = (): void => {
    for (let begun = 0; begun < SLICE && dueInMs() === 0 && hasSlot() && pace.pass(); begun += 1) {
      const query = queue.take(clock.monotonicMs());
      if (query !== undefined) begin(query);
    }
    if (isIdle() && clock.monotonicMs() - busyMs >= UNFED_MS) end('stopped', 'no query was sent for 5 minutes');
    else next();
  };

  const waitMs = (): number => {
    const dueMs = dueInMs();
    if (dueMs === 0) return hasSlot() ? pace.waitMs() : CHECK_MS;
    if (dueMs !== undefined) return dueMs;
    return inFlight > 0 ? CHECK_MS : busyMs + UNFED_MS - clock.monotonicMs();
  };

  /** Ends the warm-up, or schedules the next queries. */
  const next = (): void => {
    if (ended !== undefined) return;
    if (isIdle() && isLast) {
      end('done');
      return;
    }
    if (!isIdle()) busyMs = clock.monotonicMs();
    clearTimeout(timer);
    timer = setTimeout(beginDue, Math.max(1, Math.ceil(waitMs()))).unref();
  };

  const stateNow = (): WarmUp['state'] => {
    if (ended !== undefined) return ended.state;
    if (inFlight > 0) return 'running';
    return dueInMs() === 0 && hasSlot() && !pace.isPausing() ? 'running' : 'waiting';
  };

  const look = (): WarmUp => ({
    id,
    domain: request.domain,
    from: request.from,
    state: stateNow(),
    taken: progress.taken(),
    ...progress.counts(),
    seconds: ((ended?.atMs ?? clock.monotonicMs()) - startedMs) / 1000,
  });

  next();
  return {
    look,
    /** Takes as many lines as fit and returns their number. `last`: no more lines follow when all of these are taken. */
    take: (given: readonly string[], last: boolean): number => {
      if (ended !== undefined || isLast) return 0;
      const room = maxWaiting - (progress.taken() - progress.counts().settled);
      const taken = given.slice(0, Math.max(0, room));
      queue.add(taken);
      progress.take(taken.length);
      isLast = last && taken.length === given.length;
      busyMs = clock.monotonicMs();
      next();
      return taken.length;
    },
    takesMore: (): boolean => ended === undefined && !isLast,
    isOver: (): boolean => ended !== undefined,
    stop: (detail?: string) => end('stopped', detail),
  };
}

/** Capacity of the bucket: the burst that is allowed after an idle time. */
const BURST_SECONDS = 0.05;
/**
 * Tokens that a cached page costs: finding it needs a read of the store, so such queries are limited to ten times the
 * rate.
 */
const CACHED_COST = 0.1;
/** Doubles with each consecutive refusal. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8000;

/** A token bucket with a back-off: never faster than the rate, and paused after the engine refused a query. */
function createPace(maxPerSecond: number, clock: Pick<Clock, 'monotonicMs'>) {
  const burst = Math.max(1, maxPerSecond * BURST_SECONDS);
  let tokens = 1;
  let filledMs = clock.monotonicMs();
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  let pauseMs = FIRST_PAUSE_MS;

  const fill = (): void => {
    const nowMs = clock.monotonicMs();
    tokens = Math.min(burst, tokens + ((nowMs - filledMs) * maxPerSecond) / 1000);
    filledMs = nowMs;
  };
  const isPausing = (): boolean => clock.monotonicMs() < pausedUntilMs;

  return {
    /** Paused after a refusal. */
    isPausing,
    /** Refused since the last computed page: queries go one at a time until the engine works again. */
    isProbing: (): boolean => pauseMs > FIRST_PAUSE_MS,
    /** Takes a token when a query may begin now. */
    pass: (): boolean => {
      fill();
      if (tokens < 1 || isPausing()) return false;
      tokens -= 1;
      return true;
    },
    /** The page was in the cache, so the engine was not called: most of the token is given back. */
    refund: () => {
      tokens = Math.min(burst, tokens + 1 - CACHED_COST);
    },
    /** The page was computed: the engine works. */
    succeeded: () => {
      pauseMs = FIRST_PAUSE_MS;
    },
    /** The query was shed, or failed. */
    refused: () => {
      // Refusals of queries that ran at the same time count as one.
      if (isPausing()) return;
      pausedUntilMs = clock.monotonicMs() + pauseMs;
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
    },
    /** Time until a query may begin; 0: now. */
    waitMs: (): number => {
      fill();
      const tokenMs = ((1 - tokens) * 1000) / maxPerSecond;
      return Math.max(0, tokenMs, pausedUntilMs - clock.monotonicMs());
    },
  };
}

interface Query {
  /** Its number among all queries of the warm-up, from 0. */
  readonly index: number;
  /** Undefined: the line was too long for a search. */
  readonly line: string | undefined;
  readonly isSecond: boolean;
}

/** Longer than any search may be. With the bound on queries it also bounds the memory. */
const MAX_LINE_CHARACTERS = 4096;

/** The queries of one warm-up that have not begun. The caller bounds their number. */
function createWarmQueue() {
  const fresh: Query[] = [];
  let added = 0;
  /** All wait for the same time, so the first one is due first. */
  const again: { readonly query: Query; readonly dueMs: number }[] = [];

  return {
    add: (given: readonly string[]) => {
      for (const line of given) {
        fresh.push({ index: added, line: line.length > MAX_LINE_CHARACTERS ? undefined : line, isSecond: false });
        added += 1;
      }
    },
    /** Adds a query for its second attempt, not before `dueMs`. */
    addAgain: (query: Query, dueMs: number) => {
      again.push({ query: { ...query, isSecond: true }, dueMs });
    },
    take: (nowMs: number): Query | undefined => {
      const [first] = again;
      return first !== undefined && first.dueMs <= nowMs ? again.shift()?.query : fresh.shift();
    },
    /** Time until a query can be taken; undefined: there is none. */
    dueInMs: (nowMs: number): number | undefined => {
      if (fresh.length > 0) return 0;
      const [first] = again;
      return first === undefined ? undefined : Math.max(0, first.dueMs - nowMs);
    },
    clear: () => {
      fresh.length = 0;
      again.length = 0;
    },
  };
}

/** The result of one query. */
type Settlement = 'cached' | 'computed' | 'invalid' | 'failed';

/**
 * Counts finished queries in the order in which they were taken, although they end in any order. So a query file can be
 * resumed after `settled` lines without missing one.
 */
export function createSettlements() {
  const counts = { settled: 0, cached: 0, computed: 0, invalid: 0, failed: 0 };
  /** Queries that ended before an earlier one. Bounded by the number of taken and unfinished queries. */
  const ahead = new Map<number, Settlement>();
  let taken = 0;
  return {
    take: (queries: number) => {
      taken += queries;
    },
    /** @param index 0 … taken − 1, each once. */
    settle: (index: number, settlement: Settlement) => {
      ahead.set(index, settlement);
      for (let next = ahead.get(counts.settled); next !== undefined; next = ahead.get(counts.settled)) {
        ahead.delete(counts.settled);
        counts.settled += 1;
        counts[next] += 1;
      }
    },
    taken: (): number => taken,
    counts: (): Readonly<Record<'settled' | Settlement, number>> => ({ ...counts }),
  };
}
