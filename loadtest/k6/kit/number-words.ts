// The engine of k6 1.8.1 takes the options of toLocaleString for a radix and throws, so that nothing of
// src/report/format.ts can be used here.

/** Keeps a number and its unit on one line. */
const GAP = '\u00a0';

/** `1,234`, `12.5`: at most so many decimals, none that are 0. */
export function numberWords(value: number, decimals = 0): string {
  const [whole = '', rest = ''] = Math.abs(value).toFixed(decimals).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  const trimmed = rest.replace(/0+$/, '');
  const text = trimmed === '' ? grouped : `${grouped}.${trimmed}`;
  return value < 0 && text !== '0' ? `−${text}` : text;
}

/** Of a share 0–1: `0.42 %`, `12.3 %`. */
export function percentWords(share: number, decimals = Math.abs(share) < 0.01 ? 2 : 1): string {
  return `${numberWords(share * 100, decimals)}${GAP}%`;
}

/** `0.6 ms`, `240 ms`, `1.2 s` */
export function msWords(ms: number, decimals = 1): string {
  if (ms >= 999.5) return `${numberWords(ms / 1000, decimals)}${GAP}s`;
  return `${numberWords(ms, ms < 100 ? decimals : decimals - 1)}${GAP}ms`;
}

/** `30 s`, `0.5 s` */
export function secondsWords(seconds: number): string {
  return `${numberWords(seconds, seconds < 10 ? 1 : 0)}${GAP}s`;
}

/**
 * A figure and its limit as they are read beside each other: with as many more decimals as it takes to see that they
 * differ. `0.1 %` above a limit of `0.1 %` would explain nothing.
 */
export function besideLimit(
  value: number,
  limit: number,
  words: (value: number, decimals?: number) => string,
): readonly [value: string, limit: string] {
  const plain = words(limit);
  for (const decimals of [undefined, 2, 3, 4, 5, 6]) {
    const text = words(value, decimals);
    if (text !== words(limit, decimals)) return [text, plain];
  }
  return [words(value), plain];
}
