import { OUTCOMES } from '../../../src/search/outcome.ts';

/** How a search ended, as its client saw it: the service's own outcomes, and two that only a client knows. */
export const SEEN_OUTCOMES = [
  // Who went away saw nothing.
  ...OUTCOMES.filter((outcome) => outcome !== 'aborted'),
  /** No answer at all: refused, broken or hung connections. */
  'unanswered',
  /** An answer that does not say; whoever sent it is not serpcache, or something between removed its headers. */
  'unknown',
] as const;

export type SeenOutcome = (typeof SEEN_OUTCOMES)[number];

/** Of the metric that counts it: k6 knows letters, digits and underscores only. */
export function metricOf(outcome: SeenOutcome): string {
  return `outcome_${outcome.replaceAll('-', '_')}`;
}
