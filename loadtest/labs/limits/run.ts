import type { createGradientLimit, LearnedLimit } from '../../../src/resilience/adaptive-limit.ts';
import { createConcurrencyLimiter } from '../../../src/resilience/concurrency-limiter.ts';
import type { Clock } from '../../../src/runtime.ts';

export interface Scenario {
  /** Arrival rate, as a multiple of the normal capacity of the engine. */
  readonly load: number;
  readonly deadlineMs: number;
  /** Maximum time that a client waits. */
  readonly patienceMs: number;
  readonly ceiling: number;
  readonly maxQueued: number;
  readonly atOnce: number;
  /** Mean duration of one query without its wait. */
  readonly meanMs: number;
  /** Standard deviation of the logarithm: with 0.4 the p99 is 2.3 × the mean. */
  readonly spread: number;
  /** Share of the queries that take ten times as long. */
  readonly costly: number;
  readonly seconds: number;
  /** Earlier requests are not counted. */
  readonly fromSeconds: number;
  readonly slow?: { readonly fromSeconds: number; readonly toSeconds: number; readonly factor: number };
}

export interface Contender {
  readonly shedding: boolean;
  readonly limit: (parts: Parameters<typeof createGradientLimit>[0] & { readonly deadlineMs: number }) => LearnedLimit;
}

interface Request {
  readonly arrivedAtMs: number;
  /** Until its answer or refusal; infinite if the run ended before it. */
  tookMs: number;
  shed: boolean;
}

type Run = Awaited<ReturnType<typeof runOnce>>;

const LIMITS_PER_SECOND = 10;

/** One open-loop run in virtual time. Permit and limit are the real ones; the guard between them is a sketch. */
export async function runOnce(scenario: Scenario, { limit: create, shedding }: Contender, random: () => number) {
  using time = createVirtualTime();
  const { deadlineMs, patienceMs, maxQueued, slow } = scenario;
  const { monotonicMs } = time.clock;
  const engine = createModelEngine(scenario, time, random);
  const enginePerSecond = engine.perSecond();
  const limit = create({ ceiling: () => scenario.ceiling, monotonicMs, random, deadlineMs });
  const permit = createConcurrencyLimiter({
    max: limit.current,
    maxQueued,
    deadlineMs,
    maxWaitMs: patienceMs,
    clock: time.clock,
    shedding,
  });
  const requests: Request[] = [];
  /** `LIMITS_PER_SECOND` times a second. */
  const limits: number[] = [];

  const call = async (): Promise<void> => {
    const startedAtMs = monotonicMs();
    const inFlight = permit.inFlight();
    let isSampled = false;
    time.at(startedAtMs + deadlineMs, () => {
      if (!isSampled) limit.sample({ durationMs: deadlineMs, inFlight, result: 'lost' });
      isSampled = true;
    });
    await engine.ask();
    if (!isSampled) limit.sample({ durationMs: monotonicMs() - startedAtMs, inFlight, result: 'answered' });
    isSampled = true;
  };

  const request = async (): Promise<void> => {
    const arrivedAtMs = monotonicMs();
    const one: Request = { arrivedAtMs, tookMs: Number.POSITIVE_INFINITY, shed: false };
    requests.push(one);
    try {
      const release = await permit.acquire({ deadlineAtMs: arrivedAtMs + patienceMs, priority: 'interactive' });
      await call();
      release();
    } catch {
      one.shed = true;
    }
    one.tookMs = monotonicMs() - arrivedAtMs;
  };

  const arrive = (): void => {
    void request();
    time.at(monotonicMs() - (1000 * Math.log(1 - random())) / (scenario.load * enginePerSecond), arrive);
  };
  const recordLimit = (): void => {
    limits.push(limit.current());
    time.at(monotonicMs() + 1000 / LIMITS_PER_SECOND, recordLimit);
  };
  time.at(0, arrive);
  time.at(0, recordLimit);
  if (slow !== undefined) {
    time.at(slow.fromSeconds * 1000, () => engine.slowDown(slow.factor));
    time.at(slow.toSeconds * 1000, () => engine.slowDown(1));
  }
  await time.runUntil(scenario.seconds * 1000);
  return { enginePerSecond, requests, limits };
}

/** The figures of a run; NaN if there was no such request. */
export type Figures = ReturnType<typeof figuresOf>;

export function figuresOf(run: Run, scenario: Scenario) {
  const { fromSeconds, seconds, deadlineMs, patienceMs } = scenario;
  // The last requests may have no answer yet.
  const toSeconds = seconds - patienceMs / 1000;
  const counted = run.requests.filter(
    ({ arrivedAtMs }) => arrivedAtMs >= fromSeconds * 1000 && arrivedAtMs < toSeconds * 1000,
  );
  const good = counted.filter((request) => isGood(request, deadlineMs)).map(({ tookMs }) => tookMs);
  const shed = counted.filter((request) => request.shed).map(({ tookMs }) => tookMs);
  return {
    /** Good answers a second, divided by the capacity of the engine. */
    good: good.length / (toSeconds - fromSeconds) / run.enginePerSecond,
    p99GoodMs: percentile(good, 0.99),
    p99ShedMs: percentile(shed, 0.99),
    longestShedMs: percentile(shed, 1),
    meanLimit: mean(run.limits.slice(fromSeconds * LIMITS_PER_SECOND)),
    /** Time until the limit stayed for one second within 0.75–2 × the concurrency of the engine. */
    foundAfterSeconds: foundAfterSeconds(run.limits, scenario.atOnce),
    /** Time from the end of the slow phase until the rate of good answers was 0.9 of the earlier rate for three seconds. */
    recoveredAfterSeconds: recoveredAfterSeconds(run, scenario),
  };
}

