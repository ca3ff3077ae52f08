import { reportDocument } from '../../report/document.ts';
import { countText, durationText, elapsedText, percentText, utcText } from '../../report/format.mjs';
import {
  type Content,
  element,
  facts,
  type Markup,
  SIGNS,
  said,
  table,
  type VerdictWords,
  verdictLine,
} from '../../report/markup.ts';
import { backdrop } from '../../report/plot/backdrop.ts';
import { FRAME_WIDTH, linearScale } from '../../report/plot/frame.ts';
import { momentSign, panelFigure } from '../../report/plot/panel.ts';
import { type Criterion, FAULTS, type ShadowVerdict, type Side } from './figures.ts';
import {
  agreementPlots,
  annotationsOf,
  type Curves,
  curvesOf,
  SHADOW_STYLE,
  serverPlots,
  sidePlots,
} from './report-plots.ts';
import type { ShadowReport } from './shadow.ts';
import { AGREEMENT_ROWS, COPY_ROWS, criterionFigures, criterionName, metOf, SIDE_ROWS, verdictView } from './view.mjs';

/** The report of a shadow as one HTML page that loads nothing. */
export function shadowReportPage(report: ShadowReport): string {
  const { domain, primary, candidate, verdict } = report;
  return reportDocument({
    title: `${verdictWords(verdict).word}: ${candidate.name} for ${primary.name} in ${domain}`,
    body: [
      heading(report),
      element(
        'main',
        {},
        criteriaTable(verdict),
        curveSection(report, curvesOf(report)),
        totalsSection(report),
        agreementSection(report),
        copySection(report),
      ),
      element(
        'footer',
        {},
        'A dash stands for what was not measured. Both sides were measured by the same processes for the same sampled keys in the same time. Drawn from the JSON of this report, which holds every sample.',
      ),
    ],
    style: SHADOW_STYLE,
  });
}

const VERDICT_SIGNS = { good: SIGNS.check, bad: SIGNS.cross, none: SIGNS.question };

function verdictWords({ kind, why }: ShadowVerdict): VerdictWords {
  const { word, tone } = verdictView(kind);
  return {
    word: `${word.charAt(0).toUpperCase()}${word.slice(1)}`,
    detail: why,
    tone: tone === 'none' ? 'open' : tone,
    sign: VERDICT_SIGNS[tone],
  };
}

function heading(report: ShadowReport): Markup {
  const { domain, primary, candidate, verdict, startedAtMs, endedAtMs } = report;
  const store = ({ name, fingerprint }: ShadowReport['primary']): Content => [
    said(name),
    element('span', { class: 'soft' }, ', fingerprint ', element('code', {}, said(fingerprint))),
  ];
  return element(
    'header',
    {},
    element('p', { class: 'kind' }, 'serpcache shadow report'),
    element(
      'h1',
      {},
      said(candidate.name),
      element('span', { class: 'soft' }, ' as the shadow of '),
      said(primary.name),
      element('span', { class: 'soft' }, ' in ', said(domain)),
    ),
    verdictLine(verdictWords(verdict)),
    facts([
      ['Primary', store(primary)],
      ['Candidate', store(candidate)],
      ['By', said(report.by)],
      ['Began', utcText(startedAtMs)],
      ['Ended', [utcText(endedAtMs), ': ', said(report.ended)]],
      ['Lasted', durationText(Math.max(0, endedAtMs - startedAtMs))],
      ['Report', element('code', {}, said(report.id))],
    ]),
  );
}

function criteriaTable({ criteria }: ShadowVerdict): Markup | undefined {
  return table<Criterion>({
    caption: 'The verdict, criterion by criterion',
    narrow: 'cards',
    columns: [
      { title: 'Criterion', cell: ({ name }) => criterionName(name) },
      { title: 'Measured', isNumber: true, cell: (criterion) => criterionFigures(criterion).measured },
      { title: 'Bound', isNumber: true, cell: (criterion) => criterionFigures(criterion).bound },
      {
        title: 'Met',
        cell: ({ met }) => element('strong', { class: `word ${metOf(met).tone}` }, metOf(met).word),
      },
      { title: 'In words', isProse: true, cell: ({ what }) => said(what) },
    ],
    rows: criteria,
  });
}

function curveSection(report: ShadowReport, curves: Curves): Markup {
  const id = 'curves';
  const annotations = annotationsOf(report, curves);
  const figures = (panels: readonly Parameters<typeof panelFigure>[0][], isHalf = false): readonly Markup[] =>
    panels.map((panel) => panelFigure(panel, id, isHalf));
  return element(
    'section',
    { 'aria-labelledby': id },
    element('h2', { id }, 'Over time'),
    element(
      'p',
      {},
      'All plots share one axis of time: since the start of the shadow. The strip above each names the share of the keys that was copied, and the copies of each read: 25 % ×3.',
    ),
    annotations.moments.length === 0
      ? undefined
      : element(
          'ul',
          { class: 'legend' },
          element(
            'li',
            {},
            momentSign('restored', 'diamond'),
            element('span', {}, 'the fraction or the reads changed'),
          ),
        ),
    backdrop({ id, x: linearScale(curves.fromMs, curves.toMs, 0, FRAME_WIDTH), ...annotations }),
    figures(sidePlots(curves, report, id)),
    element('h3', {}, 'Agreement of the values'),
    element('div', { class: 'plots' }, figures(agreementPlots(curves, id), true)),
    element('h3', {}, 'The servers of both sides'),
    element('div', { class: 'plots' }, figures(serverPlots(curves, report, id), true)),
    changesTable(report),
  );
}

