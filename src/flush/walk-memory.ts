import type { Entry } from '../cache/entry.ts';
import type { MemoryTier } from '../cache/memory.ts';

/** Keys looked at in one turn of the event loop: about a quarter of a millisecond. */
const SLICE_KEYS = 256;

/** Every entry of L1, whatever its age, in slices between which whatever else is ready goes first. */
export async function walkMemory(
  memory: Pick<MemoryTier, 'keys' | 'peek'>,
  visit: (key: string, entry: Entry) => void,
  stopped: () => boolean,
): Promise<void> {
  let looked = 0;
  for (const key of memory.keys()) {
    looked += 1;
    if (looked % SLICE_KEYS === 0) await new Promise((resolve) => setImmediate(resolve));
    if (stopped()) return;
    const entry = memory.peek(key);
    if (entry !== undefined) visit(key, entry);
  }
}