/** The mean of runs that differ only in their seed; for the longest wait, the maximum. */
export function meanOf(runs: readonly Figures[]): Figures {
  const all = (figure: keyof Figures): readonly number[] => runs.map((each) => each[figure]);
  const known = (figure: keyof Figures): readonly number[] => all(figure).filter((value) => !Number.isNaN(value));
  return {
    good: mean(known('good')),
    p99GoodMs: mean(known('p99GoodMs')),
    p99ShedMs: mean(known('p99ShedMs')),
    longestShedMs: percentile(known('longestShedMs'), 1),
    meanLimit: mean(known('meanLimit')),
    // NaN if one run never got there.
    foundAfterSeconds: mean(all('foundAfterSeconds')),
    recoveredAfterSeconds: mean(all('recoveredAfterSeconds')),
  };
}

function isGood({ shed, tookMs }: Request, deadlineMs: number): boolean {
  return !shed && tookMs <= deadlineMs;
}

function foundAfterSeconds(limits: readonly number[], atOnce: number): number {
  const fits = limits.map((limit) => limit >= 0.75 * atOnce && limit <= 2 * atOnce);
  const at = fits.findIndex(
    (_, from) => from + LIMITS_PER_SECOND <= fits.length && !fits.slice(from, from + LIMITS_PER_SECOND).includes(false),
  );
  return at < 0 ? Number.NaN : at / LIMITS_PER_SECOND;
}

function recoveredAfterSeconds(run: Run, { slow, fromSeconds, seconds, deadlineMs }: Scenario): number {
  if (slow === undefined) return Number.NaN;
  const perSecond = new Array<number>(seconds).fill(0);
  for (const request of run.requests) {
    const second = Math.floor((request.arrivedAtMs + request.tookMs) / 1000);
    if (second < seconds && isGood(request, deadlineMs)) perSecond[second] = (perSecond[second] ?? 0) + 1;
  }
  const before = mean(perSecond.slice(fromSeconds, slow.fromSeconds));
  if (before < 1) return Number.NaN;
  for (let second = slow.toSeconds; second + 3 <= seconds; second += 1)
    if (mean(perSecond.slice(second, second + 3)) >= 0.9 * before) return second - slow.toSeconds;
  return Number.NaN;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}

/** An engine with a maximum of concurrent queries. It queues the others itself, where they cannot be shed. */
function createModelEngine({ atOnce, meanMs, spread, costly }: Scenario, time: VirtualTime, random: () => number) {
  const queue: (() => void)[] = [];
  let busy = 0;
  let slowness = 1;

  const workMs = (): number => {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return meanMs * slowness * Math.exp(spread * normal - spread ** 2 / 2) * (random() < costly ? 10 : 1);
  };

  const begin = (): void => {
    const done = busy < atOnce ? queue.shift() : undefined;
    if (done === undefined) return;
    busy += 1;
    time.at(time.clock.monotonicMs() + workMs(), () => {
      busy -= 1;
      done();
      begin();
    });
  };

  return {
    ask: () =>
      new Promise<void>((resolve) => {
        queue.push(resolve);
        begin();
      }),
    /** Current capacity, in answers a second. */
    perSecond: () => (1000 * atOnce) / (meanMs * slowness * (1 + 9 * costly)),
    /** Multiplies the duration of queries that start from now on. */
    slowDown: (factor: number) => {
      slowness = factor;
    },
  };
}

interface Timer {
  readonly atMs: number;
  readonly run: () => void;
  /** A cleared timer stays in the list until its time. */
  cancelled: boolean;
}

type VirtualTime = ReturnType<typeof createVirtualTime>;

/**
 * Simulated time: timers run in order, and time passes only between them, so hours take seconds. Replaces `setTimeout` and
 * `clearTimeout` of the process, so that the production code runs unchanged.
 */
function createVirtualTime() {
  const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
  /** The next timer is the last one. */
  const timers: Timer[] = [];
  let nowMs = 0;

  const schedule = (atMs: number, run: () => void): Timer => {
    const timer: Timer = { atMs: Math.max(nowMs, atMs), run, cancelled: false };
    // Timers of the same time run in the order in which they were set.
    timers.splice(timers.findLastIndex((other) => other.atMs > timer.atMs) + 1, 0, timer);
    return timer;
  };

  globalThis.setTimeout = ((run: () => void, delayMs = 0) =>
    schedule(nowMs + Math.max(1, Math.trunc(delayMs)), run)) as unknown as typeof setTimeout;
  globalThis.clearTimeout = ((timer: Timer | undefined) => {
    if (timer !== undefined) timer.cancelled = true;
  }) as unknown as typeof clearTimeout;

  return {
    clock: { wallMs: () => nowMs, monotonicMs: () => nowMs } satisfies Clock,
    at: schedule,
    /** Runs all timers until then. Promises settle after each timer. */
    runUntil: async (endMs: number): Promise<void> => {
      for (let next = timers.at(-1); next !== undefined && next.atMs <= endMs; next = timers.at(-1)) {
        timers.pop();
        if (next.cancelled) continue;
        nowMs = next.atMs;
        next.run();
        // All promises settle before time goes on.
        await new Promise((resolve) => setImmediate(resolve));
      }
      nowMs = endMs;
    },
    [Symbol.dispose]: () => Object.assign(globalThis, real),
  };
}