function changesTable({ changes }: ShadowReport): Markup | undefined {
  return table<ShadowReport['changes'][number]>({
    caption: 'Copied traffic, change by change',
    narrow: 'cards',
    columns: [
      { title: 'From', cell: ({ atMs }) => elapsedText(atMs) },
      { title: 'Share of the keys', isNumber: true, cell: ({ fraction }) => percentText(fraction) },
      { title: 'Copies of each read', isNumber: true, cell: ({ reads }) => countText(reads) },
    ],
    rows: changes,
  });
}

/** The counts since the start, which only the report shows, before the figures of every surface. */
const TOTAL_ROWS: typeof SIDE_ROWS = [
  { name: 'Reads', text: ({ reads }) => countText(reads) },
  { name: 'Compared reads', text: ({ compared }) => countText(compared) },
  { name: 'Hits', text: ({ hits }) => countText(hits) },
  ...FAULTS.map((fault) => ({ name: `Errors: ${fault}`, text: ({ errors }: Side) => countText(errors[fault]) })),
  ...SIDE_ROWS,
];

function totalsSection({ total, primary, candidate }: ShadowReport): Markup {
  return element(
    'section',
    { 'aria-labelledby': 'totals' },
    element('h2', { id: 'totals' }, 'Side by side'),
    element(
      'p',
      {},
      `Over ${durationText(total.seconds * 1000)} in ${countText(total.processes)} ${total.processes === 1 ? 'process' : 'processes'}. The primary is `,
      said(primary.name),
      ', the candidate ',
      said(candidate.name),
      '. Figures of the servers include what others ask of them.',
    ),
    table<(typeof SIDE_ROWS)[number]>({
      caption: 'Figures since the start',
      narrow: 'cards',
      columns: [
        {
          title: 'Figure',
          cell: ({ name, meaning }) => (meaning === undefined ? name : element('abbr', { title: meaning }, name)),
        },
        { title: 'Primary', isNumber: true, cell: ({ text }) => text(total.primary) },
        { title: 'Candidate', isNumber: true, cell: ({ text }) => text(total.candidate) },
      ],
      rows: TOTAL_ROWS,
    }),
  );
}

function agreementSection({ total: { agreement }, wrongKeys }: ShadowReport): Markup {
  const { compared, lifeSamples, lifeDriftMs, lifeDriftMaxMs } = agreement;
  const drift = `Remaining lives of ${countText(lifeSamples)} pairs of equal values differ by ${durationText(lifeDriftMs)} on average, by ${durationText(lifeDriftMaxMs)} at most.`;
  return element(
    'section',
    { 'aria-labelledby': 'agreement' },
    element('h2', { id: 'agreement' }, 'Agreement'),
    table<(typeof AGREEMENT_ROWS)[number]>({
      caption: `Values of ${countText(compared)} reads that both sides answered`,
      narrow: 'cards',
      columns: [
        { title: 'Result', cell: ([name]) => name },
        { title: 'Reads', isNumber: true, cell: ([name]) => countText(agreement[name]) },
        {
          title: 'Share',
          isNumber: true,
          cell: ([name]) => percentText(compared > 0 ? agreement[name] / compared : undefined),
        },
        { title: 'Meaning', isProse: true, cell: ([, meaning]) => meaning },
      ],
      rows: AGREEMENT_ROWS,
    }),
    element('p', {}, lifeSamples === 0 ? 'No remaining lives were compared.' : drift),
    element('h3', {}, 'Keys with wrong values'),
    wrongKeys.length === 0
      ? element('p', { class: 'note' }, 'None was found.')
      : element(
          'ul',
          { class: 'plain' },
          wrongKeys.map((key) => element('li', {}, element('code', {}, said(key)))),
        ),
  );
}

function copySection({ total: { copying } }: ShadowReport): Markup {
  return element(
    'section',
    { 'aria-labelledby': 'copies' },
    element('h2', { id: 'copies' }, 'Copies'),
    table<(typeof COPY_ROWS)[number]>({
      caption: 'Copies of reads and writes',
      narrow: 'cards',
      columns: [
        { title: 'Copies', cell: ([name]) => name },
        { title: 'Number', isNumber: true, cell: ([name]) => countText(copying[name]) },
        { title: 'Meaning', isProse: true, cell: ([, meaning]) => meaning },
      ],
      rows: COPY_ROWS,
    }),
  );
}
