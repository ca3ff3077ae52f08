import type { PreparedSearch } from '../search/answer.ts';

export interface TargetMemo {
  readonly get: (target: string) => PreparedSearch | undefined;
  readonly set: (target: string, prepared: PreparedSearch) => void;
}

/** What a prepared search costs beside its texts: objects, buffers' headers, map slots. An estimate, on the high side. */
const OVERHEAD_BYTES = 800;

/**
 * Remembers what a request target means, so that a repeated URL is neither parsed nor hashed again. Two generations:
 * the younger fills up to half of each bound, then takes the elder's place. What is used survives, and one-off URLs
 * cost their slot once.
 */
export function createTargetMemo(bounds: { readonly maxEntries: number; readonly maxBytes: number }): TargetMemo {
  let young = new Map<string, PreparedSearch>();
  let old = new Map<string, PreparedSearch>();
  let youngBytes = 0;

  const set = (target: string, prepared: PreparedSearch): void => {
    const bytes = 2 * target.length + 4 * prepared.canonical.length + OVERHEAD_BYTES;
    if (bytes > bounds.maxBytes / 2) return;
    if (young.size + 1 > bounds.maxEntries / 2 || youngBytes + bytes > bounds.maxBytes / 2) {
      old = young;
      young = new Map();
      youngBytes = 0;
    }
    young.set(target, prepared);
    youngBytes += bytes;
  };

  return {
    get: (target) => {
      const recent = young.get(target);
      if (recent !== undefined) return recent;
      const older = old.get(target);
      if (older !== undefined) set(target, older);
      return older;
    },
    set,
  };
}
