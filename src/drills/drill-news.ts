import type { Clock } from '../clock.ts';
import type { Archive } from './archive.ts';
import type { DrillDomain } from './drill-domain.ts';
import { HEAD_REPORT } from './elsewhere.ts';
import type { JournalBook } from './journal-book.ts';
import type { DrillRun } from './run-drill.ts';

const EVERY_MS = 2000;
/** What other processes are told is small. */
const MAX_TOLD_MARKS = 64;

/** Keeps the journal where it outlives this process, and tells the others how the drill goes: now and then, and at its end. */
export function createDrillNews(options: {
  readonly book: JournalBook;
  readonly archive: Archive;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}): Pick<DrillRun, 'onMark' | 'onTick' | 'onOver'> {
  const { book, archive, clock } = options;
  let unwritten = false;
  let writtenMs = clock.monotonicMs();
  let toldMs = Number.NEGATIVE_INFINITY;

  const tell = async ({ control }: DrillDomain): Promise<void> => {
    const head = book.read(false);
    // Who cannot be told hears it the next time; the drill goes on.
    await control.report(HEAD_REPORT, { ...head, marks: head.marks.slice(-MAX_TOLD_MARKS) }).catch(() => undefined);
  };
  return {
    onMark: () => {
      unwritten = true;
      toldMs = Number.NEGATIVE_INFINITY;
    },
    onTick: (domain) => {
      const nowMs = clock.monotonicMs();
      if (nowMs - toldMs >= EVERY_MS) {
        toldMs = nowMs;
        void tell(domain);
      }
      if (unwritten && nowMs - writtenMs >= EVERY_MS) {
        unwritten = false;
        writtenMs = nowMs;
        void archive.write(book.read());
      }
    },
    onOver: async (domain) => {
      await Promise.all([tell(domain), archive.write(book.read())]);
    },
  };
}
