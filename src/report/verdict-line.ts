import { element, type Markup, said } from './markup.ts';

/** How something ended, in a word, a sentence and a sign: told apart without colours as well. */
export interface VerdictWords {
  readonly word: string;
  readonly detail: string;
  readonly tone: 'good' | 'warn' | 'bad' | 'open';
  /** SVG path data in a box of 24 × 24. */
  readonly sign: string;
}

export function verdictLine({ word, detail, tone, sign }: VerdictWords): Markup {
  return element(
    'p',
    { class: `verdict ${tone}` },
    element(
      'svg',
      { width: 24, height: 24, viewBox: '0 0 24 24', 'aria-hidden': 'true' },
      element('path', { d: sign }),
    ),
    element('span', {}, element('strong', {}, word), ' ', said(detail)),
  );
}

/** What verdicts are told by where there are no colours. */
export const SIGNS = {
  check: 'M5 13l5 5L19 7',
  cross: 'M6 6l12 12M18 6L6 18',
  stop: 'M7 7h10v10H7z',
  bar: 'M5 12h14',
  question: 'M8.5 9a3.5 3.5 0 1 1 5.3 3c-1.3.8-1.8 1.500-1.8 2.700M12 18.500v.1',
  wait: 'M12 3a9 9 0 1 0 .01 0M12 7.500v5l3 2',
} as const;
