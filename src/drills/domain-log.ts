import type { Figures } from '../meter/reading.ts';
import type { GuardState } from './guard-watch.ts';
import type { DrillPhase, Mark } from './journal.ts';
import type { JournalBook } from './journal-book.ts';

/** What one domain's drill writes into the journal, with its time and its domain. */
export interface DomainLog {
  readonly mark: (what: BareMark) => void;
  /** Guards that have just broken, or hold again, are marked as well. */
  readonly sample: (place: Place, figures: Figures | undefined, guards: readonly GuardState[]) => void;
}

export interface Place {
  readonly phase: DrillPhase;
  readonly stage: number;
}

/** Of each form of a mark what is not the same for all. */
export type BareMark = Mark extends infer One ? (One extends Mark ? Omit<One, 'atMs' | 'domain'> : never) : never;

export interface DomainLogOptions {
  readonly domain: string;
  readonly book: Pick<JournalBook, 'mark' | 'sample'>;
  /** Since the journal began. */
  readonly elapsedMs: () => number;
  readonly onMark: (mark: Mark) => void;
}

export function createDomainLog({ domain, book, elapsedMs, onMark }: DomainLogOptions): DomainLog {
  const mark = (what: BareMark): void => {
    const written = { atMs: Math.round(elapsedMs()), domain, ...what } as Mark;
    book.mark(written);
    onMark(written);
  };
  return {
    mark,
    sample: (place, figures, guards) => {
      if (figures !== undefined) {
        const states = guards.map(({ rule, value, broken }) => {
          return { figure: rule.figure, ...(value === undefined ? {} : { value }), broken };
        });
        book.sample({ atMs: Math.round(elapsedMs()), domain, ...place, figures, guards: states });
      }
      for (const { rule, value = 0, turned } of guards) {
        const { figure, max, then } = rule;
        if (turned === 'breached') mark({ kind: 'guard', figure, value, max, then });
        if (turned === 'holds') mark({ kind: 'guard-holds', figure });
      }
    },
  };
}
