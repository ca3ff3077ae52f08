/** What was made of an object, remembered by the object and weakly: what its owner drops is forgotten with it. */
export interface Recent<Key extends object, Value> {
  readonly get: (key: Key) => Value | undefined;
  readonly set: (key: Key, value: Value, bytes: number) => void;
}

/**
 * Two generations bound the rest: when the younger holds half of `maxBytes` the older is dropped. What is used of the older
 * moves to the younger.
 */
export function createRecent<Key extends object, Value>(maxBytes: number): Recent<Key, Value> {
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
