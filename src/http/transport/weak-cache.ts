/** A cache whose keys are objects held weakly: an entry goes with its key. */
interface WeakCache<Key extends object, Value> {
  readonly get: (key: Key) => Value | undefined;
  readonly set: (key: Key, value: Value, bytes: number) => void;
}

/**
 * A weak cache of two generations that limit its size: when the young one holds half of `maxBytes`, the old one is dropped
 * and the young one takes its place. An entry of the old generation that is read moves to the young one.
 */
export function createWeakCache<Key extends object, Value>(maxBytes: number): WeakCache<Key, Value> {
  type Generation = WeakMap<Key, { readonly value: Value; readonly bytes: number }>;
  let young: Generation = new WeakMap();
  let old: Generation = new WeakMap();
  let youngBytes = 0;

  const set = (key: Key, value: Value, bytes: number): void => {
    if (youngBytes + bytes > maxBytes / 2) {
      old = young;
      young = new WeakMap();
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
