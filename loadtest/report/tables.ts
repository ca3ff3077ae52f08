import { facts, note, reportSection, said, type TableColumn, table } from '../../src/report/components.ts';
import {
  amountText,
  bytesText,
  countText,
  durationText,
  percentText,
  perSecondText,
  timesText,
  UNKNOWN,
} from '../../src/report/format.ts';
import { type Child, h, type TreeElement } from '../../src/report/tree.ts';
import type { Judged } from '../judge/judge.ts';
import type { RunRecord } from '../judge/record.ts';
import type { ResourceUse } from '../judge/resources.ts';
import type { StepFigures } from '../judge/step-figures.ts';
import { plannedRate } from '../k6/kit/step.ts';
import type { CheckSummary, Latency, Verdict } from '../k6/kit/summary.ts';
import { countOf, OUTCOME_LAYERS, PAGELESS_LAYERS } from './answer-plots.ts';
import { resultMark } from './words.ts';

export interface StepFigure {
  readonly title: string;
  readonly text: (figures: StepFigures) => string;
}

const MAX_OUTCOMES = 3;

/** A step as clients saw it: the same on the page, in a terminal and in a README. */
export const CLIENT_FIGURES = {
  planned: { title: 'Planned', text: ({ summary }) => perSecondText(plannedRate(summary.step)) },
  sent: { title: 'Searches', text: (step) => (isRun(step) ? perSecondText(step.searchesPerSecond) : UNKNOWN) },
  p50: { title: 'p50', text: (step) => latency(step, 'p50') },
  p95: { title: 'p95', text: (step) => latency(step, 'p95') },
  p99: { title: 'p99', text: (step) => latency(step, 'p99') },
  errors: { title: 'Errors', text: ({ summary }) => percentText(summary.errorRate) },
  hits: { title: 'Hit ratio', text: ({ summary }) => percentText(summary.hitRatio) },
} as const satisfies Readonly<Record<string, StepFigure>>;

export const PART_FIGURES = {
  engine: { title: 'Engine calls', text: (step) => (isRun(step) ? perSecondText(step.engineCallsPerSecond) : UNKNOWN) },
  amplification: { title: 'Per search', text: (step) => (isRun(step) ? timesText(step.amplification) : UNKNOWN) },
  permits: { title: 'In flight, most', text: permitsText },
  store: { title: 'Store commands', text: ({ storeCommandsPerSecond }) => perSecondText(storeCommandsPerSecond) },
  serviceMemory: { title: 'Service memory', text: ({ serviceBytes }) => bytesText(serviceBytes) },
  storeMemory: { title: 'Store memory', text: ({ storeBytes }) => bytesText(storeBytes) },
  serviceCores: { title: 'Service cores', text: ({ serviceCores }) => amountText(serviceCores) },
  storeCores: { title: 'Store cores', text: ({ storeCores }) => amountText(storeCores) },
  engineCores: { title: 'Engine cores', text: ({ engineCores }) => amountText(engineCores) },
  generatorCores: { title: 'Generator cores', text: ({ generatorCores }) => amountText(generatorCores) },
  machine: { title: 'Machine busy', text: ({ machineBusyShare }) => percentText(machineBusyShare) },
} as const satisfies Readonly<Record<string, StepFigure>>;

/** The most frequent outcomes, and all without a page: `hit-l1 72 %, hit-l2 19 %, shed 2 %`. */
function outcomesText({ summary }: StepFigures): string {
  const counts = OUTCOME_LAYERS.map((layer) => ({ layer, count: countOf(summary.outcomes, layer) }));
  const all = counts.reduce((sum, { count }) => sum + count, 0);
  const shown = counts
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
    .filter(({ layer }, rank) => rank < MAX_OUTCOMES || PAGELESS_LAYERS.includes(layer));
  return shown.map(({ layer, count }) => `${layer.name} ${percentText(count / all)}`).join(', ') || UNKNOWN;
}

function isRun({ summary }: StepFigures): boolean {
  return summary.searches > 0;
}

