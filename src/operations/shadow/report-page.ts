import {
  bullets,
  capitalized,
  facts,
  note,
  reportSection,
  SIGNS,
  said,
  table,
  type VerdictWords,
  verdictLine,
  withTooltip,
} from '../../report/components.ts';
import { reportDocument } from '../../report/document.ts';
import { countText, durationText, elapsedText, percentText, utcText } from '../../report/format.ts';
import { backdrop, panelFigure, signLegend } from '../../report/plot/figure.ts';
import { timeScale } from '../../report/plot/frame.ts';
import type { Panel } from '../../report/plot/panel.ts';
import { type Child, h, type TreeElement } from '../../report/tree.ts';
import { type Criterion, FAULTS, type ShadowVerdict, type Side } from './figures.ts';
import {
  agreementPlots,
  CHANGE_SIGN,
  type Curves,
  curvesOf,
  SHADOW_STYLE,
  serverPlots,
  shadowAnnotations,
  sidePlots,
} from './report-plots.ts';
import type { ShadowReport } from './shadow.ts';
import { AGREEMENT_ROWS, COPY_ROWS, criterionFigures, criterionName, metOf, SIDE_ROWS, shadowVerdict } from './view.ts';

/** The report of a shadow as one HTML page that loads nothing. */
export function shadowReportPage(report: ShadowReport): string {
  const { domain, primary, candidate, verdict } = report;
  return reportDocument({
    title: `${verdictWords(verdict).word}: ${candidate.name} for ${primary.name} in ${domain}`,
    body: [
      heading(report),
      h('main')(
        criteriaTable(verdict),
        curveSection(report, curvesOf(report.samples, report.endedAtMs - report.startedAtMs)),
        totalsSection(report),
        agreementSection(report),
        copySection(report),
      ),
      h('footer')(
        'A dash stands for what was not measured. Both sides were measured by the same processes for the same sampled keys in the same time. Drawn from the JSON of this report, which holds every sample.',
      ),
    ],
    style: SHADOW_STYLE,
  });
}

const VERDICT_SIGNS = { good: SIGNS.check, bad: SIGNS.cross, none: SIGNS.question };

function verdictWords({ kind, why }: ShadowVerdict): VerdictWords {
  const { word, tone } = shadowVerdict(kind);
  return {
    word: capitalized(word),
    detail: why,
    tone: tone === 'none' ? 'open' : tone,
    sign: VERDICT_SIGNS[tone],
  };
}

function heading(report: ShadowReport): TreeElement {
  const { domain, primary, candidate, verdict, startedAtMs, endedAtMs } = report;
  const store = ({ name, fingerprint }: ShadowReport['primary']): Child => [
    said(name),
    h('span', { class: 'soft' })(', fingerprint ', h('code')(said(fingerprint))),
  ];
  return h('header')(
    h('p', { class: 'kind' })('serpcache shadow report'),
    h('h1')(
      said(candidate.name),
      h('span', { class: 'soft' })(' as the shadow of '),
      said(primary.name),
      h('span', { class: 'soft' })(' in ', said(domain)),
    ),
    verdictLine(verdictWords(verdict)),
    facts([
      ['Primary', store(primary)],
      ['Candidate', store(candidate)],
      ['By', said(report.by)],
      ['Began', utcText(startedAtMs)],
      ['Ended', [utcText(endedAtMs), ': ', said(report.ended)]],
      ['Lasted', durationText(Math.max(0, endedAtMs - startedAtMs))],
      ['Report', h('code')(said(report.id))],
    ]),
  );
}

