/** Largest first, so that a value is shown in the largest unit that holds it whole. */
const UNITS: readonly (readonly [suffix: string, ms: number])[] = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
];

/** Milliseconds of `500ms`, `1.5s`, `5m`, `1h`; undefined for anything else, fractions of a millisecond included. */
export function parseDuration(text: string): number | undefined {
  const [, digits, suffix] = /^([0-9]{1,9}(?:\.[0-9]{1,3})?)(ms|s|m|h)$/.exec(text) ?? [];
  const unit = UNITS.find(([name]) => name === suffix)?.[1];
  if (digits === undefined || unit === undefined) return undefined;
  const exact = Number(digits) * unit;
  const whole = Math.round(exact);
  // 1.001s is 1000.9999999999999 ms in floating point, yet a whole millisecond.
  return Math.abs(exact - whole) < 1e-3 ? whole : undefined;
}

/** The shortest exact text: 90 000 → `90s`. Whole milliseconds only. */
export function formatDuration(ms: number): string {
  const [suffix, unit] = UNITS.find(([, each]) => ms > 0 && ms % each === 0) ?? ['s', 1000];
  return `${ms / unit}${suffix}`;
}
