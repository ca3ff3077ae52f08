import { reportDocument } from '../../report/document.ts';
import {
  amountText,
  bytesText,
  countText,
  durationText,
  elapsedText,
  percentText,
  perSecondText,
  pointsText,
  UNKNOWN,
  utcText,
} from '../../report/format.mjs';
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
import {
  type Agreement,
  type Copying,
  type Criterion,
  FAULTS,
  type Servers,
  type Side,
  type Verdict,
} from './figures.ts';
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

/** The report of a shadow as one HTML page that loads nothing. */
export function shadowReportPage(report: ShadowReport): string {
  const { domain, primary, candidate, verdict } = report;
  return reportDocument({
    title: `${VERDICT_WORDS[verdict.kind].word}: ${candidate.name} for ${primary.name} in ${domain}`,
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

const VERDICT_WORDS: Readonly<Record<Verdict['kind'], Omit<VerdictWords, 'detail'>>> = {
  'cut-over': { word: 'Cut over', tone: 'good', sign: SIGNS.check },
  'do-not': { word: 'Do not cut over', tone: 'bad', sign: SIGNS.cross },
  undecided: { word: 'Undecided', tone: 'open', sign: SIGNS.question },
};

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
    verdictLine({ ...VERDICT_WORDS[verdict.kind], detail: verdict.why }),
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

interface CriterionView {
  readonly title: string;
  readonly text: (value: number | undefined) => string;
  readonly bound: 'at least' | 'at most';
}

const CRITERIA: Readonly<Record<Criterion['name'], CriterionView>> = {
  duration: { title: 'Recorded time', text: durationText, bound: 'at least' },
  volume: { title: 'Compared reads', text: countText, bound: 'at least' },
  'hit-ratio': { title: "Hit ratio below the primary's", text: pointsText, bound: 'at most' },
  latency: { title: 'p99 of the candidate', text: durationText, bound: 'at most' },
  errors: { title: "Errors beyond the primary's", text: (value) => `${amountText(value)} points`, bound: 'at most' },
  values: { title: 'Wrong values', text: countText, bound: 'at most' },
};

const MET = {
  yes: ['good', 'met'],
  no: ['bad', 'missed'],
  'not-measured': ['warn', 'not measured'],
} as const satisfies Readonly<Record<Criterion['met'], readonly [string, string]>>;

function criteriaTable({ criteria }: Verdict): Markup | undefined {
  return table<Criterion>({
    caption: 'The verdict, criterion by criterion',
    narrow: 'cards',
    columns: [
      { title: 'Criterion', cell: ({ name }) => CRITERIA[name].title },
      {
        title: 'Measured',
        isNumber: true,
        cell: ({ name, value }) => (value === undefined ? UNKNOWN : CRITERIA[name].text(value)),
      },
      {
        title: 'Bound',
        isNumber: true,
        cell: ({ name, bound }) =>
          bound === undefined ? UNKNOWN : `${CRITERIA[name].bound} ${CRITERIA[name].text(bound)}`,
      },
      {
        title: 'Met',
        cell: ({ met }) => element('strong', { class: `word ${MET[met][0]}` }, MET[met][1]),
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

/** Figures of both sides in two columns. */
interface SideRow {
  readonly name: string;
  readonly meaning?: string;
  readonly text: (side: Side) => string;
}

const serverRow = (name: string, text: (servers: Servers) => string, meaning?: string): SideRow => ({
  name,
  text: ({ servers }) => (servers === undefined ? UNKNOWN : text(servers)),
  ...(meaning === undefined ? {} : { meaning }),
});

const SIDE_ROWS: readonly SideRow[] = [
  { name: 'Reads', text: ({ reads }) => countText(reads) },
  { name: 'Reads per second', text: ({ readsPerSecond }) => perSecondText(readsPerSecond) },
  {
    name: 'Hit ratio',
    meaning: 'Hits of the compared reads: the first copy of each read that had no error',
    text: ({ hitRatio }) => percentText(hitRatio),
  },
  { name: 'Hits', text: ({ hits }) => countText(hits) },
  { name: 'Compared reads', text: ({ compared }) => countText(compared) },
  { name: 'Writes', text: ({ writes }) => countText(writes) },
  { name: 'p50', text: ({ p50Ms }) => durationText(p50Ms) },
  { name: 'p95', text: ({ p95Ms }) => durationText(p95Ms) },
  { name: 'p99', text: ({ p99Ms }) => durationText(p99Ms) },
  { name: 'Errors, share of reads and writes', text: ({ errorRate }) => percentText(errorRate) },
  ...FAULTS.map((fault): SideRow => ({ name: `Errors: ${fault}`, text: ({ errors }) => countText(errors[fault]) })),
  serverRow(
    'Nodes',
    ({ nodes, missing }) => `${countText(nodes)}${missing > 0 ? `, ${countText(missing)} silent` : ''}`,
  ),
  serverRow('Connections', ({ connections }) => countText(connections)),
  serverRow('Memory in use, at the end', ({ memoryBytes }) => bytesText(memoryBytes)),
  serverRow('Memory limit', (one) => (one.maxMemoryBytes === 0 ? 'none' : bytesText(one.maxMemoryBytes))),
  serverRow('Keys evicted per second', ({ evictedPerSecond }) => perSecondText(evictedPerSecond)),
  serverRow('Keys expired per second', ({ expiredPerSecond }) => perSecondText(expiredPerSecond)),
  serverRow('Bytes received per second', ({ bytesInPerSecond }) => bytesText(bytesInPerSecond)),
  serverRow('Bytes sent per second', ({ bytesOutPerSecond }) => bytesText(bytesOutPerSecond)),
  serverRow('Processors in use', ({ cpu }) => amountText(cpu), 'CPU time of the servers ÷ time'),
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
    table<SideRow>({
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
      rows: SIDE_ROWS,
    }),
  );
}

type Counted<Name extends string> = readonly (readonly [name: Name, title: string, meaning: string])[];

const AGREEMENT_ROWS: Counted<Exclude<keyof Agreement, 'compared' | `life${string}`>> = [
  ['equal', 'equal', 'The same page, or no value on either side.'],
  ['older', 'older', 'The candidate has an older page of the same search.'],
  ['newer', 'newer', 'The candidate has a newer page of the same search.'],
  ['missing', 'missing', 'Only the primary has a value.'],
  ['surplus', 'surplus', 'Only the candidate has a value.'],
  ['wrong', 'wrong', 'The candidate has a value that is no page of this search, or other bytes than its page.'],
];

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
        { title: 'Result', cell: ([, title]) => title },
        { title: 'Reads', isNumber: true, cell: ([name]) => countText(agreement[name]) },
        {
          title: 'Share',
          isNumber: true,
          cell: ([name]) => percentText(compared > 0 ? agreement[name] / compared : undefined),
        },
        { title: 'Meaning', isProse: true, cell: ([, , meaning]) => meaning },
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

const COPY_ROWS: Counted<keyof Copying> = [
  ['sampled', 'sampled', 'Reads and writes of sampled keys.'],
  ['sent', 'sent', 'Copies that were sent to the candidate.'],
  ['dropped', 'dropped', 'Copies that were given up because the queue was full.'],
  ['paused', 'paused', 'Copies that were not made because the event loop was late.'],
  ['filled', 'filled', 'Values of the primary that were written to the candidate, because it had none.'],
];

function copySection({ total: { copying } }: ShadowReport): Markup {
  return element(
    'section',
    { 'aria-labelledby': 'copies' },
    element('h2', { id: 'copies' }, 'Copies'),
    table<(typeof COPY_ROWS)[number]>({
      caption: 'Copies of reads and writes',
      narrow: 'cards',
      columns: [
        { title: 'Copies', cell: ([, title]) => title },
        { title: 'Number', isNumber: true, cell: ([name]) => countText(copying[name]) },
        { title: 'Meaning', isProse: true, cell: ([, , meaning]) => meaning },
      ],
      rows: COPY_ROWS,
    }),
  );
}
