import type { Clock } from '../../runtime.ts';
import { createProgress, type WarmRequest, type WarmUp } from './warm.ts';

/** What a warm-up needs of its domain. */
export interface WarmDomain<Prepared> {
  /** One line: a plain text, or a query string that begins with `q=`. Throws where it is no search. */
  readonly prepare: (line: string) => Prepared;
  /** After everybody else, and only what is not fresh in the cache. Rejects when shed or failed. */
  readonly warm: (prepared: Prepared) => Promise<'cached' | 'computed'>;
  /** Places of the engine that nobody uses or waits for; 0 while it is in trouble. */
  readonly spare: () => number;
}

/** One warm-up. */
export interface WarmRun {
  readonly look: () => WarmUp;
  /** As many as there is room for; how many. `last`: no more will come, once all of these are taken. */
  readonly take: (lines: readonly string[], last: boolean) => number;
  readonly takesMore: () => boolean;
  readonly isOver: () => boolean;
  readonly stop: (detail?: string) => void;
}

interface WarmRunOptions<Prepared> {
  readonly id: string;
  readonly ask: WarmRequest;
  readonly domain: WarmDomain<Prepared>;
  /** Queries taken and not settled, at most. */
  readonly maxWaiting: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly onEnd: (warmUp: WarmUp, detail?: string) => void;
}

/** What was shed or failed is tried once more after so long. */
const RETRY_MS = 2000;
/** How often the engine's spare places are looked at while there are none. */
const LOOK_MS = 50;
/** Nobody has fed it for so long, and it has nothing to do: whoever did is gone. */
const UNFED_MS = 300_000;
/** Begun in one turn of the event loop. */
const SLICE = 32;

export function createWarmRun<Prepared>(options: WarmRunOptions<Prepared>): WarmRun {
  const { id, ask, domain, maxWaiting, clock, onEnd } = options;
  const pace = createPace(ask.maxPerSecond, clock);
  const progress = createProgress();
  const queue = createWarmQueue();
  const startedMs = clock.monotonicMs();
  let inFlight = 0;
  let isLast = false;
  let busyMs = startedMs;
  let ended: { readonly state: 'done' | 'stopped'; readonly atMs: number } | undefined;
  let timer: NodeJS.Timeout | undefined;

  const dueInMs = (): number | undefined => queue.dueInMs(clock.monotonicMs());
  const isIdle = (): boolean => inFlight === 0 && dueInMs() === undefined;
  /** What runs is no longer spare: so it takes half of what is idle, and whoever comes finds a place at once. */
  const hasPlace = (): boolean => inFlight < (pace.isProbing() ? Math.min(1, domain.spare()) : domain.spare());

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
      if (ended === undefined) progress.settle(query.place, found);
    } catch {
      pace.refused();
      if (ended === undefined && query.isSecond) progress.settle(query.place, 'failed');
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
      progress.settle(query.place, 'invalid');
      pace.refund();
      return;
    }
    void attempt(query, prepared);
  };

  const turn = (): void => {
    for (let begun = 0; begun < SLICE && dueInMs() === 0 && hasPlace() && pace.pass(); begun += 1) {
      const query = queue.take(clock.monotonicMs());
      if (query !== undefined) begin(query);
    }
    if (isIdle() && clock.monotonicMs() - busyMs >= UNFED_MS) end('stopped', 'nobody sent a query for 5 minutes');
    else next();
  };

  const waitMs = (): number => {
    const dueMs = dueInMs();
    if (dueMs === 0) return hasPlace() ? pace.waitMs() : LOOK_MS;
    if (dueMs !== undefined) return dueMs;
    return inFlight > 0 ? LOOK_MS : busyMs + UNFED_MS - clock.monotonicMs();
  };

  /** Ends it, or says when to look again. */
  const next = (): void => {
    if (ended !== undefined) return;
    if (isIdle() && isLast) {
      end('done');
      return;
    }
    if (!isIdle()) busyMs = clock.monotonicMs();
    clearTimeout(timer);
    timer = setTimeout(turn, Math.max(1, Math.ceil(waitMs()))).unref();
  };

  const stateNow = (): WarmUp['state'] => {
    if (ended !== undefined) return ended.state;
    if (inFlight > 0) return 'running';
    return dueInMs() === 0 && hasPlace() && !pace.isPausing() ? 'running' : 'waiting';
  };

  const look = (): WarmUp => ({
    id,
    domain: ask.domain,
    from: ask.from,
    state: stateNow(),
    taken: progress.taken(),
    ...progress.counts(),
    seconds: ((ended?.atMs ?? clock.monotonicMs()) - startedMs) / 1000,
  });

  next();
  return {
    look,
    take: (given, last) => {
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
    takesMore: () => ended === undefined && !isLast,
    isOver: () => ended !== undefined,
    stop: (detail) => end('stopped', detail),
  };
}