function latency({ summary }: StepFigures, of: keyof Latency): string {
  return durationText(summary.latencyMs?.[of]);
}

function permitsText({ engineInFlightMax: most, engineCeiling: ceiling }: StepFigures): string {
  if (most === undefined) return UNKNOWN;
  return ceiling === undefined ? countText(most) : `${countText(most)} of ${countText(ceiling)}`;
}

/** Two tables with a row for each step: the clients' view, then the load of the parts. */
export function stepTables({ steps, verdict }: Judged): TreeElement {
  const numbers = (figures: readonly StepFigure[]): readonly TableColumn<StepFigures>[] =>
    figures.map(({ title, text }) => ({ title, isNumber: true, cell: text }));
  const parts = Object.values(PART_FIGURES).filter(({ text }) => steps.some((step) => text(step) !== UNKNOWN));
  const absent = Object.values(PART_FIGURES).filter((one) => !parts.includes(one));
  return reportSection(
    'steps',
    'Step by step',
    table<StepFigures>({
      caption: 'What clients saw while the rate of each step held',
      narrow: 'sideways',
      columns: [
        { title: 'Step', cell: stepName },
        ...numbers(Object.values(CLIENT_FIGURES)),
        { title: 'Commonest outcomes', isProse: true, cell: outcomesText },
        { title: 'Result', isProse: true, cell: (step) => resultCell(step, verdict) },
      ],
      rows: steps,
      none: 'The script has no steps.',
    }),
    parts.length === 0
      ? undefined
      : table<StepFigures>({
          caption: 'What it took: engine calls, store commands, memory and processors',
          narrow: 'sideways',
          columns: [{ title: 'Step', cell: ({ summary }) => said(summary.step.name) }, ...numbers(parts)],
          rows: steps,
        }),
    absent.length === 0
      ? undefined
      : note(`Not measured in this run: ${absent.map(({ title }) => title.toLowerCase()).join(', ')}.`),
  );
}

function stepName({ summary: { step } }: StepFigures): Child {
  return [said(step.name), ' ', h('span', { class: 'soft title' })(said(step.title))];
}

function resultCell({ summary }: StepFigures, verdict: Verdict): Child {
  const why = summary.broken.length === 0 ? undefined : [': ', said(summary.broken.join('; '))];
  return [resultMark(summary.result, verdict), why];
}

export function resourceTable({ resources, steps, bottleneck }: Judged): TreeElement {
  const { unmeasured } = bottleneck;
  return reportSection(
    'resources',
    'What was how full',
    table<ResourceUse>({
      caption: 'Use of what there is, by step',
      narrow: 'sideways',
      columns: [
        { title: 'What', cell: ({ name }) => said(name) },
        { title: 'Kind', cell: ({ kind }) => kind },
        ...steps.map(
          ({ summary }, at): TableColumn<ResourceUse> => ({
            title: summary.step.name,
            isNumber: true,
            cell: ({ byStep }) => percentText(byStep[at]),
          }),
        ),
        { title: 'That is', isProse: true, cell: ({ words }) => said(words) },
        {
          title: 'Full at',
          isNumber: true,
          cell: ({ fullAtRps: rps }) =>
            rps === undefined ? UNKNOWN : `≈ ${perSecondText(Number(rps.toPrecision(2)))}`,
        },
      ],
      rows: resources,
      none: 'Nothing that can be full was measured.',
    }),
    note(
      'Full at: the searches a second at which it would be full if its use went on growing as it did; a dash where that cannot be told.',
      unmeasured.length === 0 ? undefined : ` Could not be measured here: ${unmeasured.join(', ')}.`,
    ),
  );
}

/** A published ladder, by the multiple of the base rate. Nothing was published for the other rungs. */
const OWN_STORE: Readonly<Record<number, string>> = {
  2: 'few errors',
  3: 'errors and delay grew linearly until the disk limit went, then held',
};
const MANAGED_STORE: Readonly<Record<number, string>> = { 4: 'errors and delay rise' };

