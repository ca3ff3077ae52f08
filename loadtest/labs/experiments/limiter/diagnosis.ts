import { disciplinesOf } from '../../../../src/operations/doctor/collect/tc.ts';
import { limitersOf } from '../../../sample/host.ts';

/** A limiter as tc shows it: its settings, and its counters since it was set up. */
type LimiterState = NonNullable<ReturnType<typeof limiterStateOf>>;

/** @param shown `tc -s qdisc show`, then `tc -s class show`. Undefined without a tbf or a class of htb in it. */
export function limiterStateOf(shown: string) {
  const disciplines = disciplinesOf(shown);
  const { rateBits, burstBytes } =
    disciplines.find(({ kind, rateBits: rate }) => isLimiter(kind) && rate !== undefined) ?? {};
  const [outermost] = disciplines;
  if (rateBits === undefined || burstBytes === undefined || outermost === undefined) return undefined;
  return {
    rateBytesPerSecond: rateBits / 8,
    burstBytes,
    sentBytes: outermost.sentBytes,
    ...limitersOf(shown),
  };
}

function isLimiter(kind: string): boolean {
  return kind === 'tbf' || kind === 'htb';
}

/**
 * Ticks a second of the usual Debian and Ubuntu kernel. tc cannot be asked for it: it assumes 10⁹ where timers are fine,
 * and from that comes its burst of 1600 bytes where none is named.
 */
const TICKS_PER_SECOND = 250;
/** Times the smallest burst that works: a burst that only just fits is held back when a second one follows. */
const MARGIN = 4;

/** tc-tbf(8): a bucket must hold at least rate ÷ HZ, else more tokens come with a tick than fit. */
export function leastBurstBytes(rateBytesPerSecond: number): number {
  return rateBytesPerSecond / TICKS_PER_SECOND;
}

/** A burst that is large enough. @param largestBytes the most that is requested at once. */
export function rightBurstBytes(rateBytesPerSecond: number, largestBytes: number): number {
  return Math.ceil(Math.max(MARGIN * leastBurstBytes(rateBytesPerSecond), largestBytes) / 1000) * 1000;
}

/** Figures that are visible outside of the limiter: to the service, to the store, and to tc on the machine that limits. */
export interface Symptoms {
  readonly seconds: number;
  readonly deadlineMs: number;
  readonly p99Ms: number;
  /** Share of all reads without a page within the deadline, or not sent because of those before. */
  readonly lateShare: number;
  /** The most that is requested at once. */
  readonly largestBytes: number;
  readonly store: {
    readonly cores: number;
    /** All new entries of its slowlog together. */
    readonly slowMs: number;
    /** Mean execution time of a read. */
    readonly readMs: number;
  };
  /** TCP segments that were sent again. */
  readonly retransmits: number;
  /** Undefined: no limiter on a machine that is visible here. */
  readonly limiter?: LimiterState;
}

interface Diagnosis {
  /**
   * `burst` and `queue`: the limiter is too small. `full`: its rate is used up. `unseen`: the figures look like a limiter on
   * another machine. `service`: the reading process itself stood still.
   */
  readonly cause: 'nothing' | 'service' | 'burst' | 'queue' | 'full' | 'store' | 'unseen' | 'unknown';
  /** With a burst or a queue that is too small: a burst that is enough. */
  readonly enoughBytes?: number;
}

/** A service notices one late read in a thousand. */
const NOTICED_SHARE = 0.001;
/** Share of the deadline: pages that take half of it are late with the next disturbance. */
const SLOW_SHARE = 0.5;
const FULL = 0.85;
/** More reads than these take longer than a p99. */
const BEYOND_P99 = 0.01;
/** A read during a slow command waits. The slow commands are the cause of this share of the late reads, or of the slowest hundredth. */
const EXPLAINED = 0.5;

/** Tells a limiter that is too small from a slow store and from a line that is full. */
export function diagnose(symptoms: Symptoms): Diagnosis {
  const { limiter, store, deadlineMs, p99Ms, lateShare, largestBytes } = symptoms;
  const isHurt = lateShare >= NOTICED_SHARE || p99Ms >= SLOW_SHARE * deadlineMs;
  const used = usedShare(symptoms);
  // By a clock that runs, a page that comes after the deadline is late.
  if (p99Ms > deadlineMs && lateShare < BEYOND_P99) return { cause: 'service' };
  const isSlow = store.slowMs / 1000 / symptoms.seconds >= EXPLAINED * Math.max(lateShare, BEYOND_P99);
  if (isHurt && (isSlow || store.cores >= FULL)) return { cause: 'store' };
  if (limiter === undefined || used === undefined) {
    if (!isHurt) return { cause: 'nothing' };
    return { cause: symptoms.retransmits === 0 ? 'unknown' : 'unseen' };
  }
  if (isHurt && used >= FULL) return { cause: 'full' };
  const { burstBytes, drops, overlimits, rateBytesPerSecond } = limiter;
  const enoughBytes = rightBurstBytes(rateBytesPerSecond, largestBytes);
  const least = leastBurstBytes(rateBytesPerSecond);
  if (isHurt && drops > 0 && burstBytes >= least) return { cause: 'queue', enoughBytes };
  if (burstBytes < least || (isHurt && overlimits > 0 && burstBytes < largestBytes))
    return { cause: 'burst', enoughBytes };
  return { cause: isHurt ? 'unknown' : 'nothing' };
}

/** Share of the limiter's rate. */
export function usedShare({ limiter, seconds }: Pick<Symptoms, 'limiter' | 'seconds'>): number | undefined {
  return limiter && limiter.sentBytes / seconds / limiter.rateBytesPerSecond;
}
