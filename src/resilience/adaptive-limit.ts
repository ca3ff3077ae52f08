/**
 * The maximum number of concurrent calls that an engine can take, learned from the durations of calls. It is never
 * above the configured limit. The guard gives it samples, and the concurrency limiter reads it.
 */
export interface LearnedLimit {
  /** At least 1, at most the ceiling. */
  readonly current: () => number;
  readonly sample: (call: LimitSample) => void;
}

export interface LimitSample {
  /** Duration of the engine's own work, without our queue. */
  readonly durationMs: number;
  /** Calls in flight when this one began, itself included. */
  readonly inFlight: number;
  /** `lost`: refused for load, timed out, or past its deadline. `failed`: another error, which says nothing about load. */
  readonly result: 'answered' | 'lost' | 'failed';
}

interface LimitOptions {
  /** The maximum of the limit now: this process's share of the fleet's. */
  readonly ceiling: () => number;
  readonly monotonicMs: () => number;
  /** `gradient`: spreads the probes of the base, so that processes do not probe in step. */
  readonly random: () => number;
  /** `aimd`: an answer that took longer counts as lost: the client that waited for it has hardly any time left. */
  readonly slowMs: number;
}

/** No adaptation: the ceiling itself. */
export function createFixedLimit({ ceiling }: Pick<LimitOptions, 'ceiling'>): LearnedLimit {
  return { current: () => Math.max(1, Math.floor(ceiling())), sample: () => undefined };
}

/** Low enough to measure a base before the engine is loaded. Four windows raise it to the default ceiling of 8. */
const START = 4;

/** A larger share of lost calls in a window shows too many calls at once. A few costly searches stay below it. */
const AIMD_TOLERATED_LOSS = 0.2;
const AIMD_DECREASE = 0.8;

/**
 * Additive increase, multiplicative decrease: one more per window without losses while the limit is used, a fifth less
 * per window with losses. It finds the engine's capacity by exceeding it.
 */
export function createAimdLimit({ ceiling, monotonicMs, slowMs }: Omit<LimitOptions, 'random'>): LearnedLimit {
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
      const isUsed = window.maxInFlight >= Math.floor(bounded(limit));
      limit = bounded(isOver ? limit * AIMD_DECREASE : isUsed ? limit + 1 : limit);
    },
  };
}

/** Minimum number of calls in a window: without it, two calls would decide at a limit of 1. */
const MIN_CALLS = 6;
/** A latency up to this multiple of the base shows no queue, only a different mix of searches. */
const TOLERANCE = 1.25;
/** Lowest factor by which one window multiplies the limit. */
const STEEPEST = 0.5;
/** More lost calls show a failing engine, and nothing about its latency. Costly searches stay below it. */
const TOLERATED_LOSS = 0.25;
const LOSS_FACTOR = 0.75;
/**
 * A base is remembered for one to two epochs, each spread by ± a quarter. The first epoch is short, because it began
 * without a base. Each probe that confirms the base doubles the next epoch, because under load a probe costs the engine
 * most of a second.
 */
const FIRST_EPOCH_MS = 1000;
const SHORTEST_EPOCH_MS = 10_000;
const LONGEST_EPOCH_MS = 60_000;
/** A probe uses the limit divided by this: with 2 and a limit of 4, an engine for one call never shows its base. */
const PROBE_DIVISOR = 3;
/** Share of the limit in use from which a probe is needed. Below it all searches find slots; a probe sheds some. */
const FULL = 0.9;
/** Share of its old value at which the limit counts as halved: a limit that falls from 4 reaches 2 only at the end. */
const HALVED = 0.6;
/** When half the limit, or a third, leaves more than this share of the latency, our calls do not wait for each other. */
const UNMOVED = 0.75;
/** Maximum of a probe, in base latencies: it may wait for calls that take seconds, and no call can start meanwhile. */
const PROBE_MAX_BASES = 10;
const SHORTEST_PROBE_MS = 100;
const LONGEST_PROBE_BASE_MS = 500;
/** EWMA weight of the newest window's variance. */
const VARIANCE_WEIGHT = 0.1;

/**
 * The limit follows base ÷ latency, plus some room to grow (ideas: TCP Vegas, Netflix's Gradient2, Envoy's gradient
 * controller). The base is the shortest latency of the last epochs. Two rules protect it from errors. An epoch under
 * load ends with a probe, one window at a third of the limit, so that a queue inside the engine is never mistaken for
 * the engine's own latency. When half the limit leaves the latency unchanged, the engine itself has become slower, and
 * that latency becomes the base at once.
 *
 * Each latency is corrected by the standard error of its window. Without the correction the base is the shortest of
 * many windows, by chance: an engine with room for eight calls and a long tail (p99 = 8 × median) got a limit of two,
 * and gave a third of its throughput.
 */
