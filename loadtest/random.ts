/**
 * Seeded randomness in 32-bit integer arithmetic only: the same seed gives the same numbers on every machine, which
 * Math.pow, Math.log and locale-aware functions do not promise.
 */
export interface Random {
  /** 0 ≤ x < 1. */
  readonly next: () => number;
  /** An integer, both ends included. */
  readonly between: (from: number, to: number) => number;
  readonly chance: (probability: number) => boolean;
  /** @throws RangeError on an empty list. */
  readonly pick: <T>(list: readonly T[]) => T;
  /** As `pick`, by each member's own positive weight. */
  readonly weighted: <T extends { readonly weight: number }>(list: readonly T[]) => T;
}

export function createRandom(seed: number): Random {
  const next = seededRandom(seed);
  const pick = <T>(list: readonly T[]): T => {
    const index = Math.floor(next() * list.length);
    if (index >= list.length) throw new RangeError('cannot pick from an empty list');
    return list[index] as T;
  };
  return {
    next,
    pick,
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    chance: (probability) => next() < probability,
    weighted: (list) => {
      let total = 0;
      for (const member of list) total += member.weight;
      let rest = next() * total;
      for (const member of list) {
        rest -= member.weight;
        if (rest < 0) return member;
      }
      return pick(list);
    },
  };
}

/** A seeded generator of [0, 1), mulberry32, whose state of one word makes a generator cheap. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A seed from words (FNV-1a with a final mix), so that each part of a run has a random stream of its own. */
export function seedOf(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const part of parts) {
    for (const char of `${part}/`) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
