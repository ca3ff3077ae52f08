/** Figures as text, for the reports, the CLI and the console. The browser loads this file too. */

/** Stands for a value that was not measured. */
export const UNKNOWN = '–';

/** Stands for a value that could not be measured because the load was too small. */
const TOO_LITTLE = 'too little load to say';

/** Keeps a number and its unit on one line. */
export const GAP = '\u00a0';
const HUGE = 1e12;

/** `1,234` */
export const countText = shown((value) => grouped(value, 0));

/** `1 page`, `1,234 pages` */
export function plural(count: number | undefined, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

/** `1,234`, `12.3`, `0.53`: for values whose unit is in a title or in the sentence. */
export const amountText = shown(significant);

/** `1,234/s`, `12.3/s`, `0.53/s` */
export const perSecondText = shown((value) => `${significant(value)}/s`);

/** A share 0–1 as `12.3 %`, `5 %`, `0.42 %`. A share near 0 or 1 is never rounded to 0 or 100 %. */
export const percentText = shown((share) => {
  const percent = share * 100;
  if (percent > 0 && percent < 0.01) return `<0.01${GAP}%`;
  if (percent < 100 && percent >= 99.95) return `>99.9${GAP}%`;
  return `${grouped(percent, Math.abs(percent) < 1 ? 2 : 1)}${GAP}%`;
});

/** Percentage points: `1.2 points`. */
export const pointsText = shown((points) => {
  const text = grouped(points, 1);
  return `${text}${GAP}${/^\D?1$/.test(text) ? 'point' : 'points'}`;
});

/** `6.3 ×`, `1,200 ×` */
export const timesText = shown((factor) => `${grouped(factor, factor >= 100 ? 0 : factor < 1 ? 2 : 1)}${GAP}×`);

/** `1.3–1.6 ×`. Without an upper end `over 20 ×`; undefined is `TOO_LITTLE`. */
export function rangeText(
  range: { readonly low: number; readonly high?: number } | undefined,
  text: (value: number) => string,
): string {
  if (range === undefined) return TOO_LITTLE;
  const { low, high } = range;
  if (high === undefined) return `over ${text(low)}`;
  if (text(low) === text(high)) return text(low);
  return `${text(low).split(GAP)[0]}–${text(high)}`;
}

/** `1.5 GiB` */
export const bytesText = shown((bytes) => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${significant(bytes / 1024 ** power)}${GAP}${units[power]}`;
});

/** `0.4 ms`, `340 ms`, `5.6 s`, `2 min 05 s`, `1 h 02 min` */
export const durationText = shown((ms) => {
  if (ms < 999.5) return `${significant(ms)}${GAP}ms`;
  if (ms < 59_950) return `${grouped(ms / 1000, 1)}${GAP}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)}${GAP}min${GAP}${two(seconds % 60)}${GAP}s`;
  const minutes = Math.round(seconds / 60);
  return `${grouped(Math.floor(minutes / 60), 0)}${GAP}h${GAP}${two(minutes % 60)}${GAP}min`;
});

/** Two significant digits, three from 10 on, and no decimals from 100 on. */
function significant(value: number): string {
  const size = Math.abs(value);
  if (size >= 99.95 || size === 0) return grouped(value, 0);
  if (size >= 1) return grouped(value, 1);
  return size < 0.01 ? '<0.01' : grouped(value, 2);
}

/** By number of decimals. Created once: a new one for each number would take most of the time of a report. */
const FORMATS = [0, 1, 2].map((maximumFractionDigits) => new Intl.NumberFormat('en-US', { maximumFractionDigits }));

function grouped(value: number, decimals: 0 | 1 | 2): string {
  // A finite share times 100 may be infinite.
  if (!Number.isFinite(value)) return UNKNOWN;
  if (Math.abs(value) >= HUGE) return value.toExponential(1);
  const text = FORMATS[decimals]?.format(value).replace('-', '−') ?? '';
  return text === '−0' ? '0' : text;
}

function shown(show: (known: number) => string): (value: number | undefined) => string {
  return (value) => (value === undefined || !Number.isFinite(value) ? UNKNOWN : show(value));
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

/** Time since the start of a drill: `+0:05.3 min`, `+12:05.3 min`, `+1:02:05.3 h`. */
export function elapsedText(ms: number): string {
  if (!Number.isFinite(ms)) return UNKNOWN;
  const tenths = Math.round(Math.abs(ms) / 100);
  const unit = tenths < 36_000 ? 'min' : 'h';
  return `${ms < 0 && tenths > 0 ? '−' : '+'}${clockText(Math.floor(tenths / 10))}.${tenths % 10}${GAP}${unit}`;
}

/** A running time, to the second: `0:05 min`, `1:02:05 h`. */
export const stopwatchText = shown((ms) => {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${clockText(seconds)}${GAP}${seconds < 3600 ? 'min' : 'h'}`;
});

/** `0:05`, `12:05`, `1:02:05`: with hours only when there are any. */
export function clockText(seconds: number): string {
  const whole = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** Wall time as UTC, `2026-11-21T06:43:48.300Z`: sortable, and suitable for a search in logs. */
export function utcText(wallMs: number): string {
  const date = new Date(wallMs);
  return Number.isFinite(date.getTime()) ? date.toISOString() : UNKNOWN;
}
