import { gaussianKey, type Mix, mixKey, valueBytes } from '../../kit/mix.ts';

/** Writes of a key on average. More changes nothing that shows in the hit ratio. */
const ROUNDS = 1.5;

/**
 * SETs of keys as the mix asks for them, for `massImport`: a store that evicts keeps the last ones written, so keys in
 * order would leave the upper half of them, and not those that are asked for most.
 */
export function* settledCommands(mix: Mix, random: () => number): Iterable<readonly (string | Buffer)[]> {
  const bytes = Buffer.from(Array.from({ length: mix.mostBytes }, () => 97 + Math.floor(random() * 26)));
  for (let written = 0; written < mix.keys * ROUNDS; written += 1) {
    yield ['SET', mixKey(gaussianKey(mix.keys, random)), bytes.subarray(0, valueBytes(mix, random))];
  }
}
