import {
  bullets,
  facts,
  note,
  reportSection,
  said,
  type TableColumn,
  table,
  verdictLine,
} from '../../src/report/components.ts';
import { reportDocument } from '../../src/report/document.ts';
import {
  amountText,
  bytesText,
  countText,
  durationText,
  percentText,
  perSecondText,
  timesText,
  UNKNOWN,
  utcText,
} from '../../src/report/format.ts';
import { type Child, h, type TreeElement } from '../../src/report/tree.ts';
import type { Comparison, FigureComparison, StepComparison } from '../judge/compare.ts';
import type { Judged } from '../judge/judge.ts';
import type { BaseRate, Machine, RunRecord } from '../judge/record.ts';
import type { Recovery } from '../judge/recovery.ts';
import { overTime, plotContext } from './over-time.ts';
import { checksSection, publishedLadder, resourceTable, stepTables } from './tables.ts';
import { kneeWords, recoveryFigures, verdictWords } from './words.ts';

export interface ReportOptions {
  readonly record: RunRecord;
  readonly judged: Judged;
}

interface PageOptions extends ReportOptions {
  /** This run beside an earlier one. */
  readonly against?: Comparison;
}

/** The report of a load run as one HTML page of at most 400 KB, with the verdict first. */
export function reportPage({ record, judged, against }: PageOptions): string {
  return reportDocument({
    title: `${verdictWords(judged.verdict).word}: ${record.summary.script}`,
    style: LOAD_STYLE,
    body: [
      heading(record, judged),
      h('main')(
        conclusions(record, judged),
        stepTables(judged),
        publishedLadder(record, judged),
        overTime(plotContext(record, judged)),
        resourceTable(judged),
        against === undefined ? undefined : comparisonSection(against),
        checksSection(record, judged),
      ),
      h('footer')(
        'A dash stands for what was not measured. Drawn from run.json beside this page, which holds every second.',
      ),
    ],
  });
}

/** The script with its purpose, the verdict, and the conditions of the run. */
function heading(record: RunRecord, { verdict }: Judged): TreeElement {
  const { summary, machine, base, stack } = record;
  return h('header')(
    h('p', { class: 'kind' })('serpcache load report'),
    h('h1')(said(summary.script), h('span', { class: 'soft' })(' ', said(summary.purpose))),
    verdictLine(verdictWords(verdict)),
    verdict.kind === 'invalid' ? bullets(verdict.reasons.map(said), 'plain reasons') : undefined,
    facts([
      ['When', `${utcText(summary.startedAtMs)}, for ${durationText(summary.durationMs)}`],
      ['Base rate, x1', baseWords(base)],
      ['Target', targetWords(record)],
      ['Stack', stack === 'local' ? 'local: everything ran on one machine' : 'none: what was there already'],
      ['Queries', queryWords(record)],
      ['Machine of the generator', machineWords(machine)],
      ['k6', said(machine.k6)],
      ['Run', h('code')(said(record.id))],
      ['To run it again', h('code')(said(record.command))],
    ]),
  );
}

function baseWords({ rps, from, saturationRps, saturated }: BaseRate): Child {
  const rate = perSecondText(rps);
  if (from === 'told') return `${rate}, as it was told`;
  const of =
    saturationRps === undefined
      ? ''
      : ` of ${perSecondText(saturationRps)}, the most that was answered of warm searches`;
  return [`${rate}: an eighth${of}; measured just before. `, saturated === undefined ? undefined : said(saturated)];
}

function targetWords({ summary }: RunRecord): Child {
  const { baseUrls, adminUrls } = summary.target;
  const admin = adminUrls.length === 0 ? ['; no admin address: nothing inside could be seen'] : [];
  return [baseUrls.map((url, i) => [i === 0 ? undefined : ', ', said(url)]), ...admin];
}

function queryWords({ summary }: RunRecord): Child {
  const { file, count, domains, exponent, offset, onceShare, seed } = summary.queries;
  return [
    `${countText(count)} of `,
    said(file),
    ', for ',
    said(domains.join(', ')),
    `; Zipf–Mandelbrot with exponent ${String(exponent)} and offset ${amountText(offset)}, `,
    `${percentText(onceShare)} never repeated, seed ${String(seed)}`,
  ];
}

function machineWords({ cores, memoryBytes, system, generatorCpus, serviceCpus }: Machine): Child {
  const pinned = [
    generatorCpus === undefined ? [] : [`generator on ${generatorCpus}`],
    serviceCpus === undefined ? [] : [`service on ${serviceCpus}`],
  ].flat();
  const kept = pinned.length === 0 ? 'not pinned' : `processors: ${pinned.join(', ')}`;
  return [
    `${countText(cores)} ${cores === 1 ? 'core' : 'cores'}, ${bytesText(memoryBytes)}, `,
    said(system),
    '; ',
    said(kept),
  ];
}

function conclusions(record: RunRecord, judged: Judged): TreeElement {
  const { bottleneck, verdict } = judged;
  const knee = kneeWords(judged);
  return reportSection(
    'meaning',
    'What it means',
    verdict.kind === 'invalid'
      ? h('p')(
          h('strong')('This run is invalid because of its generator.'),
          ' What follows says what happened, not what the service can do: nothing of it counts for or against the service.',
        )
      : undefined,
    knee === undefined ? undefined : h('p')(said(knee)),
    h('p')(said(bottleneck.words)),
    recoveryTable(record, judged),
  );
}

