// @ts-check
// Figures as text, for the reports, the CLI and the console: the browser loads this file as it is.

/** Stands for a value that was not measured. */
export const UNKNOWN = '–';

/** Stands for a value that could not be measured because the load was too small. */
const TOO_LITTLE = 'too little load to say';

/** Keeps a number and its unit on one line. */
export const GAP = '\u00a0';
const HUGE = 1e12;

/**
 * `1,234`
 * @param {number | undefined} value
 */
export function countText(value) {
  return shown(value, (known) => grouped(known, 0));
}

/**
 * `1,234`, `12.3`, `0.53`: for values whose unit is in a title or in the sentence.
 * @param {number | undefined} value
 */
export function amountText(value) {
  return shown(value, significant);
}

/**
 * `1,234/s`, `12.3/s`, `0.53/s`
 * @param {number | undefined} value
 */
export function perSecondText(value) {
  return shown(value, (known) => `${significant(known)}/s`);
}

/**
 * A share 0–1 as `12.3 %`, `5 %`, `0.42 %`. A share near 0 or 1 is never rounded to 0 or 100 %.
 * @param {number | undefined} share
 */
export function percentText(share) {
  return shown(share, (known) => {
    const percent = known * 100;
    if (percent > 0 && percent < 0.01) return `<0.01${GAP}%`;
    if (percent < 100 && percent >= 99.95) return `>99.9${GAP}%`;
    return `${grouped(percent, Math.abs(percent) < 1 ? 2 : 1)}${GAP}%`;
  });
}

/**
 * Percentage points: `1.2 points`.
 * @param {number | undefined} points
 */
export function pointsText(points) {
  return shown(points, (known) => {
    const text = grouped(known, 1);
    return `${text}${GAP}${/^\D?1$/.test(text) ? 'point' : 'points'}`;
  });
}

/**
 * `6.3 ×`, `1,200 ×`
 * @param {number | undefined} factor
 */
export function timesText(factor) {
  return shown(factor, (known) => `${known >= 100 ? grouped(known, 0) : grouped(known, known < 1 ? 2 : 1)}${GAP}×`);
}

/**
 * `1.3–1.6 ×`. Without an upper end `over 20 ×`; undefined is `TOO_LITTLE`.
 * @param {{ readonly low: number, readonly high?: number } | undefined} range
 * @param {(value: number) => string} text
 */
export function rangeText(range, text) {
  if (range === undefined) return TOO_LITTLE;
  const { low, high } = range;
  if (high === undefined) return `over ${text(low)}`;
  if (text(low) === text(high)) return text(low);
  return `${text(low).split(GAP)[0]}–${text(high)}`;
}

/**
 * `1.5 GiB`
 * @param {number | undefined} bytes
 */
export function bytesText(bytes) {
  return shown(bytes, (known) => {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    const power = known < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(known) / 10));
    return `${significant(known / 1024 ** power)}${GAP}${units[power]}`;
  });
}

/**
 * `0.4 ms`, `340 ms`, `5.6 s`, `2 min 05 s`, `1 h 02 min`
 * @param {number | undefined} ms
 */
export function durationText(ms) {
  return shown(ms, (known) => {
    if (known < 999.5) return `${significant(known)}${GAP}ms`;
    if (known < 59_950) return `${grouped(known / 1000, 1)}${GAP}s`;
    const seconds = Math.round(known / 1000);
    if (seconds < 3600) return `${Math.floor(seconds / 60)}${GAP}min${GAP}${two(seconds % 60)}${GAP}s`;
    const minutes = Math.round(seconds / 60);
    return `${grouped(Math.floor(minutes / 60), 0)}${GAP}h${GAP}${two(minutes % 60)}${GAP}min`;
  });
}

/**
 * Two significant digits, three from 10 on, and no decimals from 100 on.
 * @param {number} value
 */
function significant(value) {
  const size = Math.abs(value);
  if (size >= 99.95 || size === 0) return grouped(value, 0);
  if (size >= 1) return grouped(value, 1);
  return size < 0.01 ? '<0.01' : grouped(value, 2);
}

/** By number of decimals. Created once: a new one for each number would take most of the time of a report. */
const FORMATS = { 0: formatOf(0), 1: formatOf(1), 2: formatOf(2) };

/** @param {number} maximumFractionDigits */
function formatOf(maximumFractionDigits) {
  return new Intl.NumberFormat('en-US', { maximumFractionDigits });
}

/**
 * @param {number} value
 * @param {keyof typeof FORMATS} decimals
 */
function grouped(value, decimals) {
  // A finite share times 100 may be infinite.
  if (!Number.isFinite(value)) return UNKNOWN;
  if (Math.abs(value) >= HUGE) return value.toExponential(1);
  const text = FORMATS[decimals].format(value).replace('-', '−');
  return text === '−0' ? '0' : text;
}

/**
 * @param {number | undefined} value
 * @param {(known: number) => string} show
 */
function shown(value, show) {
  return value === undefined || !Number.isFinite(value) ? UNKNOWN : show(value);
}

/** @param {number} value */
function two(value) {
  return String(value).padStart(2, '0');
}

/**
 * Time since the start of a drill: `+0:05.3 min`, `+12:05.3 min`, `+1:02:05.3 h`.
 * @param {number} ms
 */
export function elapsedText(ms) {
  if (!Number.isFinite(ms)) return UNKNOWN;
  const tenths = Math.round(Math.abs(ms) / 100);
  const unit = tenths < 36_000 ? 'min' : 'h';
  return `${ms < 0 && tenths > 0 ? '−' : '+'}${clockText(Math.floor(tenths / 10))}.${tenths % 10}${GAP}${unit}`;
}

/**
 * A running time, to the second: `0:05 min`, `1:02:05 h`.
 * @param {number | undefined} ms
 */
export function stopwatchText(ms) {
  return shown(ms, (known) => {
    const seconds = Math.max(0, Math.floor(known / 1000));
    return `${clockText(seconds)}${GAP}${seconds < 3600 ? 'min' : 'h'}`;
  });
}

/**
 * `0:05`, `12:05`, `1:02:05`: with hours only when there are any.
 * @param {number} seconds
 */
export function clockText(seconds) {
  const whole = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/**
 * Wall time as UTC, `2026-11-21T06:43:48.300Z`: sortable, and suitable for a search in logs.
 * @param {number} wallMs
 */
export function utcText(wallMs) {
  const date = new Date(wallMs);
  return Number.isFinite(date.getTime()) ? date.toISOString() : UNKNOWN;
}
