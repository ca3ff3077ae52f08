// Formats of the console alone: ages, and wall times in the reader's own time zone.
import { amountText, countText, stopwatchText, UNKNOWN } from '../../../../report/format.mjs';

const LOCALE = 'en-GB';
const CLOCK = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'medium' });
const DAY = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium' });

/** @param {number | undefined} ms */
export function ago(ms) {
  if (ms === undefined) return UNKNOWN;
  const seconds = Math.max(0, ms) / 1000;
  return seconds < 60 ? `${amountText(Math.round(seconds * 10) / 10)} s ago` : `${stopwatchText(ms)} ago`;
}

/** @param {number | undefined} atMs Wall time. */
export function clockTime(atMs) {
  return isTime(atMs) ? CLOCK.format(atMs) : UNKNOWN;
}

/** @param {number | undefined} atMs Wall time. */
export function dayTime(atMs) {
  return isTime(atMs) ? DAY.format(atMs) : UNKNOWN;
}

/**
 * @param {number | undefined} count
 * @param {string} one
 * @param {string} [many]
 */
export function counted(count, one, many = `${one}s`) {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

/** @param {string} word */
export function capitalized(word) {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/**
 * A date formatter throws for a time outside the calendar.
 * @param {number | undefined} atMs
 * @returns {atMs is number}
 */
function isTime(atMs) {
  return typeof atMs === 'number' && Number.isFinite(new Date(atMs).getTime());
}
