export interface GradientLimitOptions extends LimitOptions {
  /** Spreads the looks at the base, so that processes do not take them in step. */
  readonly random: () => number;
}

/** Little enough to measure a base before the engine is loaded; the eight of the default are four windows away. */
const START = 4;
/** Calls in a window at the least: a limit of 1 would judge by two. */
const MIN_CALLS = 6;
/** Slower than the base by that much is no queue yet, only other searches. */
const TOLERANCE = 1.25;
/** The most one window takes away. */
const STEEPEST = 0.5;
/** Above that a window is about an engine that fails, not about its latency; costly searches alone stay below. */
const TOLERATED_LOSS = 0.25;
const LOSS_FACTOR = 0.75;
/**
 * A base is remembered for one to two epochs, each spread by ± a quarter. The first ends soon, for it began with no base;
 * each probe that finds what was known doubles the next, for under load a probe costs most of a second of the engine.
 */
const FIRST_EPOCH_MS = 1000;
const SHORTEST_EPOCH_MS = 10_000;
const LONGEST_EPOCH_MS = 60_000;
/** Part of the limit in a probe: with a half, an engine of one that is asked by four never shows itself. */
const PROBE_DIVISOR = 3;
/** Only a limit that is used up is in doubt: a probe would shed where all find a place. */
const FULL = 0.9;
/** A limit that falls from 4 comes to 2 only in the end: about half is half. */
const HALVED = 0.6;
/** Half the limit, or a third, and still so much of the latency: it is not our calls that wait for each other. */
const UNMOVED = 0.75;
/** A probe that found nothing in so many base latencies waits for calls that may take seconds, and nobody may start meanwhile. */
const PROBE_PATIENCE = 10;
const SHORTEST_PROBE_MS = 100;
const LONGEST_PROBE_BASE_MS = 500;
/** Of the newest window in the mean of all. */
const VARIANCE_WEIGHT = 0.1;

/**
 * The limit follows base ÷ latency, plus some room to grow (ideas: TCP Vegas, Netflix's Gradient2, Envoy's gradient
 * controller). The base is the shortest latency of the last epochs, and two things keep it honest: an epoch under load ends
 * with a probe, one window at a third of the limit, so that a queue inside the engine is never taken for its nature; and
 * when half the limit leaves the latency where it was, the engine itself has become slower, and that is the base at once.
 *
 * Each window is believed only as far as its standard error lets it. Without that the base is the luckiest window of many:
 * an engine of eight with a long tail (p99 = 8 × median) was given two, and a third of what it can do.
 */
