/**
 * Whether hits became slower. The figure of a start is the requests that serpcache answers with a second of processor
 * time, divided by those that the server it is compared with answers: the client is often full before the server is.
 */
import { EXIT, type ExitStatus } from '../../src/commands/arguments.ts';

/** A process has one of two speeds for as long as it lives, so fewer starts say nothing. */
export const STARTS = 5;
/**
 * The committed noise is the distance from the median of these starts to the lowest. The median of five more starts of
 * the same code lies below that lowest one in 66 of 3,003 cases (2.2 %), however the figures are distributed: three of
 * the five have to be the lowest three of all fifteen.
 */
export const COMMITTED_STARTS = 10;

export interface Figure {
  readonly figure: number;
  readonly noise: number;
}

export type Verdict =
  | { readonly kind: 'held' | 'slower'; readonly committed: Figure }
  | { readonly kind: 'not judged'; readonly reason: string };

/** With four decimals. @param starts the figures of at least one start */
export function figureOf(starts: readonly number[]): Figure {
  if (starts.length === 0) throw new Error('no start was measured');
  const figure = rounded(median(starts));
  return { figure, noise: rounded(figure - rounded(Math.min(...starts))) };
}

export function verdictOf(starts: readonly number[], committed: Figure | undefined): Verdict {
  if (starts.length < STARTS)
    return { kind: 'not judged', reason: `measured ${starts.length} of at least ${STARTS} starts` };
  if (!starts.every((start) => Number.isFinite(start) && start > 0))
    return { kind: 'not judged', reason: 'a start without requests or processor time says nothing' };
  if (committed === undefined) return { kind: 'not judged', reason: 'not committed yet: `npm run bench -- --commit`' };
  const { figure } = figureOf(starts);
  const limit = rounded(committed.figure - committed.noise);
  return { kind: figure < limit ? 'slower' : 'held', committed };
}

/** One bench that became slower outweighs others that could not be judged. */
export function exitStatusOf(verdicts: readonly Verdict[]): ExitStatus {
  if (verdicts.some(({ kind }) => kind === 'slower')) return EXIT.failed;
  const isUndecided = verdicts.length === 0 || verdicts.some(({ kind }) => kind === 'not judged');
  return isUndecided ? EXIT.undecided : EXIT.passed;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low = 0, high = low] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  return (low + high) / 2;
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
