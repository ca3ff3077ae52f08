// Formats of the console alone: ages, and wall times in the reader's own time zone.
import { amountText, countText, stopwatchText, UNKNOWN } from '../../../../report/format.ts';

const LOCALE = 'en-GB';
const CLOCK = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'medium' });
const MINUTE = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'short' });
const DAY = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium' });

export function ago(ms: number | undefined) {
  if (ms === undefined) return UNKNOWN;
  const seconds = Math.max(0, ms) / 1000;
  return seconds < 60 ? `${amountText(Math.round(seconds * 10) / 10)} s ago` : `${stopwatchText(ms)} ago`;
}

/** @param atMs Wall time. */
export function clockTime(atMs: number | undefined) {
  return isTime(atMs) ? CLOCK.format(atMs) : UNKNOWN;
}

/** @param atMs Wall time. */
export function minuteTime(atMs: number) {
  return MINUTE.format(atMs);
}

/** @param atMs Wall time. */
export function dayTime(atMs: number | undefined) {
  return isTime(atMs) ? DAY.format(atMs) : UNKNOWN;
}

export function counted(count: number | undefined, one: string, many: string = `${one}s`) {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

/** A date formatter throws for a time outside the calendar. */
function isTime(atMs: number | undefined): atMs is number {
  return typeof atMs === 'number' && Number.isFinite(new Date(atMs).getTime());
}