/** When the next query may be begun: never faster than the rate, and not at all for a while after the engine refused. */
interface Pace {
  /** Whether one may begin now; then it is counted. */
  readonly pass: () => boolean;
  /** It was in the cache: the engine has not been asked, and most of its turn is given back. */
  readonly refund: () => void;
  /** It was computed: the engine is well. */
  readonly succeeded: () => void;
  /** It was shed, or failed. */
  readonly refused: () => void;
  /** Until one may begin, as far as it is known now; 0: at once. */
  readonly waitMs: () => number;
  /** Held up by refusals. */
  readonly isPausing: () => boolean;
  /** Refused since the last that was computed: one at a time is enough to find out when it is well again. */
  readonly isProbing: () => boolean;
}

/** What may begin at once after a quiet time, as a share of a second's. */
const BURST_SECONDS = 0.05;
/** Finding a page in the cache costs a look at the store, so it is no faster than ten times the rate. */
const CACHED_COST = 0.1;
/** Doubles with each refusal in a row. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8000;

function createPace(maxPerSecond: number, clock: Pick<Clock, 'monotonicMs'>): Pace {
  const most = Math.max(1, maxPerSecond * BURST_SECONDS);
  let turns = 1;
  let filledMs = clock.monotonicMs();
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  let pauseMs = FIRST_PAUSE_MS;

  const fill = (): void => {
    const nowMs = clock.monotonicMs();
    turns = Math.min(most, turns + ((nowMs - filledMs) * maxPerSecond) / 1000);
    filledMs = nowMs;
  };
  const isPausing = (): boolean => clock.monotonicMs() < pausedUntilMs;

  return {
    isPausing,
    isProbing: () => pauseMs > FIRST_PAUSE_MS,
    pass: () => {
      fill();
      if (turns < 1 || isPausing()) return false;
      turns -= 1;
      return true;
    },
    refund: () => {
      turns = Math.min(most, turns + 1 - CACHED_COST);
    },
    succeeded: () => {
      pauseMs = FIRST_PAUSE_MS;
    },
    refused: () => {
      // Several that were under way together are one refusal.
      if (isPausing()) return;
      pausedUntilMs = clock.monotonicMs() + pauseMs;
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
    },
    waitMs: () => {
      fill();
      const turnMs = ((1 - turns) * 1000) / maxPerSecond;
      return Math.max(0, turnMs, pausedUntilMs - clock.monotonicMs());
    },
  };
}

/** The queries of one warm-up that are not begun yet. Bounded by whoever adds. */
interface WarmQueue {
  readonly add: (lines: readonly string[]) => void;
  /** Once more, but not before then. */
  readonly addAgain: (query: Query, dueMs: number) => void;
  readonly take: (nowMs: number) => Query | undefined;
  /** Until one can be taken; undefined: there is none. */
  readonly dueInMs: (nowMs: number) => number | undefined;
  readonly clear: () => void;
}

interface Query {
  /** Of all the warm-up was given: 0, 1, … */
  readonly place: number;
  /** Undefined: too long for a search. */
  readonly line: string | undefined;
  readonly isSecond: boolean;
}

/** Longer than any search may be, so that the bound on queries is one on bytes too. */
const MAX_LINE_CHARACTERS = 4096;

function createWarmQueue(): WarmQueue {
  const lines: (string | undefined)[] = [];
  let nextLine = 0;
  let nextPlace = 0;
  /** All wait equally long, so the first is due first. */
  const again: { readonly query: Query; readonly dueMs: number }[] = [];

  const takeLine = (): Query => {
    const query = { place: nextPlace, line: lines[nextLine], isSecond: false };
    nextPlace += 1;
    nextLine += 1;
    return query;
  };

  return {
    add: (given) => {
      lines.splice(0, nextLine);
      nextLine = 0;
      for (const line of given) lines.push(line.length > MAX_LINE_CHARACTERS ? undefined : line);
    },
    addAgain: (query, dueMs) => {
      again.push({ query: { ...query, isSecond: true }, dueMs });
    },
    take: (nowMs) => {
      const [first] = again;
      if (first !== undefined && first.dueMs <= nowMs) return again.shift()?.query;
      return nextLine < lines.length ? takeLine() : undefined;
    },
    dueInMs: (nowMs) => {
      if (nextLine < lines.length) return 0;
      const [first] = again;
      return first === undefined ? undefined : Math.max(0, first.dueMs - nowMs);
    },
    clear: () => {
      lines.length = 0;
      nextLine = 0;
      again.length = 0;
    },
  };
}
