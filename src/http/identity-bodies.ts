import { decompress } from '../cache/coding.ts';
import type { Entry } from '../cache/entry.ts';

export interface IdentityBodies {
  /** The page as it was before compression; at once when remembered. Rejects when the body cannot be inflated. */
  readonly of: (entry: Entry) => Buffer | Promise<Buffer>;
}

/**
 * Inflates stored bodies for clients that take none of our codings, and remembers them, so that an L1 hit does not
 * inflate each time. Remembered by entry, weakly: what L1 evicts is forgotten with it. Two generations bound the rest:
 * when the younger holds half of `maxBytes` the older is dropped.
 */
export function createIdentityBodies(options: {
  readonly maxBytes: number;
  readonly maxPageBytes: number;
}): IdentityBodies {
  let young = new WeakMap<Entry, Buffer>();
  let old = new WeakMap<Entry, Buffer>();
  let youngBytes = 0;
  /** Inflations under way, so that a crowd at one entry inflates it once. */
  const pending = new WeakMap<Entry, Promise<Buffer>>();

  const remember = (entry: Entry, body: Buffer): void => {
    if (youngBytes + body.length > options.maxBytes / 2) {
      old = young;
      young = new WeakMap();
      youngBytes = 0;
    }
    young.set(entry, body);
    youngBytes += body.length;
  };

  const inflate = async (entry: Entry): Promise<Buffer> => {
    try {
      const body = await decompress(entry.body, entry.coding, options.maxPageBytes);
      remember(entry, body);
      return body;
    } finally {
      pending.delete(entry);
    }
  };

  return {
    of: (entry) => {
      if (entry.coding === 'identity') return entry.body;
      const recent = young.get(entry);
      if (recent !== undefined) return recent;
      const older = old.get(entry);
      if (older !== undefined) {
        remember(entry, older);
        return older;
      }
      let flight = pending.get(entry);
      if (flight === undefined) {
        flight = inflate(entry);
        pending.set(entry, flight);
      }
      return flight;
    },
  };
}