/** The published rung in words, for one column; a dash where nothing was published, and for another script. */
export function publishedWords({ summary }: RunRecord, { summary: { step } }: StepFigures): string {
  if (summary.script !== 'x-load' || step.multiplier === undefined) return UNKNOWN;
  const managed = MANAGED_STORE[step.multiplier];
  return OWN_STORE[step.multiplier] ?? (managed === undefined ? UNKNOWN : `a managed store: ${managed}`);
}

/** The published ladder beside this run, for the script with the same rungs. */
export function publishedLadder({ summary }: RunRecord, { steps, verdict }: Judged): TreeElement | undefined {
  const rungs = steps.filter(({ summary: { step } }) => step.multiplier !== undefined);
  if (summary.script !== 'x-load' || rungs.length === 0) return undefined;
  const published = (ladder: Readonly<Record<number, string>>) => (rung: StepFigures) =>
    ladder[rung.summary.step.multiplier ?? Number.NaN] ?? UNKNOWN;
  return reportSection(
    'ladder',
    'Beside a published ladder',
    table<StepFigures>({
      caption: 'The same multiples of a base rate, there and here',
      columns: [
        { title: 'Rung', cell: ({ summary: { step } }) => said(step.name) },
        { title: 'There, own store', cell: published(OWN_STORE) },
        { title: 'There, managed', cell: published(MANAGED_STORE) },
        { title: 'Errors here', isNumber: true, cell: CLIENT_FIGURES.errors.text },
        { title: 'p99 here', isNumber: true, cell: CLIENT_FIGURES.p99.text },
        { title: 'Result here', cell: (rung) => resultMark(rung.summary.result, verdict) },
      ],
      rows: rungs,
    }),
    note(
      'There: a published load test of a classifieds site’s search cache, first on a store of its own, then on a managed one. It gave no figures beyond these words; x1 was its usual traffic, here it is the base rate above.',
    ),
  );
}

/** The checks of the answers, the generator, and the command that repeats the run. */
export function checksSection({ summary, command }: RunRecord, { steps }: Judged): TreeElement {
  const { requests, dropped, vusUsed, vusCap, emptyThresholds } = summary.generator;
  const cores = steps.flatMap(({ generatorCores }) => generatorCores ?? []);
  const most = cores.length === 0 ? undefined : Math.max(...cores);
  const share = vusCap > 0 ? ` (${percentText(vusUsed / vusCap)})` : '';
  return reportSection(
    'trust',
    'Checks, generator, and again',
    table<CheckSummary>({
      caption: 'Checks of the answers',
      columns: [
        { title: 'Check', cell: ({ name }) => said(name) },
        { title: 'Held', isNumber: true, cell: ({ passes }) => countText(passes) },
        { title: 'Did not', isNumber: true, cell: ({ fails }) => countText(fails) },
        { title: 'Result', cell: checkResult },
      ],
      rows: summary.checks,
      none: 'No answer was checked.',
    }),
    h('h3')('The generator'),
    facts([
      ['Requests', countText(requests)],
      ['Due, but not begun', countText(dropped)],
      ['Virtual users, of their cap', `${countText(vusUsed)} of ${countText(vusCap)}${share}`],
      ['Cores of k6, in its hardest step', most === undefined ? 'not measured' : amountText(most)],
      ['Thresholds without a sample', emptyThresholds.length === 0 ? 'none' : said(emptyThresholds.join(', '))],
    ]),
    note(
      'Requests are begun when they are due, whether or not earlier ones were answered. A run whose generator could not begin them all, or nearly ran out of virtual users or of processor time, is invalid.',
    ),
    h('h3')('To run it again'),
    h('pre', { class: 'command' })(h('code')(said(command))),
    note(`With the same seed (${String(summary.queries.seed)}) and query file the same searches are sent.`),
  );
}

function checkResult({ passes, fails }: CheckSummary): TreeElement {
  if (fails > 0) return h('span', { class: 'word bad' })(`✕ ${percentText(fails / (passes + fails))} did not`);
  return passes > 0 ? h('span', { class: 'word good' })('✓ always') : h('span', { class: 'word' })('– never asked');
}