export function createGradientLimit({ ceiling, monotonicMs, random }: Omit<LimitOptions, 'slowMs'>): LearnedLimit {
  let limit = START;
  let probeEndsAtMs: number | undefined;
  let baseMs = Number.POSITIVE_INFINITY;
  let olderBaseMs = Number.POSITIVE_INFINITY;
  let variance: number | undefined;
  /** Limit and latency when the limit began to fall. */
  let fall: { readonly limit: number; readonly durationMs: number } | undefined;
  let epochMs = 0;
  let epochEndsAtMs = 0;

  const bounded = (wanted: number): number => Math.max(1, Math.min(wanted, ceiling()));
  const knownMs = (): number => Math.min(baseMs, olderBaseMs);

  const beginEpoch = (lengthMs: number): void => {
    epochMs = lengthMs;
    epochEndsAtMs = monotonicMs() + epochMs * (0.75 + 0.5 * random());
    olderBaseMs = baseMs;
    baseMs = Number.POSITIVE_INFINITY;
  };

  const isProbe = (): boolean => probeEndsAtMs !== undefined;
  const beginProbe = (): void => {
    const baseForProbeMs = Math.min(knownMs(), LONGEST_PROBE_BASE_MS);
    probeEndsAtMs = monotonicMs() + Math.max(SHORTEST_PROBE_MS, PROBE_MAX_BASES * baseForProbeMs);
  };
  const endLateProbe = (): void => {
    if (probeEndsAtMs === undefined || monotonicMs() < probeEndsAtMs) return;
    probeEndsAtMs = undefined;
    const known = knownMs();
    beginEpoch(SHORTEST_EPOCH_MS);
    // The probe ended without a result, so the known base is kept.
    baseMs = known;
  };

  const current = (): number => {
    endLateProbe();
    return Math.floor(bounded(isProbe() ? limit / PROBE_DIVISOR : limit));
  };
  const windows = createSampleWindows({ monotonicMs, minCalls: () => Math.max(MIN_CALLS, 2 * current()) });

  /** The standard error of the window's latency, as a factor. */
  const errorFactor = ({ answered }: SampleWindow): number =>
    Math.exp(Math.sqrt((variance ?? 0) / Math.max(1, answered)));

  /** After the limit has been halved: takes the latency as the base if it did not fall with the limit. */
  const relearnBase = ({ durationMs, maxInFlight }: SampleWindow): void => {
    if (fall === undefined || Math.floor(limit) > Math.max(1, HALVED * Math.floor(fall.limit)) || maxInFlight > limit)
      return;
    if (durationMs > UNMOVED * fall.durationMs) baseMs = olderBaseMs = durationMs;
    fall = undefined;
  };

  const follow = (window: SampleWindow): void => {
    const { durationMs, maxInFlight } = window;
    const certainMs = durationMs / errorFactor(window);
    const gradient = Math.max(STEEPEST, Math.min(1, (TOLERANCE * knownMs()) / certainMs));
    const wanted = limit * gradient + Math.max(1, Math.sqrt(limit) / 2);
    if (wanted >= limit) {
      fall = undefined;
      // A limit that is not used up says nothing about a higher one.
      if (maxInFlight < Math.floor(bounded(limit))) return;
    } else fall ??= { limit, durationMs };
    limit = bounded(wanted);
  };

  const learn = (window: SampleWindow): void => {
    const wasProbe = isProbe();
    probeEndsAtMs = undefined;
    if (window.lost > TOLERATED_LOSS * (window.lost + window.answered)) {
      // Losses at a third of the limit are not caused by the limit.
      if (wasProbe) beginEpoch(SHORTEST_EPOCH_MS);
      else limit = bounded(limit * LOSS_FACTOR);
      return;
    }
    variance = variance === undefined ? window.variance : variance + VARIANCE_WEIGHT * (window.variance - variance);
    // The shortest of many windows is also short by chance, by about two standard errors. A probe is one window of one
    // or two, so one standard error is enough.
    const windowMs = window.durationMs * errorFactor(window) ** (wasProbe ? 1 : 2);
    if (wasProbe) {
      const isConfirmed = windowMs > UNMOVED * knownMs();
      const nextMs = isConfirmed
        ? Math.min(LONGEST_EPOCH_MS, Math.max(SHORTEST_EPOCH_MS, 2 * epochMs))
        : SHORTEST_EPOCH_MS;
      beginEpoch(nextMs);
      baseMs = windowMs;
      return;
    }
    baseMs = Math.min(baseMs, windowMs);
    relearnBase(window);
    if (monotonicMs() < epochEndsAtMs) follow(window);
    else if (window.meanInFlight >= FULL * current()) beginProbe();
    else beginEpoch(SHORTEST_EPOCH_MS);
  };

  beginEpoch(FIRST_EPOCH_MS);
  return {
    current,
    sample: (call) => {
      // A call that began among more calls than the probe allows says nothing about the probe.
      if (isProbe() && call.inFlight > current()) return;
      const window = windows.add(call);
      if (window !== undefined) learn(window);
    },
  };
}

