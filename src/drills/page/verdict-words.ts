import { SIGNS, type VerdictWords } from '../../report/verdict-line.ts';
import type { Journal, Verdict } from '../journal.ts';
import { stageTitle } from './stage-name.ts';

const STILL: Readonly<Record<Journal['state']['kind'], string>> = {
  running: 'Running',
  ending: 'Restored',
  over: 'Over',
};

/** How a drill ended. */
export function verdictWords({ verdict, state, plan, domains }: Journal): VerdictWords {
  if (verdict === undefined && state.kind === 'ending' && state.ended !== undefined) {
    const { kind, detail } = state.ended;
    return { ...endWords(kind), detail: `${detail} The cache is restored; the last figures are being taken.` };
  }
  if (verdict === undefined) {
    const detail = stillText(state, plan, domains.length > 1);
    return { word: STILL[state.kind], detail, tone: 'open', sign: SIGNS.wait };
  }
  return { ...endWords(verdict.kind), detail: verdict.detail };
}

function endWords(kind: Verdict['kind']): Omit<VerdictWords, 'detail'> {
  switch (kind) {
    case 'passed':
      return { word: 'Passed', tone: 'good', sign: SIGNS.check };
    case 'failed':
      return { word: 'Failed', tone: 'bad', sign: SIGNS.cross };
    case 'not-measured':
      return { word: 'Not measured', tone: 'warn', sign: SIGNS.question };
    case 'aborted':
      return { word: 'Aborted', tone: 'warn', sign: SIGNS.stop };
    case 'refused':
      return { word: 'Refused', tone: 'warn', sign: SIGNS.bar };
    case 'lost':
      return { word: 'Lost', tone: 'bad', sign: SIGNS.question };
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
