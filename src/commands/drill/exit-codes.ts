import type { Verdict } from '../../drills/journal.ts';
import type { ExitCodes } from '../command.ts';

/** `refused` did nothing; the others that did not pass or fail left the question open. */
const BY_VERDICT: Readonly<Record<Verdict['kind'], number>> = {
  passed: 0,
  failed: 1,
  'not-measured': 2,
  aborted: 2,
  lost: 2,
  refused: 3,
};

/** A script that rehearses may go on after 2 and 3, and has to stop at 1. */
export const DRILL_EXIT_CODES: ExitCodes = {
  undone: BY_VERDICT.refused,
  usage: 64,
  words: [
    'exit status: 0 passed, or done; 1 the drill failed; 2 undecided: not measured, aborted or lost;',
    '3 could not be done (refused, unreachable, not confirmed); 64 wrong words; 78 wrong configuration',
  ],
};

export function exitCodeOf(kind: Verdict['kind'] | undefined): number {
  return kind === undefined ? BY_VERDICT.lost : BY_VERDICT[kind];
}
