import { decompress } from '../../cache/codec.ts';
import type { Entry } from '../../cache/entry.ts';
import { createRecent } from '../transport/recent.ts';

export interface IdentityBodies {
  /** The page as it was before compression; at once when remembered. Rejects when the body cannot be inflated. */
  readonly of: (entry: Entry) => Buffer | Promise<Buffer>;
}

/**
 * Inflates stored bodies for clients that take none of our codings, and remembers `maxBytes` of them by their entries, so
 * that an L1 hit does not inflate each time.
 */
export function createIdentityBodies(options: {
  readonly maxBytes: number;
  readonly maxPageBytes: number;
}): IdentityBodies {
  const bodies = createRecent<Entry, Buffer>(options.maxBytes);
  /** Inflations under way, so that a crowd at one entry inflates it once. */
  const pending = new WeakMap<Entry, Promise<Buffer>>();

  const inflate = async (entry: Entry): Promise<Buffer> => {
    try {
      const body = await decompress(entry.body, entry.coding, options.maxPageBytes);
      bodies.set(entry, body, body.length);
      return body;
    } finally {
      pending.delete(entry);
    }
  };

  return {
    of: (entry) => {
      if (entry.coding === 'identity') return entry.body;
      const known = bodies.get(entry);
      if (known !== undefined) return known;
      let flight = pending.get(entry);
      if (flight === undefined) {
        flight = inflate(entry);
        pending.set(entry, flight);
      }
      return flight;
    },
  };
}
