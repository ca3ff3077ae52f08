import type { Journal } from '../../drills/journal.ts';
import type { AdminClient } from '../admin/client.ts';

/** Reads on in a journal that grows: what comes is the journal with the samples and marks that are new. */
export interface JournalReader {
  readonly next: () => Promise<Journal>;
}

const DEADLINE_MS = 5000;
/** After so many looks without a sample the places have changed: a long journal leaves out every second one. */
const MAX_EMPTY_LOOKS = 6;

export function createJournalReader(client: AdminClient, path: string): JournalReader {
  let read = 0;
  let marks = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  let emptyLooks = 0;

  return {
    next: async () => {
      const query = [['samples', String(read)]] as const;
      const journal = await client.get<Journal>(path, { query, deadlineMs: DEADLINE_MS, evenIfStopped: true });
      const samples = journal.samples.filter(({ atMs }) => atMs > lastMs);
      read += journal.samples.length;
      emptyLooks = samples.length === 0 ? emptyLooks + 1 : 0;
      if (emptyLooks >= MAX_EMPTY_LOOKS) {
        read = 0;
        emptyLooks = 0;
      }
      lastMs = samples.at(-1)?.atMs ?? lastMs;
      const fresh = journal.marks.slice(marks);
      marks = journal.marks.length;
      return { ...journal, samples, marks: fresh };
    },
  };
}
