/** A cache of what was used lately. */
interface RecentCache<Key, Value> {
  readonly get: (key: Key) => Value | undefined;
  readonly set: (key: Key, value: Value, bytes: number) => void;
}

interface Kept<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/** A Map or a WeakMap. */
interface Generation<Key, Value> {
  readonly get: (key: Key) => Value | undefined;
  readonly set: (key: Key, value: Value) => unknown;
}

/**
 * A cache of two generations that limit its size: when the young one holds half of `maxBytes`, the old one is dropped and
 * the young one takes its place. An entry of the old generation that is read moves to the young one: what is used again
 * stays, and what is used once costs one slot.
 * @param createGeneration a Map; a WeakMap for objects that are held weakly, whose entry goes with its key
 */
export function createRecentCache<Key, Value>(
  maxBytes: number,
  createGeneration: () => Generation<Key, Kept<Value>>,
): RecentCache<Key, Value> {
  let young = createGeneration();
  let old = createGeneration();
  let youngBytes = 0;

  const set = (key: Key, value: Value, bytes: number): void => {
    if (youngBytes + bytes > maxBytes / 2) {
      old = young;
      young = createGeneration();
      youngBytes = 0;
    }
    young.set(key, { value, bytes });
    youngBytes += bytes;
  };

  return {
    get: (key) => {
      const recent = young.get(key);
      if (recent !== undefined) return recent.value;
      const older = old.get(key);
      if (older === undefined) return undefined;
      set(key, older.value, older.bytes);
      return older.value;
    },
    set,
  };
}
