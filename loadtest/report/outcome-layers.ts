import type { Layer } from '../../src/report/plot/series.ts';
import type { SeenOutcome } from '../k6/kit/outcome.ts';

export interface OutcomeLayer extends Layer {
  readonly outcomes: readonly SeenOutcome[];
}

/** From the bottom up: the better the answer, the lower. */
export const OUTCOME_LAYERS: readonly OutcomeLayer[] = [
  { name: 'hit-l1', style: 'hit-l1', outcomes: ['hit-l1'] },
  { name: 'hit-l2', style: 'hit-l2', outcomes: ['hit-l2'] },
  { name: 'stale', style: 'stale', outcomes: ['stale'] },
  { name: 'collapsed', style: 'collapsed', outcomes: ['collapsed'] },
  { name: 'engine', style: 'engine', outcomes: ['engine'] },
  { name: 'lifeboat', style: 'lifeboat', outcomes: ['lifeboat'] },
  { name: 'shed', style: 'shed', outcomes: ['shed'] },
  { name: 'failed', style: 'failed', outcomes: ['failed'] },
  { name: 'unanswered or strange', style: 'unanswered', outcomes: ['unanswered', 'rejected', 'unknown'] },
];

/** Those in which nobody got a page. */
export const PAGELESS_LAYERS = OUTCOME_LAYERS.slice(OUTCOME_LAYERS.findIndex(({ name }) => name === 'shed'));

type Counts = Readonly<Partial<Record<SeenOutcome, number>>>;

export function countOf(counts: Counts, { outcomes }: OutcomeLayer): number {
  return outcomes.reduce((sum, outcome) => {
    const count = counts[outcome];
    return sum + (count !== undefined && Number.isFinite(count) && count > 0 ? count : 0);
  }, 0);
}
