/** Figures as people read them in a terminal. */

/** 12,345 */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** 0.0012 → 0.12 %; 0.895 → 89.5 % */
export function percent(share: number | undefined): string {
  if (share === undefined) return '–';
  const value = share * 100;
  const digits = value === 0 || Number.isInteger(Number(value.toFixed(6))) ? 0 : value < 1 ? 2 : 1;
  return `${value.toFixed(digits)} %`;
}

export function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, value)) / 10));
  const scaled = value / 1024 ** power;
  return `${power === 0 ? Math.round(scaled) : scaled.toFixed(1)} ${units[power]}`;
}

/** 340 ms, 4.2 s, 3:05 min, 1:03:05 h */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const tail = two(seconds % 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${tail} h` : `${minutes}:${tail} min`;
}

/** Since a start: 0:07 min, 12:40 min. */
export function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`;
}

/** Rates and factors: two digits that mean something. */
export function figure(value: number | undefined): string {
  if (value === undefined) return '–';
  return value < 10 ? value.toFixed(1) : grouped(value);
}

export function milliseconds(value: number | undefined): string {
  return value === undefined ? '–' : value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`;
}

/** `2026-11-21 06:43:48Z` */
export function moment(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** The kind of a drill's verdict: `not measured`. */
export function verdictWords(kind: string): string {
  return kind.replaceAll('-', ' ');
}
