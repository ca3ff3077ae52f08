import { amountText, countText, percentText } from '../../src/report/format.ts';
import { element, facts, type Markup, said, table } from '../../src/report/markup.ts';
import type { Judged } from '../judge/judged.ts';
import type { RunRecord } from '../judge/record.ts';
import type { CheckSummary } from '../k6/kit/summary.ts';

/** Why the figures can be believed, or not: what was checked of each answer, and how the generator did. */
export function trust({ summary, command }: RunRecord, { steps }: Judged): Markup {
  const { requests, dropped, vusUsed, vusCap, emptyThresholds } = summary.generator;
  const cores = steps.flatMap(({ generatorCores }) => generatorCores ?? []);
  const most = cores.length === 0 ? undefined : Math.max(...cores);
  const share = vusCap > 0 ? ` (${percentText(vusUsed / vusCap)})` : '';
  return element(
    'section',
    { 'aria-labelledby': 'trust' },
    element('h2', { id: 'trust' }, 'Checks, generator, and again'),
    table<CheckSummary>({
      caption: 'Checks of the answers',
      narrow: 'cards',
      columns: [
        { title: 'Check', cell: ({ name }) => said(name) },
        { title: 'Held', isNumber: true, cell: ({ passes }) => countText(passes) },
        { title: 'Did not', isNumber: true, cell: ({ fails }) => countText(fails) },
        { title: 'Result', cell: checkResult },
      ],
      rows: summary.checks,
      none: 'No answer was checked.',
    }),
    element('h3', {}, 'The generator'),
    facts([
      ['Requests', countText(requests)],
      ['Due, but not begun', countText(dropped)],
      ['Virtual users, of their cap', `${countText(vusUsed)} of ${countText(vusCap)}${share}`],
      ['Cores of k6, in its hardest step', most === undefined ? 'not measured' : amountText(most)],
      ['Thresholds without a sample', emptyThresholds.length === 0 ? 'none' : said(emptyThresholds.join(', '))],
    ]),
    element(
      'p',
      { class: 'note' },
      'Requests are begun when they are due, whether or not earlier ones were answered. A run whose generator could not begin them all, or nearly ran out of virtual users or of processor time, is invalid.',
    ),
    element('h3', {}, 'To run it again'),
    element('pre', { class: 'command' }, element('code', {}, said(command))),
    element(
      'p',
      { class: 'note' },
      `With the same seed (${String(summary.queries.seed)}) and query file the same searches are sent.`,
    ),
  );
}

function checkResult({ passes, fails }: CheckSummary): Markup {
  if (fails > 0) return element('span', { class: 'word bad' }, `✕ ${percentText(fails / (passes + fails))} did not`);
  return passes > 0
    ? element('span', { class: 'word good' }, '✓ always')
    : element('span', { class: 'word' }, '– never asked');
}
