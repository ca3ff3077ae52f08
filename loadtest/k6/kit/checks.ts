import { numberWords } from './number-words.ts';
import type { CheckSummary } from './summary.ts';

/** What is looked at in answers. */
export const CHECK_NAMES = {
  /** Limits judge how many are not. */
  answered: 'answered with a page, or refused honestly',
  cacheStatus: 'Cache-Status parses',
  shape: 'the body has the shape of a page',
  ofTheSearch: 'the page is of the search',
} as const;

/** These hold for every answer or the run has failed: a wrong page is worse than none, however seldom. */
export const ALWAYS: readonly string[] = [CHECK_NAMES.cacheStatus, CHECK_NAMES.shape, CHECK_NAMES.ofTheSearch];

/** A sentence for each that did not hold. */
export function wrongAnswers(checks: readonly CheckSummary[]): readonly string[] {
  return checks
    .filter(({ name, fails }) => fails > 0 && ALWAYS.includes(name))
    .map(({ name, passes, fails }) => {
      const of = numberWords(passes + fails);
      return `wrong answers: for ${numberWords(fails)} of ${of} it does not hold that ${name}`;
    });
}
