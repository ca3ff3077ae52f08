/** Stands for a value that was not measured. */
export const UNKNOWN = '–';

/** Stands for a value that could not be measured because the load was too small. */
const TOO_LITTLE = 'too little load to say';

/** Keeps a number and its unit on one line. */
export const GAP = '\u00a0';
const HUGE = 1e12;

/** `1,234` */
export function countText(value: number | undefined): string {
  return shown(value, (known) => grouped(known, 0));
}

/** `1,234`, `12.3`, `0.53`: for values whose unit is in a title or in the sentence. */
export function amountText(value: number | undefined): string {
  return shown(value, significant);
}

/** `1,234/s`, `12.3/s`, `0.53/s` */
export function perSecondText(value: number | undefined): string {
  return shown(value, (known) => `${significant(known)}/s`);
}

/** A share 0–1 as `12.3 %`, `5 %`, `0.42 %`. A share near 0 or 1 is never rounded to 0 or 100 %. */
export function percentText(share: number | undefined): string {
  return shown(share, (known) => {
    const percent = known * 100;
    if (percent > 0 && percent < 0.01) return `<0.01${GAP}%`;
    if (percent < 100 && percent >= 99.95) return `>99.9${GAP}%`;
    return `${grouped(percent, Math.abs(percent) < 1 ? 2 : 1)}${GAP}%`;
  });
}

/** Percentage points: `1.2 points`. */
export function pointsText(points: number | undefined): string {
  return shown(points, (known) => {
    const text = grouped(known, 1);
    return `${text}${GAP}${/^\D?1$/.test(text) ? 'point' : 'points'}`;
  });
}

/** `6.3 ×`, `1,200 ×` */
export function timesText(factor: number | undefined): string {
  return shown(factor, (known) => `${known >= 100 ? grouped(known, 0) : grouped(known, known < 1 ? 2 : 1)}${GAP}×`);
}

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
export function bytesText(bytes: number | undefined): string {
  return shown(bytes, (known) => {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    const power = known < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(known) / 10));
    return `${significant(known / 1024 ** power)}${GAP}${units[power]}`;
  });
}

/** `0.4 ms`, `340 ms`, `5.6 s`, `2 min 05 s`, `1 h 02 min` */
export function durationText(ms: number | undefined): string {
  return shown(ms, (known) => {
    if (known < 999.5) return `${significant(known)}${GAP}ms`;
    if (known < 59_950) return `${grouped(known / 1000, 1)}${GAP}s`;
    const seconds = Math.round(known / 1000);
    if (seconds < 3600) return `${Math.floor(seconds / 60)}${GAP}min${GAP}${two(seconds % 60)}${GAP}s`;
    const minutes = Math.round(seconds / 60);
    return `${grouped(Math.floor(minutes / 60), 0)}${GAP}h${GAP}${two(minutes % 60)}${GAP}min`;
  });
}

/** Two significant digits, three from 10 on, and no decimals from 100 on. */
function significant(value: number): string {
  const size = Math.abs(value);
  if (size >= 99.95 || size === 0) return grouped(value, 0);
  if (size >= 1) return grouped(value, 1);
  return size < 0.01 ? '<0.01' : grouped(value, 2);
}

/** By number of decimals. Created once: a new one for each number would take most of the time of a report. */
const FORMATS = { 0: formatOf(0), 1: formatOf(1), 2: formatOf(2) };

function formatOf(maximumFractionDigits: number): Intl.NumberFormat {
  return new Intl.NumberFormat('en-US', { maximumFractionDigits });
}

function grouped(value: number, decimals: keyof typeof FORMATS): string {
  // A finite share times 100 may be infinite.
  if (!Number.isFinite(value)) return UNKNOWN;
  if (Math.abs(value) >= HUGE) return value.toExponential(1);
  const text = FORMATS[decimals].format(value).replace('-', '−');
  return text === '−0' ? '0' : text;
}

function shown(value: number | undefined, show: (known: number) => string): string {
  return value === undefined || !Number.isFinite(value) ? UNKNOWN : show(value);
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

/** `0:05`, `12:05`, `1:02:05`: with hours only when there are any. */
export function clockText(seconds: number): string {
  const whole = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const [m, s] = [String(minutes), String(whole % 60).padStart(2, '0')];
  return hours > 0 ? `${hours}:${m.padStart(2, '0')}:${s}` : `${m}:${s}`;
}

/** Wall time as UTC, `2026-11-21T06:43:48.300Z`: sortable, and suitable for a search in logs. */
export function utcText(wallMs: number): string {
  const date = new Date(wallMs);
  return Number.isFinite(date.getTime()) ? date.toISOString() : UNKNOWN;
}
