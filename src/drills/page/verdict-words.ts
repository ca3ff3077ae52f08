import type { Journal } from '../journal.ts';
import { stageTitle } from './stage-name.ts';

/** How a drill ended, in a word, a sign and a tone; neither needs the other. */
export interface VerdictWords {
  readonly word: string;
  readonly detail: string;
  readonly tone: 'good' | 'warn' | 'bad' | 'open';
  /** SVG path data in a square of 24. */
  readonly sign: string;
}

const CHECK = 'M5 13l5 5L19 7';
const CROSS = 'M6 6l12 12M18 6L6 18';
const STOP = 'M7 7h10v10H7z';
const BAR = 'M5 12h14';
const QUESTION = 'M8.5 9a3.5 3.5 0 1 1 5.3 3c-1.3.8-1.8 1.500-1.8 2.700M12 18.500v.1';
const WAIT = 'M12 3a9 9 0 1 0 .01 0M12 7.500v5l3 2';

export function verdictWords({ verdict, state, plan, domains }: Journal): VerdictWords {
  if (verdict === undefined) {
    const detail = stillText(state, plan, domains.length > 1);
    return { word: state.kind === 'over' ? 'Over' : 'Running', detail, tone: 'open', sign: WAIT };
  }
  const { detail } = verdict;
  switch (verdict.kind) {
    case 'passed':
      return { word: 'Passed', detail, tone: 'good', sign: CHECK };
    case 'failed':
      return { word: 'Failed', detail, tone: 'bad', sign: CROSS };
    case 'aborted':
      return { word: 'Aborted', detail, tone: 'warn', sign: STOP };
    case 'refused':
      return { word: 'Refused', detail, tone: 'warn', sign: BAR };
    case 'lost':
      return { word: 'Lost', detail, tone: 'bad', sign: QUESTION };
  }
}

function stillText(state: Journal['state'], plan: Journal['plan'], many: boolean): string {
  switch (state.kind) {
    case 'running': {
      const where = many ? ` of ${state.domain}` : '';
      return `It is still going on: ${state.phase === 'stage' ? stageTitle(plan, state.stage) : state.phase}${where}. These are the figures so far.`;
    }
    case 'ending':
      return 'The cache is restored already; the last figures are being taken.';
    case 'over':
      return 'It ended without a verdict.';
  }
}
