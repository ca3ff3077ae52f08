/** Shown for a value that is not known, which is neither zero nor blank. */
export const UNKNOWN = '–';

const LOCALE = 'en-GB';
const PLAIN = [0, 1, 2].map(
  (digits) => new Intl.NumberFormat(LOCALE, { maximumFractionDigits: digits, minimumFractionDigits: digits }),
);
const CLOCK = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'medium' });
const DAY = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium' });

/**
 * @param {number | undefined} value
 * @param {0 | 1 | 2} [digits]
 */
export function number(value, digits = 0) {
  return value === undefined || !Number.isFinite(value) ? UNKNOWN : (PLAIN[digits]?.format(value) ?? UNKNOWN);
}

/**
 * A rate: without decimals from 10 on, with one decimal below 10, so that 0.4 is not shown as 0.
 * @param {number | undefined} perSecond
 */
export function rate(perSecond) {
  return number(perSecond, perSecond !== undefined && perSecond < 10 && perSecond > 0 ? 1 : 0);
}

/** @param {number | undefined} share 0–1 */
export function percent(share) {
  if (share === undefined) return UNKNOWN;
  // 99.96 % must not be shown as 100 %, nor 0.04 % as 0 %.
  const value = share * 100;
  if (share > 0 && share < 1 && (value < 0.05 || value >= 99.95)) return value < 1 ? '< 0.1 %' : '> 99.9 %';
  return `${number(value, share === 0 || share === 1 ? 0 : 1)} %`;
}

/** @param {number | undefined} share 0–1, as the plan has it. */
export function plannedPercent(share) {
  return share === undefined ? UNKNOWN : `${Number((share * 100).toFixed(2))} %`;
}

/** @param {number | undefined} ms */
export function duration(ms) {
  if (ms === undefined) return UNKNOWN;
  if (ms < 1) return `${number(ms, 2)} ms`;
  if (ms < 1000) return `${number(ms, ms < 10 ? 1 : 0)} ms`;
  return ms < 60_000 ? `${number(ms / 1000, ms < 10_000 && ms % 1000 !== 0 ? 1 : 0)} s` : stopwatch(ms);
}

/** @param {number | undefined} ms As `3:07 min`, or `1:02:11 h`. */
export function stopwatch(ms) {
  if (ms === undefined) return UNKNOWN;
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const tail = `${String(m).padStart(h > 0 ? 2 : 1, '0')}:${String(s).padStart(2, '0')}`;
  return h > 0 ? `${h}:${tail} h` : `${tail} min`;
}

/** @param {number | undefined} ms */
export function ago(ms) {
  if (ms === undefined) return UNKNOWN;
  return ms < 10_000
    ? `${number(Math.max(0, ms) / 1000, 1)} s ago`
    : ms < 60_000
      ? `${number(ms / 1000)} s ago`
      : `${stopwatch(ms)} ago`;
}

/** @param {number | undefined} value */
export function bytes(value) {
  if (value === undefined) return UNKNOWN;
  if (value < 1024) return `${value} B`;
  const steps = ['KiB', 'MiB', 'GiB', 'TiB'];
  const step = Math.min(steps.length, Math.floor(Math.log2(value) / 10));
  const scaled = value / 1024 ** step;
  return `${number(scaled, scaled < 10 ? 1 : 0)} ${steps[step - 1]}`;
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
  return `${number(count)} ${count === 1 ? one : many}`;
}

/**
 * Both ends, as in the report. Without an upper end it is `over` the lower one; without a range, too little was measured.
 * @param {import('../../../../operations/drills/journal.ts').Range | undefined} range
 * @param {(value: number) => string} text
 */
export function rangeText(range, text) {
  if (range === undefined) return 'too little load to say';
  const { low, high } = range;
  if (high === undefined) return `over ${text(low)}`;
  return text(low) === text(high) ? text(low) : `${text(low).split(/\s/)[0]}–${text(high)}`;
}

/** @param {number | undefined} factor */
export function times(factor) {
  const text = number(factor, factor !== undefined && Number.isInteger(factor) ? 0 : 1);
  return text === UNKNOWN ? text : `${text} ×`;
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