export function createGradientLimit(options: GradientLimitOptions): Limit {
  const { ceiling, monotonicMs, random } = options;
  let limit = START;
  let probeEndsAtMs: number | undefined;
  let baseMs = Number.POSITIVE_INFINITY;
  let olderBaseMs = Number.POSITIVE_INFINITY;
  let variance: number | undefined;
  /** Where the limit began to fall. */
  let fall: { readonly limit: number; readonly durationMs: number } | undefined;
  let epochMs = 0;
  let epochEndsAtMs = 0;

  const bounded = (wanted: number): number => Math.max(1, Math.min(wanted, ceiling()));
  const isProbe = (): boolean => probeEndsAtMs !== undefined;
  const giveUpProbe = (): void => {
    if (probeEndsAtMs === undefined || monotonicMs() < probeEndsAtMs) return;
    probeEndsAtMs = undefined;
    const known = Number.isFinite(knownMs()) ? knownMs() : 0;
    beginEpoch(SHORTEST_EPOCH_MS);
    // What was known before it is still the best that is known.
    if (known > 0) baseMs = known;
  };
  const current = (): number => {
    giveUpProbe();
    return Math.floor(bounded(isProbe() ? limit / PROBE_DIVISOR : limit));
  };
  const windows = createSampleWindows({ monotonicMs, minCalls: () => Math.max(MIN_CALLS, 2 * current()) });

  /** A factor: the latency's standard error in this window. */
  const doubt = ({ answered }: SampleWindow): number => Math.exp(Math.sqrt((variance ?? 0) / Math.max(1, answered)));

  const knownMs = (): number => Math.min(baseMs, olderBaseMs);

  const beginEpoch = (lengthMs: number): void => {
    epochMs = lengthMs;
    epochEndsAtMs = monotonicMs() + epochMs * (0.75 + 0.5 * random());
    olderBaseMs = baseMs;
    baseMs = Number.POSITIVE_INFINITY;
  };

  const beginProbe = (): void => {
    const patienceMs = Math.max(SHORTEST_PROBE_MS, PROBE_PATIENCE * Math.min(knownMs(), LONGEST_PROBE_BASE_MS));
    probeEndsAtMs = monotonicMs() + patienceMs;
  };

  /** Once the limit has been halved: did the latency follow? */
  const relearn = ({ durationMs, mostInFlight }: SampleWindow): void => {
    if (fall === undefined || Math.floor(limit) > Math.max(1, HALVED * Math.floor(fall.limit)) || mostInFlight > limit)
      return;
    if (durationMs > UNMOVED * fall.durationMs) baseMs = olderBaseMs = durationMs;
    fall = undefined;
  };

  const follow = (window: SampleWindow): void => {
    const { durationMs, mostInFlight } = window;
    const surelyMs = durationMs / doubt(window);
    const gradient = Math.max(STEEPEST, Math.min(1, (TOLERANCE * knownMs()) / surelyMs));
    const wanted = limit * gradient + Math.max(1, Math.sqrt(limit) / 2);
    if (wanted >= limit) {
      fall = undefined;
      // Who does not use what there is learns nothing about more.
      if (mostInFlight < Math.floor(bounded(limit))) return;
    } else fall ??= { limit, durationMs };
    limit = bounded(wanted);
  };

  const judge = (window: SampleWindow): void => {
    const wasProbe = isProbe();
    probeEndsAtMs = undefined;
    if (window.lost > TOLERATED_LOSS * (window.lost + window.answered)) {
      // What a part of the limit loses is not lost to the limit.
      if (wasProbe) beginEpoch(SHORTEST_EPOCH_MS);
      else limit = bounded(limit * LOSS_FACTOR);
      return;
    }
    variance = variance === undefined ? window.variance : variance + VARIANCE_WEIGHT * (window.variance - variance);
    // The shortest of many windows is short by chance as well: about two standard errors. A probe is one of one or two.
    const windowMs = window.durationMs * doubt(window) ** (wasProbe ? 1 : 2);
    if (wasProbe) {
      const wasKnown = windowMs > UNMOVED * knownMs();
      const nextMs = wasKnown
        ? Math.min(LONGEST_EPOCH_MS, Math.max(SHORTEST_EPOCH_MS, 2 * epochMs))
        : SHORTEST_EPOCH_MS;
      beginEpoch(nextMs);
      baseMs = windowMs;
      return;
    }
    baseMs = Math.min(baseMs, windowMs);
    relearn(window);
    if (monotonicMs() < epochEndsAtMs) follow(window);
    else if (window.meanInFlight >= FULL * current()) beginProbe();
    else beginEpoch(SHORTEST_EPOCH_MS);
  };

  beginEpoch(FIRST_EPOCH_MS);
  return {
    current,
    sample: (call) => {
      // What began among more calls says nothing about half of them.
      if (isProbe() && call.inFlight > current()) return;
      const window = windows.add(call);
      if (window !== undefined) judge(window);
    },
  };
}

export interface AimdLimitOptions extends LimitOptions {
  /** An answer that took longer counts as lost: who waited for it has hardly any time left. */
  readonly slowMs: number;
}

/** Of a window: a larger part lost means too many at once; a few costly searches do not. */
const AIMD_TOLERATED_LOSS = 0.2;
const DECREASE = 0.8;

