/** L1 of one domain below which it is not worth having. */
export const MIN_SHARE_BYTES = 2 ** 20;

/** Each domain's part of `memory.maxBytes`: what it asks for, or an equal part of what the others leave. */
export function shareMemory(
  totalBytes: number,
  asked: readonly (number | undefined)[],
): { readonly fits: boolean; readonly shares: readonly number[] } {
  const taken = asked.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0);
  const without = asked.filter((bytes) => bytes === undefined).length;
  const equal = without === 0 ? 0 : Math.floor((totalBytes - taken) / without);
  const fits = taken <= totalBytes && (without === 0 || equal >= MIN_SHARE_BYTES);
  return { fits, shares: asked.map((bytes) => bytes ?? equal) };
}

/** A sixteenth: enough to remember the questions nobody can answer, too little to cost answers. */
export function emptyShare(maxBytes: number): number {
  return Math.floor(maxBytes / 16);
}
