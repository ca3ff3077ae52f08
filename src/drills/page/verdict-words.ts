import { SIGNS, type VerdictWords } from '../../report/verdict-line.ts';
import type { Journal } from '../journal.ts';
import { stageTitle } from './stage-name.ts';

/** How a drill ended. */
export function verdictWords({ verdict, state, plan, domains }: Journal): VerdictWords {
  if (verdict === undefined) {
    const detail = stillText(state, plan, domains.length > 1);
    return { word: state.kind === 'over' ? 'Over' : 'Running', detail, tone: 'open', sign: SIGNS.wait };
  }
  const { detail } = verdict;
  switch (verdict.kind) {
    case 'passed':
      return { word: 'Passed', detail, tone: 'good', sign: SIGNS.check };
    case 'failed':
      return { word: 'Failed', detail, tone: 'bad', sign: SIGNS.cross };
    case 'aborted':
      return { word: 'Aborted', detail, tone: 'warn', sign: SIGNS.stop };
    case 'refused':
      return { word: 'Refused', detail, tone: 'warn', sign: SIGNS.bar };
    case 'lost':
      return { word: 'Lost', detail, tone: 'bad', sign: SIGNS.question };
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
