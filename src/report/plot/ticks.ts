const STEPS = [1, 2, 2.5, 5, 10];
const TIME_STEPS_MS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400,
].map((seconds) => seconds * 1000);

/** Round values from 0 to the first one at or above `max`, about `count` of them. `isWhole`: of things that are counted. */
export function roundTicks(max: number, count: number, isWhole = false): readonly number[] {
  const top = Number.isFinite(max) && max > 0 ? Math.min(max, 1e300) : 1;
  const power = 10 ** Math.floor(Math.log10(top / count));
  const round = power * (STEPS.find((one) => one * power * count >= top) ?? 10);
  const step = isWhole ? Math.max(1, Math.ceil(round)) : round;
  const ticks = [0];
  // Counted, since far from zero a step may be too small to move a number.
  for (let i = 1; i <= count + 1 && (i - 1) * step < top * (1 - 1e-9); i++)
    ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

/** Moments that people count in, within the span; at most `count` and one. */
export function timeTicks(fromMs: number, toMs: number, count: number): readonly number[] {
  const longest = TIME_STEPS_MS[TIME_STEPS_MS.length - 1] ?? 1;
  const neededMs = (toMs - fromMs) / count;
  const stepMs = TIME_STEPS_MS.find((one) => one >= neededMs) ?? Math.ceil(neededMs / longest) * longest;
  const firstMs = Math.ceil(fromMs / stepMs) * stepMs;
  return Array.from({ length: count + 1 }, (_, i) => firstMs + i * stepMs).filter(
    (atMs) => atMs >= fromMs && atMs <= toMs,
  );
}