function recoveryTable(record: RunRecord, { recoveries }: Judged): Child {
  const drawn = table<Recovery>({
    caption: 'Each loss: how deep it went, and when it was over',
    columns: [
      { title: 'Step', cell: ({ step }) => said(step) },
      ...recoveryFigures(record).map(
        ({ title, text, isProse = false }): TableColumn<Recovery> =>
          isProse ? { title, isProse, cell: (one) => said(text(one)) } : { title, isNumber: true, cell: text },
      ),
    ],
    rows: recoveries,
  });
  if (drawn === undefined) return undefined;
  return [
    drawn,
    note(
      'Recovered: the hit ratio stayed within two points of what it was before, as Zhang et al. count it (HotStorage ’20).',
    ),
  ];
}

/** Rules that other reports do not have. All colours are those of the palette; lines also differ in their dashes. */
export const LOAD_STYLE = `
.step-shown{fill:var(--calm)}
.step-even{fill:var(--calm)}
.step-odd{fill:var(--recovery)}
.step-broke{fill:var(--hold)}
.line.planned{--own:var(--line-ceiling);stroke-dasharray:9 4}
.line.sent,.spread.sent{--own:var(--line-control)}
.line.dropped,.spread.dropped{--own:var(--line-broken);stroke-width:2;stroke-dasharray:2 2}
.line.errors{--own:var(--line-ceiling);stroke-width:2;stroke-dasharray:2 2}
.line.p90{--own:var(--line-noted);stroke-dasharray:3 2}
.line.before{--own:var(--line-ceiling);stroke-dasharray:1.5 3}
.line.nodes,.spread.nodes{--own:var(--line-control)}
.line.store,.spread.store{--own:var(--line-p50);stroke-dasharray:7 3}
.line.service{--own:var(--line-control);stroke-width:2.2}
.line.stores{--own:var(--line-p50);stroke-dasharray:7 3}
.line.generator{--own:var(--line-queued);stroke-dasharray:4 2}
.line.machine{--own:var(--line-ceiling);stroke-dasharray:1.5 3}
.moment.started{--own:var(--line-control)}
.missing{margin:1rem 0}
.sideways td.words{min-width:11rem;white-space:normal}
.sideways thead th{white-space:normal;overflow-wrap:normal;vertical-align:bottom}
.was{display:block;font-size:.8125rem}
.title{font-weight:400}
.reasons{margin-top:0}
@media screen and (max-width:51.99rem){.sideways .was{display:block;font-size:.8125rem}
.title{display:none}}
@media print{.sideways thead th{font-size:7pt}.sideways td.number{white-space:nowrap}.sideways td.words{min-width:0}.sideways .title{display:none}.was{font-size:6.5pt}}
pre.command{margin:.4rem 0;padding:.5rem .7rem;background:var(--raised);border:1px solid var(--line);border-radius:.3rem;white-space:pre-wrap;overflow-wrap:anywhere}
`;

const TEXTS: Readonly<Record<FigureComparison['unit'], (value: number | undefined) => string>> = {
  perSecond: perSecondText,
  ms: durationText,
  share: percentText,
  cores: (cores) => (cores === undefined ? UNKNOWN : `${amountText(cores)}\u00a0cores`),
};

/** Smaller changes are shown by the two figures alone. */
const MIN_CHANGE = 0.05;

/** This run beside an earlier one: the other differences, then a table with a row for each step. */
function comparisonSection({ earlier, notes, steps, words }: Comparison): TreeElement {
  const names = [...new Set(steps.flatMap(({ figures }) => figures.map(({ name }) => name)))];
  const unlike = steps.filter(({ isComparable }) => !isComparable).length;
  return reportSection(
    'comparison',
    'Beside an earlier run',
    h('p')('Earlier: ', h('code')(said(earlier)), '. ', said(words)),
    bullets(notes.map(said)),
    table<StepComparison>({
      caption: 'Each step now, and what it was then',
      narrow: 'sideways',
      columns: [
        { title: 'Step', cell: stepCell },
        ...names.map(
          (name): TableColumn<StepComparison> => ({
            title: /^p[0-9]/.test(name) ? name : `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
            isNumber: true,
            cell: ({ figures }) => figureCell(figures.find((one) => one.name === name)),
          }),
        ),
      ],
      rows: steps,
      none: 'The two have no step of the same name.',
    }),
    unlike === 0
      ? undefined
      : note(`${countText(unlike)} of the steps cannot be compared: their rates differ, or one of them was not run.`),
  );
}

function stepCell({ name, isComparable }: StepComparison): Child {
  return [said(name), isComparable ? undefined : h('span', { class: 'soft title was' })('not comparable')];
}

function figureCell(figure: FigureComparison | undefined): Child {
  if (figure === undefined) return undefined;
  const text = TEXTS[figure.unit];
  const was = figure.earlier === undefined ? 'not known then' : `was ${text(figure.earlier)}`;
  const { unit, ratio } = figure;
  // Two shares can be compared without their ratio.
  const hasTimes = unit !== 'share' && ratio !== undefined && Math.abs(ratio - 1) >= MIN_CHANGE;
  const times = hasTimes ? h('span', { class: 'was' })(`now ${timesText(ratio)}`) : undefined;
  return [text(figure.now), h('span', { class: 'soft was' })(was), times];
}
