import { limitersOf } from '../../../sample/host.ts';

/** A limiter as tc shows it: how it is set, and what it has done since it was set so. */
export interface LimiterState {
  readonly rateBytesPerSecond: number;
  /** The smaller one where there are two: it is the one that holds back. */
  readonly burstBytes: number;
  readonly sentBytes: number;
  readonly drops: number;
  readonly overlimits: number;
}

/** @param shown `tc -s qdisc show`, then `tc -s class show`. Undefined without a tbf or a class of htb in it. */
export function limiterStateOf(shown: string): LimiterState | undefined {
  const [, settings] = /^qdisc tbf .*? (rate .*)$/m.exec(shown) ?? /^class htb .*? (rate .*)$/m.exec(shown) ?? [];
  if (settings === undefined) return undefined;
  const bursts = [...settings.matchAll(/\bc?burst ([\d.]+)([KMG]?)b/g)].map(
    ([, number, unit = '']) => Number(number) * (SIZES[unit] ?? 1),
  );
  const rates = [...settings.matchAll(/\b(?:rate|ceil) ([\d.]+)([KMG]?)bit/g)].map(
    ([, number, unit = '']) => (Number(number) * (RATES[unit] ?? 1)) / 8,
  );
  const sent = /^ +Sent (\d+) bytes/m.exec(shown)?.[1];
  if (bursts.length === 0 || rates.length === 0 || sent === undefined) return undefined;
  return {
    // A class may borrow up to its ceiling.
    rateBytesPerSecond: Math.max(...rates),
    burstBytes: Math.min(...bursts),
    sentBytes: Number(sent),
    ...limitersOf(shown),
  };
}

/** tc counts sizes by 1024 and rates by 1000. */
const SIZES: Readonly<Record<string, number>> = { K: 1024, M: 1024 ** 2, G: 1024 ** 3 };
const RATES: Readonly<Record<string, number>> = { K: 1e3, M: 1e6, G: 1e9 };
