import { GAP, UNKNOWN } from './number-text.ts';

/** Since the start of the drill: `+0:05.3 min`, `+12:05.3 min`, `+1:02:05.3 h`. */
export function elapsedText(ms: number): string {
  if (!Number.isFinite(ms)) return UNKNOWN;
  const tenths = Math.round(Math.abs(ms) / 100);
  const unit = tenths < 36_000 ? 'min' : 'h';
  return `${ms < 0 && tenths > 0 ? '−' : '+'}${clockText(Math.floor(tenths / 10))}.${tenths % 10}${GAP}${unit}`;
}

/** `0:05`, `12:05`, `1:02:05`: hours only where there are some. */
export function clockText(seconds: number): string {
  const whole = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const [m, s] = [String(minutes), String(whole % 60).padStart(2, '0')];
  return hours > 0 ? `${hours}:${m.padStart(2, '0')}:${s}` : `${m}:${s}`;
}

/** Wall time as UTC, `2026-11-21T06:43:48.300Z`: sorts, and can be pasted into any log search. */
export function utcText(wallMs: number): string {
  const date = new Date(wallMs);
  return Number.isFinite(date.getTime()) ? date.toISOString() : UNKNOWN;
}
