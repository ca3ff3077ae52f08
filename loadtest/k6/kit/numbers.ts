/**
 * The random numbers of the nth of something: uniform, 0 ≤ x < 1, of 32 bits, the same whoever draws them and in whatever
 * order n comes. Nothing is kept between two n, so virtual users that share nothing agree. A handful of draws per n is
 * what it is for. Both arguments are whole numbers below 2^32.
 *
 * Where n begins is hashed, as a 32-bit finaliser does it (the form of MurmurHash3's, multipliers of C. Wellons' search
 * for low-bias hashes), or neighbours would be a step apart. From there on it is a linear congruential generator
 * (Numerical Recipes' "quick and dirty" one): k6's interpreter takes 3 µs for three draws, 6 when each is hashed.
 */
export function numbersOf(seed: number, n: number): () => number {
  // Golden steps keep the stretches of different seeds apart.
  let word = (n + Math.imul(seed, 0x9e3779b9)) | 0;
  word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
  let state = word ^ (word >>> 15);
  return () => {
    state = Math.imul(state, 1664525) + 1013904223;
    return (state >>> 0) / 4294967296;
  };
}
