/** Whether an entry of that generation holds a document which was suppressed since. */
export type HoldsSuppressed = (fingerprints: Uint32Array, generation: number) => boolean;

/** One byte each: with 1,024 documents a fingerprint of none of them is looked up in 1.6 % of all cases. */
const SLOTS = 1 << 16;

/** A filter before a map, as nearly all that is asked for is not there. */
export function compileSuppressions(
  suppressed: readonly { readonly fingerprint: number; readonly generation: number }[],
): HoldsSuppressed {
  if (suppressed.length === 0) return () => false;
  const filter = new Uint8Array(SLOTS);
  const generations = new Map<number, number>();
  for (const { fingerprint, generation } of suppressed) {
    filter[fingerprint & 65535] = 1;
    generations.set(fingerprint, Math.max(generation, generations.get(fingerprint) ?? 0));
  }
  return (fingerprints, generation) => {
    // By index: an iterator over 20 of them took twice as long.
    for (let index = 0; index < fingerprints.length; index += 1) {
      const fingerprint = fingerprints[index] ?? 0;
      if (filter[fingerprint & 65535] === 1 && generation < (generations.get(fingerprint) ?? 0)) return true;
    }
    return false;
  };
}