type SampleWindow = NonNullable<ReturnType<ReturnType<typeof createSampleWindows>['add']>>;

/** A window of a fast engine lasts at least this, unless it reaches the maximum of calls. */
const MIN_SPAN_MS = 50;
const MAX_CALLS = 256;
/** A shorter duration only measures the resolution of the clock. */
const SHORTEST_MS = 0.05;

/**
 * `add` returns the window that the call closes, if it does. `durationMs`: the geometric mean of answered calls, because one
 * costly search in twenty moves it by an eighth, while a median jumps between two kinds of searches. `variance`: of the logarithms
 * of these durations; 0 when it is not known.
 */
function createSampleWindows({ monotonicMs, minCalls }: Record<'monotonicMs' | 'minCalls', () => number>) {
  let beganAtMs = monotonicMs();
  let answered = 0;
  let lost = 0;
  let sumOfLogs = 0;
  let sumOfSquares = 0;
  let maxInFlight = 0;
  let sumOfInFlight = 0;

  const restart = (): void => {
    beganAtMs = monotonicMs();
    answered = lost = sumOfLogs = sumOfSquares = maxInFlight = sumOfInFlight = 0;
  };

  return {
    add: ({ durationMs, inFlight, result }: LimitSample) => {
      if (result === 'failed') return undefined;
      if (result === 'lost') lost += 1;
      else {
        answered += 1;
        const log = Math.log(Math.max(SHORTEST_MS, durationMs));
        sumOfLogs += log;
        sumOfSquares += log ** 2;
      }
      maxInFlight = Math.max(maxInFlight, inFlight);
      sumOfInFlight += inFlight;
      const calls = answered + lost;
      const isWhole = calls >= minCalls() && monotonicMs() - beganAtMs >= MIN_SPAN_MS;
      if (!isWhole && calls < MAX_CALLS) return undefined;
      const mean = sumOfLogs / Math.max(1, answered);
      const variance = Math.max(0, sumOfSquares - answered * mean ** 2) / Math.max(1, answered - 1);
      const meanInFlight = sumOfInFlight / calls;
      const closed = { answered, lost, durationMs: Math.exp(mean), variance, maxInFlight, meanInFlight };
      restart();
      return closed;
    },
  };
}

export interface ConcurrencyBoundOptions extends Omit<LimitOptions, 'ceiling'> {
  readonly kind: 'fixed' | 'aimd' | 'gradient';
  /** Maximum of concurrent calls of the fleet. */
  readonly maxConcurrent: number;
  /** This process's share of a number that the fleet shares. */
  readonly fleetShare: (total: number) => number;
  /** Share of the endpoints that takes calls: a server takes half the load with half of its endpoints. */
  readonly availableShare: () => number;
}

const SLOW_START_FROM = 0.1;
/** Longer than the breaker's window, so that an engine that still fails is noticed before it gets the whole load. */
const SLOW_START_MS = 5000;

/** The bounds of the concurrent calls to one engine. */
export function createConcurrencyBound(options: ConcurrencyBoundOptions) {
  const { kind, maxConcurrent, fleetShare, availableShare, monotonicMs } = options;
  /** Maximum of calls at once that this process may make while the engine is well. */
  const ceiling = (): number => fleetShare(maxConcurrent * availableShare());
  const limit = LIMITS[kind]({ ...options, ceiling });
  let startedAtMs = Number.NEGATIVE_INFINITY;
  /** 0.1–1; 1 before the first restart. */
  const startFactor = (): number => {
    const passed = Math.max(0, (monotonicMs() - startedAtMs) / SLOW_START_MS);
    return Math.min(1, SLOW_START_FROM + (1 - SLOW_START_FROM) * passed);
  };
  return {
    limit,
    ceiling,
    /** Maximum of calls at once now: as learned, within the ceiling and the slow start. At least 1. */
    max: (): number => Math.max(1, Math.min(limit.current(), Math.floor(ceiling() * startFactor()))),
    /**
     * Begins a slow start, because the engine has come back: the maximum rises from a tenth of the ceiling, so that waiting
     * searches do not overload the engine again.
     */
    restart: (): void => {
      startedAtMs = monotonicMs();
    },
    isStarting: (): boolean => startFactor() < 1,
  };
}

const LIMITS = { fixed: createFixedLimit, aimd: createAimdLimit, gradient: createGradientLimit };
