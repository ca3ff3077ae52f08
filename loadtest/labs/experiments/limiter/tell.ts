import { durationText, percentText } from '../../../../src/report/format.ts';
import type { LimiterState } from './limiter-state.ts';
import { leastBurstBytes, rightBurstBytes } from './variants.ts';

/** What can be seen from outside of the limiter: by the service, by the store, and by tc on the machine that limits. */
export interface Symptoms {
  readonly seconds: number;
  readonly deadlineMs: number;
  readonly p99Ms: number;
  /** Of all reads: no page within the deadline, or not even asked because of those before. */
  readonly lateShare: number;
  /** The most that was asked for at once. */
  readonly largestBytes: number;
  readonly store: {
    readonly cores: number;
    /** All new entries of its slowlog together. */
    readonly slowMs: number;
    /** Mean time it spent on a read. */
    readonly readMs: number;
  };
  /** TCP segments that were sent again. */
  readonly retransmits: number;
  /** Undefined: no limiter on a machine that we may look at. */
  readonly limiter?: LimiterState;
}

export interface Told {
  /**
   * `burst` and `queue`: the limiter is too small. `full`: its rate is. `unseen`: it looks like one that is elsewhere.
   * `service`: whoever asked stood still.
   */
  readonly cause: 'nothing' | 'service' | 'burst' | 'queue' | 'full' | 'store' | 'unseen' | 'unknown';
  readonly sentence: string;
}

/** One late read in a thousand is what a service notices. */
const NOTICED_SHARE = 0.001;
/** Of the deadline: pages that take half of it are late with the next thing that goes wrong. */
const SLOW_SHARE = 0.5;
const FULL = 0.85;
/** More of them take longer than a p99. */
const BEYOND_P99 = 0.01;
/** Whoever asks during a slow command waits: of so much of what is late, or of the slowest hundredth, it is the cause. */
const EXPLAINED = 0.5;

/** How a doctor could tell a limiter that is too small, from a store that is slow and from a line that is full. */
export function tellLimiter(symptoms: Symptoms): Told {
  const { limiter, store, deadlineMs, p99Ms, lateShare, retransmits, largestBytes } = symptoms;
  const isHurt = lateShare >= NOTICED_SHARE || p99Ms >= SLOW_SHARE * deadlineMs;
  const seen = `${percentText(lateShare)} of reads late or not asked, p99 ${durationText(p99Ms)} of ${durationText(deadlineMs)}`;
  if (p99Ms > deadlineMs && lateShare < BEYOND_P99) {
    const sentence = `the service itself stood still: ${seen}, and what comes later than that would be late by a clock that runs`;
    return { cause: 'service', sentence };
  }
  const slowShare = store.slowMs / 1000 / symptoms.seconds;
  const isSlow = slowShare >= EXPLAINED * Math.max(lateShare, 0.01);
  if (isHurt && (isSlow || store.cores >= FULL)) {
    const why = isSlow
      ? `its slowlog fills ${percentText(slowShare)} of the time`
      : `its core is ${percentText(store.cores)} busy`;
    return { cause: 'store', sentence: `the store itself is slow: ${seen}, and ${why}` };
  }
  const slowlog = store.slowMs === 0 ? 'is empty' : `fills only ${percentText(slowShare)} of the time`;
  const isStoreIdle = `while the store takes ${microseconds(store.readMs)} for a read, its slowlog ${slowlog} and its core is ${percentText(store.cores)} busy`;
  if (limiter === undefined) {
    if (!isHurt) return { cause: 'nothing', sentence: `nothing to find: ${seen}` };
    if (retransmits === 0)
      return { cause: 'unknown', sentence: `no limiter here and nothing sent twice: ${seen}, ${isStoreIdle}` };
    const sentence = `it looks like a limiter on the way, on none of these machines: ${seen}, ${retransmits} segments sent again, ${isStoreIdle}; ask for its rate, burst and queue`;
    return { cause: 'unseen', sentence };
  }
  const used = limiter.sentBytes / symptoms.seconds / limiter.rateBytesPerSecond;
  const counted = `${limiter.drops} packets dropped and ${limiter.overlimits} times held back at ${percentText(used)} of the rate`;
  if (isHurt && used >= FULL) {
    return { cause: 'full', sentence: `the limiter's rate is used up (${percentText(used)}): ${seen}; raise the rate` };
  }
  const enough = rightBurstBytes(limiter.rateBytesPerSecond, largestBytes);
  const least = leastBurstBytes(limiter.rateBytesPerSecond);
  const isSmall = limiter.burstBytes < least || (isHurt && limiter.overlimits > 0 && limiter.burstBytes < largestBytes);
  if (isHurt && limiter.drops > 0 && limiter.burstBytes >= least) {
    const sentence = `a limiter whose queue is too short: ${seen}, ${counted}, ${isStoreIdle}; raise burst and queue to at least ${kilobytes(enough)}`;
    return { cause: 'queue', sentence };
  }
  if (isSmall) {
    const harm = isHurt ? `${seen}, ${counted}, ${isStoreIdle}` : `${counted}; no read was late yet`;
    const queue = limiter.drops > 0 ? ' and its queue as well' : '';
    const sentence = `a limiter that is too small: ${harm}; raise burst from ${limiter.burstBytes} to at least ${enough} bytes${queue}`;
    return { cause: 'burst', sentence };
  }
  if (!isHurt) return { cause: 'nothing', sentence: `nothing to find: ${seen}, ${counted}` };
  return { cause: 'unknown', sentence: `not the limiter, whose burst is enough: ${seen}, ${counted}, ${isStoreIdle}` };
}

function microseconds(ms: number): string {
  return `${Math.round(ms * 1000)} µs`;
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1000)} KB`;
}
