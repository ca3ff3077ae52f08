/** The latest `maxEntries` keys written; the oldest write is evicted first. For hints, never for answers. */
interface BoundedMap<V> {
  readonly get: (key: string) => V | undefined;
  readonly set: (key: string, value: V) => void;
  readonly delete: (key: string) => void;
}

export function createBoundedMap<V>(maxEntries: number): BoundedMap<V> {
  const map = new Map<string, V>();
  return {
    get: (key) => map.get(key),
    set: (key, value) => {
      map.delete(key);
      map.set(key, value);
      if (map.size <= maxEntries) return;
      const oldest = map.keys().next();
      if (!oldest.done) map.delete(oldest.value);
    },
    delete: (key) => {
      map.delete(key);
    },
  };
}
