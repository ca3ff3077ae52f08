import {
  amountText,
  bytesText,
  countText,
  durationText,
  percentText,
  perSecondText,
  timesText,
  UNKNOWN,
} from '../../../src/report/format.ts';
import type { Unit } from './finding.ts';

/** One value of a table or an axis, with its unit. */
export function valueText(value: number | string | undefined, unit: Unit): string {
  if (typeof value === 'string') return value;
  switch (unit) {
    case 'per-second':
      return perSecondText(value);
    case 'bytes-per-second':
      return value === undefined ? UNKNOWN : `${bytesText(value)}/s`;
    case 'ms':
      return durationText(value);
    case 'us':
      return value === undefined ? UNKNOWN : `${amountText(value)}\u00a0µs`;
    case 'seconds':
      return durationText(value === undefined ? undefined : value * 1000);
    case 'bytes':
      return bytesText(value);
    case 'count':
      return countText(value);
    case 'share':
      return percentText(value);
    case 'times':
      return timesText(value);
    case 'cores':
    case 'text':
      return amountText(value);
  }
}
