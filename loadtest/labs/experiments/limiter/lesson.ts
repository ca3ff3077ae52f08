import { durationText, percentText } from '../../../../src/report/format.ts';
import type { Lesson } from '../../kit/finding.ts';
import type { Measured } from './measure.ts';

/** What of a row the lesson is made from. */
export type LimiterRow = Pick<Measured, 'variant' | 'p99Ms' | 'lateShare' | 'limiter' | 'seconds'>;

/** A p99 so many times the right one's is a stall: on a busy machine the same limiter differs by half from run to run. */
const STALL_TIMES = 2;
/** Or so much larger a share of reads that are late: one in a hundred is what a site sees in its engine's load. */
const LATE_SHARE = 0.01;
/** Of the rate: below, nobody can say that the line was full. */
const FREE_SHARE = 0.7;

/** Whether limiters of one rate stall and drop or do not, by their burst alone. */
export function limiterLesson(rows: readonly LimiterRow[]): Lesson {
  const kinds = (['tbf', 'htb'] as const).flatMap((kind) => {
    const right = rows.find(({ variant }) => variant.kind === kind && variant.isRight);
    const wrong = rows.filter(({ variant }) => variant.kind === kind && !variant.isRight);
    const worst = wrong.toSorted((a, b) => badness(b) - badness(a))[0];
    if (right === undefined || worst === undefined) return [];
    const isStalled = worst.p99Ms >= STALL_TIMES * right.p99Ms || worst.lateShare - right.lateShare >= LATE_SHARE;
    return [{ kind, right, worst, isStalled, drops: Math.max(...wrong.map(({ limiter }) => limiter?.drops ?? 0)) }];
  });
  const most = Math.max(0, ...rows.map(usedShare));
  const isFree = most <= FREE_SHARE;
  const stalled = kinds.filter((one) => one.isStalled);
  const dropped = kinds.filter((one) => one.drops > 0);
  const figures = kinds.map(
    ({ kind, right, worst, drops }) =>
      `${kind} p99 ${durationText(right.p99Ms)} and ${percentText(right.lateShare)} late or not asked when right, ${durationText(worst.p99Ms)} and ${percentText(worst.lateShare)} when wrong (${worst.variant.name.replace(`${kind}, `, '')}), ${drops === 0 ? 'without a drop' : `up to ${drops} packets dropped`}`,
  );
  const told = `${figures.join('; ')}; at most ${percentText(most)} of the rate was used`;
  if (stalled.length === 0) {
    return { holds: 'no', sentence: `It does not hold here: a burst that is too small stalled nothing: ${told}.` };
  }
  if (!isFree) return { holds: 'partly', sentence: `Stalls, but the bandwidth was not free: ${told}.` };
  if (stalled.length === kinds.length && dropped.length > 0) {
    return { holds: 'yes', sentence: `It holds here, at one rate and with bandwidth to spare: ${told}.` };
  }
  const missing =
    dropped.length === 0
      ? 'the stalls are there, the drops are not: the queues were long enough'
      : `only ${stalled.map(({ kind }) => kind).join(' and ')} stalled`;
  return { holds: 'partly', sentence: `It holds in part, ${missing}: ${told}.` };
}

/** Late reads first: a p99 beyond the deadline is of those that were still waited for. */
export function badness({ lateShare, p99Ms }: Pick<LimiterRow, 'lateShare' | 'p99Ms'>): number {
  return lateShare * 1e6 + p99Ms;
}

function usedShare({ limiter, seconds }: LimiterRow): number {
  return limiter === undefined ? 0 : limiter.sentBytes / seconds / limiter.rateBytesPerSecond;
}
