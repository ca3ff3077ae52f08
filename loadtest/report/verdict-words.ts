import { element, type Markup, SIGNS, type VerdictWords } from '../../src/report/markup.ts';
import type { StepSummary, Verdict } from '../k6/kit/summary.ts';

/** How a run ended. An invalid one is no failure of the service, and no success either. */
export function verdictWords({ kind, detail }: Verdict): VerdictWords {
  switch (kind) {
    case 'passed':
      return { word: 'Passed', detail, tone: 'good', sign: SIGNS.check };
    case 'failed':
      return { word: 'Failed', detail, tone: 'bad', sign: SIGNS.cross };
    case 'invalid':
      return { word: 'Invalid', detail, tone: 'warn', sign: SIGNS.question };
  }
}

interface ResultWords {
  readonly sign: string;
  readonly word: string;
  readonly tone: 'good' | 'bad' | undefined;
}

/** Of a step. In an invalid run it is told, but counts for nothing. */
export function resultWords(result: StepSummary['result'], { kind }: Verdict): ResultWords {
  if (kind === 'invalid' && (result === 'held' || result === 'broke')) {
    return { sign: '?', word: `${result}, not counted`, tone: undefined };
  }
  switch (result) {
    case 'held':
      return { sign: '✓', word: 'held', tone: 'good' };
    case 'broke':
      return { sign: '✕', word: 'broke', tone: 'bad' };
    case 'not-run':
      return { sign: '–', word: 'not run', tone: undefined };
    case 'shown':
      return { sign: '·', word: 'no limits', tone: undefined };
  }
}

export function resultMark(result: StepSummary['result'], verdict: Verdict): Markup {
  const { sign, word, tone } = resultWords(result, verdict);
  return element('span', { class: `word${tone === undefined ? '' : ` ${tone}`}` }, `${sign} ${word}`);
}