/** One more per window without losses while it is used, a fifth less per window with them: the limit is found by overrunning it. */
export function createAimdLimit(options: AimdLimitOptions): Limit {
  const { ceiling, monotonicMs, slowMs } = options;
  let limit = START;
  const windows = createSampleWindows({ monotonicMs, minCalls: () => Math.max(8, 2 * limit) });
  const bounded = (wanted: number): number => Math.max(1, Math.min(wanted, Math.floor(ceiling())));

  return {
    current: () => Math.floor(bounded(limit)),
    sample: (call) => {
      const isSlow = call.result === 'answered' && call.durationMs > slowMs;
      const window = windows.add(isSlow ? { ...call, result: 'lost' } : call);
      if (window === undefined) return;
      const isOver = window.lost > AIMD_TOLERATED_LOSS * (window.lost + window.answered);
      const isUsed = window.mostInFlight >= Math.floor(bounded(limit));
      limit = bounded(isOver ? limit * DECREASE : isUsed ? limit + 1 : limit);
    },
  };
}

/**
 * How many calls an engine can take at once, learned from how long they take. It only ever lowers what is configured:
 * the permit stays below both. Fed by the guard, read by the permit.
 */
export interface Limit {
  /** At least 1, at most the ceiling. */
  readonly current: () => number;
  readonly sample: (call: LimitSample) => void;
}

export interface LimitSample {
  /** Of the engine's own work, without our queue. */
  readonly durationMs: number;
  /** Calls under way when this one began, itself included. */
  readonly inFlight: number;
  /** `lost`: refused for load, timed out, or past its deadline. `failed` for other reasons says nothing of load. */
  readonly result: 'answered' | 'lost' | 'failed';
}

export interface LimitOptions {
  /** The most it may be now: the fleet's share of this process. */
  readonly ceiling: () => number;
  readonly monotonicMs: () => number;
}

/** No adaptation: the ceiling itself. */
export function createFixedLimit({ ceiling }: Pick<LimitOptions, 'ceiling'>): Limit {
  return { current: () => Math.max(1, Math.floor(ceiling())), sample: () => undefined };
}

/** Calls in a row, seen as one. */
export interface SampleWindow {
  readonly answered: number;
  readonly lost: number;
  /** Geometric mean of the answered: one costly search in twenty moves it by an eighth, a median jumps where two kinds mix. */
  readonly durationMs: number;
  /** Of the logarithms of the answered's durations; 0 when it is not known. */
  readonly variance: number;
  readonly mostInFlight: number;
  readonly meanInFlight: number;
}

export interface SampleWindows {
  /** The window that this call closes, if it does. */
  readonly add: (call: LimitSample) => SampleWindow | undefined;
}

export interface SampleWindowsOptions {
  readonly monotonicMs: () => number;
  /** Calls that make a window, at the least. */
  readonly minCalls: () => number;
}

/** Fast engines need not be judged more often than that, unless so many calls have come. */
const MIN_SPAN_MS = 50;
const MAX_CALLS = 256;
/** Below that it is the clock that is measured. */
const SHORTEST_MS = 0.05;

export function createSampleWindows({ monotonicMs, minCalls }: SampleWindowsOptions): SampleWindows {
  let beganAtMs = monotonicMs();
  let answered = 0;
  let lost = 0;
  let sumOfLogs = 0;
  let sumOfSquares = 0;
  let mostInFlight = 0;
  let sumOfInFlight = 0;

  const restart = (): void => {
    beganAtMs = monotonicMs();
    answered = lost = sumOfLogs = sumOfSquares = mostInFlight = sumOfInFlight = 0;
  };

  return {
    add: ({ durationMs, inFlight, result }) => {
      if (result === 'failed') return undefined;
      if (result === 'lost') lost += 1;
      else {
        answered += 1;
        const log = Math.log(Math.max(SHORTEST_MS, durationMs));
        sumOfLogs += log;
        sumOfSquares += log ** 2;
      }
      mostInFlight = Math.max(mostInFlight, inFlight);
      sumOfInFlight += inFlight;
      const calls = answered + lost;
      const isWhole = calls >= minCalls() && monotonicMs() - beganAtMs >= MIN_SPAN_MS;
      if (!isWhole && calls < MAX_CALLS) return undefined;
      const mean = sumOfLogs / Math.max(1, answered);
      const variance = Math.max(0, sumOfSquares - answered * mean ** 2) / Math.max(1, answered - 1);
      const meanInFlight = sumOfInFlight / calls;
      const closed = { answered, lost, durationMs: Math.exp(mean), variance, mostInFlight, meanInFlight };
      restart();
      return closed;
    },
  };
}
