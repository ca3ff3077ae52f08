import type { Figures } from '../meter/figures.ts';
import type { GuardState } from './guards.ts';
import {
  type DomainResult,
  type DrillState,
  type Journal,
  MAX_SAMPLES,
  type Mark,
  type Sample,
  type Verdict,
} from './journal.ts';

/** Writes the journal of a running drill, in memory. */
export type JournalWriter = ReturnType<typeof createJournalWriter>;

/** Maximum number of marks of guards: a guard that breaks and holds again every other second would fill any journal. */
const MAX_GUARD_MARKS = 400;

export function createJournalWriter(begun: Omit<Journal, 'samples' | 'marks' | 'learned'>) {
  let head: Omit<Journal, 'samples' | 'marks' | 'learned'> = begun;
  let samples: Sample[] = [];
  const marks: Mark[] = [];
  const results = new Map<string, DomainResult>();
  let guardMarks = 0;
  return {
    /** The journal so far. `withSamples` false: its head, for other processes. */
    read: (withSamples = true): Journal => ({
      ...head,
      samples: withSamples ? [...samples] : [],
      marks: [...marks],
      learned: [...results.values()],
    }),
    sample: (sample: Sample) => {
      if (samples.length >= MAX_SAMPLES) samples = samples.filter((_, index) => index % 2 === 0);
      samples.push(sample);
    },
    mark: (mark: Mark) => {
      const isGuardMark = mark.kind === 'guard' || mark.kind === 'guard-holds';
      if (isGuardMark && guardMarks >= MAX_GUARD_MARKS) return;
      if (isGuardMark) guardMarks += 1;
      marks.push(mark);
    },
    state: (state: DrillState) => {
      head = { ...head, state };
    },
    /** Replaces the previous result of the domain. */
    result: (result: DomainResult) => {
      results.set(result.domain, result);
    },
    end: (verdict: Verdict, endedAtMs: number) => {
      head = { ...head, state: { kind: 'over' }, verdict, endedAtMs };
    },
  };
}

/** A mark without `atMs` and `domain`. */
type MarkDetails = Mark extends infer One ? (One extends Mark ? Omit<One, 'atMs' | 'domain'> : never) : never;

interface DomainRecorderOptions {
  readonly domain: string;
  readonly writer: Pick<JournalWriter, 'mark' | 'sample'>;
  /** Time since the journal began. */
  readonly elapsedMs: () => number;
  readonly onMark: (mark: Mark) => void;
}

/** Writes samples and marks of one domain, with their time and the domain. */
export function createDomainRecorder({ domain, writer, elapsedMs, onMark }: DomainRecorderOptions) {
  const mark = (details: MarkDetails): void => {
    const written = { atMs: Math.round(elapsedMs()), domain, ...details } as Mark;
    writer.mark(written);
    onMark(written);
  };
  return {
    mark,
    /** Also marks guards that have broken, or hold again, at this tick. */
    sample: (at: Pick<Sample, 'phase' | 'stage'>, figures: Figures | undefined, guards: readonly GuardState[]) => {
      if (figures !== undefined) {
        const states = guards.map(({ rule, value, broken }) => {
          return { figure: rule.figure, value, broken };
        });
        writer.sample({ atMs: Math.round(elapsedMs()), domain, ...at, figures, guards: states });
      }
      for (const { rule, value = 0, turned } of guards) {
        const { figure, max, then } = rule;
        if (turned === 'breached') mark({ kind: 'guard', figure, value, max, then });
        if (turned === 'holds') mark({ kind: 'guard-holds', figure });
      }
    },
  };
}
