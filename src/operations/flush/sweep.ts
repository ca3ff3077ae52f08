import type { RuledName } from '../../cache/invalidation.ts';
import type { MemoryTier } from '../../cache/memory.ts';
import type { ControlDocument } from '../../control/document.ts';
import { compileRules } from '../../control/entry-rules.ts';
import type { FlushEvent } from './flush.ts';
import { forEachInMemory } from './preview.ts';

interface SweeperOptions {
  readonly domain: string;
  readonly document: () => ControlDocument;
  readonly memory: Pick<MemoryTier, 'keys' | 'peek' | 'delete'>;
  readonly nameOf: (key: string) => RuledName;
  readonly observe: (event: FlushEvent) => void;
}

/**
 * Removes entries from L1 that a permanent flush has made useless, to free their memory. Entries that only a drill flushes
 * stay, because the end of the drill restores them.
 */
export function createSweeper({ domain, document, memory, nameOf, observe }: SweeperOptions) {
  /** Generations only grow, so a floor above this one is a new flush, in whichever range. */
  let sweptFloor = 1;
  let sweeping = false;
  let closed = false;

  const sweep = async (): Promise<void> => {
    // A floor that rises during a sweep is found at its end, and starts another sweep.
    for (let floor = highestFloor(document()); floor > sweptFloor && !closed; floor = highestFloor(document())) {
      sweptFloor = floor;
      const rules = compileRules(document(), undefined, () => undefined);
      let looked = 0;
      let removed = 0;
      await forEachInMemory(
        memory,
        (key, entry) => {
          looked += 1;
          if (rules.judge(entry, nameOf(key)) === 'flushed' && memory.delete(key)) removed += 1;
        },
        () => closed,
      );
      observe({ kind: 'swept', domain, looked, removed });
    }
    sweeping = false;
  };

  return {
    /** Call it when the control document may have changed. Cheap unless a floor has risen. */
    documentChanged: () => {
      if (sweeping || closed) return;
      sweeping = true;
      void sweep();
    },
    close: () => {
      closed = true;
    },
  };
}

function highestFloor({ ranges }: ControlDocument): number {
  return ranges.reduce((highest, { floor }) => Math.max(highest, floor), 1);
}
