import {
  type DrillState,
  type Journal,
  type Learned,
  MAX_SAMPLES,
  type Mark,
  type Sample,
  type Verdict,
} from './journal.ts';

/** The journal of a drill that runs, as it is being written. */
export interface JournalBook {
  /** As it stands. `withSamples` false: the head alone, to be told to other processes. */
  readonly read: (withSamples?: boolean) => Journal;
  readonly sample: (sample: Sample) => void;
  readonly mark: (mark: Mark) => void;
  readonly state: (state: DrillState) => void;
  /** Takes the place of what was learned of the domain before. */
  readonly learned: (learned: Learned) => void;
  readonly end: (verdict: Verdict, endedAtMs: number) => void;
}

/** A guard that breaks and holds every other second would fill any journal. */
const MAX_GUARD_MARKS = 400;

export function createJournalBook(begun: Omit<Journal, 'samples' | 'marks' | 'learned'>): JournalBook {
  let head: Omit<Journal, 'samples' | 'marks' | 'learned'> = begun;
  let samples: Sample[] = [];
  const marks: Mark[] = [];
  const learned = new Map<string, Learned>();
  let guardMarks = 0;
  return {
    read: (withSamples = true) => ({
      ...head,
      samples: withSamples ? [...samples] : [],
      marks: [...marks],
      learned: [...learned.values()],
    }),
    sample: (sample) => {
      if (samples.length >= MAX_SAMPLES) samples = samples.filter((_, place) => place % 2 === 0);
      samples.push(sample);
    },
    mark: (mark) => {
      const isOfGuard = mark.kind === 'guard' || mark.kind === 'guard-holds';
      if (isOfGuard && guardMarks >= MAX_GUARD_MARKS) return;
      if (isOfGuard) guardMarks += 1;
      marks.push(mark);
    },
    state: (state) => {
      head = { ...head, state };
    },
    learned: (one) => {
      learned.set(one.domain, one);
    },
    end: (verdict, endedAtMs) => {
      head = { ...head, state: { kind: 'over' }, verdict, endedAtMs };
    },
  };
}