function criteriaTable({ criteria }: ShadowVerdict): TreeElement | undefined {
  return table<Criterion>({
    caption: 'The verdict, criterion by criterion',
    columns: [
      { title: 'Criterion', cell: ({ name }) => criterionName(name) },
      { title: 'Measured', isNumber: true, cell: (criterion) => criterionFigures(criterion).measured },
      { title: 'Bound', isNumber: true, cell: (criterion) => criterionFigures(criterion).bound },
      {
        title: 'Met',
        cell: ({ met }) => h('strong', { class: `word ${metOf(met).tone}` })(metOf(met).word),
      },
      { title: 'In words', isProse: true, cell: ({ what }) => said(what) },
    ],
    rows: criteria,
  });
}

function curveSection(report: ShadowReport, curves: Curves): TreeElement {
  const id = 'curves';
  const annotations = shadowAnnotations(report, curves);
  const figures = (panels: readonly Panel[], isHalf = false): readonly TreeElement[] =>
    panels.map((panel) => panelFigure(panel, id, { isHalf }));
  return reportSection(
    id,
    'Over time',
    h('p')(
      'All plots share one axis of time: since the start of the shadow. The strip above each names the share of the keys that was copied, and the copies of each read: 25 % ×3.',
    ),
    annotations.moments.length > 0 && signLegend([CHANGE_SIGN]),
    backdrop({ id, x: timeScale(curves), ...annotations }),
    figures(sidePlots(curves, id, report.total)),
    h('h3')('Agreement of the values'),
    h('div', { class: 'plots' })(figures(agreementPlots(curves, id), true)),
    h('h3')('The servers of both sides'),
    h('div', { class: 'plots' })(figures(serverPlots(curves, id, report.total), true)),
    changesTable(report),
  );
}

function changesTable({ changes }: ShadowReport): TreeElement | undefined {
  return table<ShadowReport['changes'][number]>({
    caption: 'Copied traffic, change by change',
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

function totalsSection({ total, primary, candidate }: ShadowReport): TreeElement {
  return reportSection(
    'totals',
    'Side by side',
    h('p')(
      `Over ${durationText(total.seconds * 1000)} in ${countText(total.processes)} ${total.processes === 1 ? 'process' : 'processes'}. The primary is `,
      said(primary.name),
      ', the candidate ',
      said(candidate.name),
      '. Figures of the servers include what others ask of them.',
    ),
    table<(typeof SIDE_ROWS)[number]>({
      caption: 'Figures since the start',
      columns: [
        { title: 'Figure', cell: ({ name, meaning }) => withTooltip(name, meaning) },
        { title: 'Primary', isNumber: true, cell: ({ text }) => text(total.primary) },
        { title: 'Candidate', isNumber: true, cell: ({ text }) => text(total.candidate) },
      ],
      rows: TOTAL_ROWS,
    }),
  );
}

function agreementSection({ total: { agreement }, wrongKeys }: ShadowReport): TreeElement {
  const { compared, lifeSamples, lifeDriftMs, lifeDriftMaxMs } = agreement;
  const drift = `Remaining lives of ${countText(lifeSamples)} pairs of equal values differ by ${durationText(lifeDriftMs)} on average, by ${durationText(lifeDriftMaxMs)} at most.`;
  return reportSection(
    'agreement',
    'Agreement',
    table<(typeof AGREEMENT_ROWS)[number]>({
      caption: `Values of ${countText(compared)} reads that both sides answered`,
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
    h('p')(lifeSamples === 0 ? 'No remaining lives were compared.' : drift),
    h('h3')('Keys with wrong values'),
    bullets(wrongKeys.map((key) => h('code')(said(key)))) ?? note('None was found.'),
  );
}

function copySection({ total: { copying } }: ShadowReport): TreeElement {
  return reportSection(
    'copies',
    'Copies',
    table<(typeof COPY_ROWS)[number]>({
      caption: 'Copies of reads and writes',
      columns: [
        { title: 'Copies', cell: ([name]) => name },
        { title: 'Number', isNumber: true, cell: ([name]) => countText(copying[name]) },
        { title: 'Meaning', isProse: true, cell: ([, meaning]) => meaning },
      ],
      rows: COPY_ROWS,
    }),
  );
}
