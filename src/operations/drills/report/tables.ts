import { ends, note, reportSection, said, table, withTooltip } from '../../../report/components.ts';
import {
  bytesText,
  countText,
  durationText,
  elapsedText,
  percentText,
  perSecondText,
  UNKNOWN,
  utcText,
} from '../../../report/format.ts';
import { medianOf } from '../../../report/plot/curve.ts';
import { type Child, h, type TreeElement } from '../../../report/tree.ts';
import type { FlushPreview } from '../../flush/flush.ts';
import type { Figures } from '../../meter/figures.ts';
import type { Journal, Mark } from '../journal.ts';
import type { Plan } from '../plan.ts';
import { guardRuleText, guardText, markOf, STAGE_COLUMNS, stageRows } from '../view.ts';
import { type Conclusion, conclusionsOf, type TestedGuard, testedGuard } from './conclusions.ts';
import { type Segment, segmentsOf, type Track } from './track.ts';

/** The figures of the plots, one row per phase. */
export function phaseTable(track: Track, plan: Plan): TreeElement | undefined {
  return table<Segment>({
    caption: 'The plots in figures, phase by phase',
    narrow: 'sideways',
    columns: [
      { title: 'Phase', cell: ({ name }) => name },
      { title: 'From', isNumber: true, cell: ({ fromMs }) => elapsedText(fromMs) },
      { title: 'Lasted', isNumber: true, cell: ({ fromMs, toMs }) => durationText(toMs - fromMs) },
      { title: 'Searches', isNumber: true, cell: (one) => countText(sum(one, ({ searches }) => searches)) },
      { title: 'Hit ratio', isNumber: true, cell: (one) => percentText(share(one, ['hit-l1', 'hit-l2'])) },
      { title: 'Stale', isNumber: true, cell: (one) => percentText(share(one, ['stale'])) },
      { title: 'Shed', isNumber: true, cell: (one) => percentText(share(one, ['shed'])) },
      { title: 'Failed', isNumber: true, cell: (one) => percentText(share(one, ['failed'])) },
      { title: 'p50', isNumber: true, cell: (one) => durationText(medianOf(values(one, ({ p50Ms }) => p50Ms))) },
      { title: 'p99, worst', isNumber: true, cell: (one) => durationText(most(values(one, ({ p99Ms }) => p99Ms))) },
      { title: 'Engine, mean', isNumber: true, cell: (one) => perSecondText(meanRate(one)) },
      {
        title: 'Engine, peak of a sample',
        isNumber: true,
        cell: (one) => perSecondText(most(values(one, ({ engineCallsPerSecond }) => engineCallsPerSecond))),
      },
      {
        title: 'In flight, most',
        isNumber: true,
        cell: (one) => countText(most(values(one, ({ engineInFlight }) => engineInFlight))),
      },
    ],
    rows: segmentsOf(track, plan),
  });
}

function values({ slices }: Segment, of: (figures: Figures) => number | undefined): readonly number[] {
  return slices.flatMap(({ data }) => {
    const value = of(data.figures);
    return value !== undefined && Number.isFinite(value) ? [value] : [];
  });
}

function sum(segment: Segment, of: (figures: Figures) => number): number {
  return values(segment, of).reduce((total, value) => total + value, 0);
}

function share(segment: Segment, outcomes: readonly (keyof Figures['outcomes'])[]): number | undefined {
  const searches = sum(segment, (figures) => figures.searches);
  const found = outcomes.reduce((total, outcome) => total + sum(segment, (figures) => figures.outcomes[outcome]), 0);
  return searches > 0 ? found / searches : undefined;
}

/** Weighted by the duration of each sample. */
function meanRate(segment: Segment): number | undefined {
  const seconds = sum(segment, (figures) => figures.seconds);
  return seconds > 0 ? sum(segment, (figures) => figures.engineCallsPerSecond * figures.seconds) / seconds : undefined;
}

function most(some: readonly number[]): number | undefined {
  return some.length === 0 ? undefined : some.reduce((high, value) => Math.max(high, value));
}

/** One row per stage: how far the hit ratio of its cohort fell, and how soon it was back. */
export function stageTable({ result }: Track, plan: Plan): TreeElement | undefined {
  return table<readonly string[]>({
    caption: 'Stage by stage: hit ratio of its cohort, and what the engine was asked',
    columns: STAGE_COLUMNS.map((title, at) => ({ title, isNumber: at > 0, cell: (row) => row[at] })),
    rows: stageRows(result, plan),
  });
}

/** The figures that a drill is run for, each with its meaning in words. */
export function conclusionsTable(track: Track, plan: Plan): TreeElement | undefined {
  return table<Conclusion>({
    caption: 'What was learned',
    columns: [
      { title: 'Figure', cell: ({ name, meaning }) => withTooltip(name, meaning) },
      { title: 'Measured', isNumber: true, cell: ({ measured }) => measured },
      { title: 'Dry run said', isNumber: true, cell: ({ predicted }) => predicted ?? UNKNOWN },
      { title: 'In plain words', isProse: true, cell: ({ words }) => words },
    ],
    rows: conclusionsOf(track, plan),
  });
}

/** The steady-state hypothesis: the limits that had to hold before, during and after the drill. */
export function hypothesisTable(track: Track, plan: Plan): TreeElement | undefined {
  const value = (row: TestedGuard, of: number | undefined): TreeElement | string => {
    const text = guardText(row.guard.figure, of);
    return of !== undefined && of > row.guard.max ? h('strong', { class: 'word bad' })(text) : text;
  };
  return table<TestedGuard>({
    caption: 'The hypothesis: did it hold?',
    columns: [
      { title: 'Never above', cell: ({ guard }) => guardRuleText(guard) },
      { title: 'Before', isNumber: true, cell: (row) => value(row, row.before) },
      { title: 'Worst during', isNumber: true, cell: (row) => value(row, row.worst) },
      { title: 'After', isNumber: true, cell: (row) => value(row, row.after) },
      { title: 'If broken', cell: ({ guard }) => guard.then },
      { title: 'Held?', cell: heldText },
    ],
    rows: plan.guards.map((guard) => testedGuard(track, guard)),
    none: 'The plan has no guards: nothing was promised, and nothing would have ended the drill.',
  });
}

const HELD: Readonly<Record<TestedGuard['held'], readonly [tone: string, words: string]>> = {
  held: [' good', '✓ held'],
  passing: [' warn', '✓ held; above it for a moment'],
  broken: [' bad', '✕ broken at '],
  'failed before': [' bad', '✕ did not hold before'],
  'failed after': [' bad', '✕ did not hold after'],
  'not tested': ['', 'not tested'],
  'not measured': ['', 'not measured'],
};

function heldText({ held, brokenAtMs }: TestedGuard): TreeElement {
  const [tone, words] = HELD[held];
  return h('span', { class: `word${tone}` })(words, brokenAtMs === undefined ? '' : elapsedText(brokenAtMs));
}

type Node = FlushPreview['nodes'][number];

/** The preview that was shown before the start. */
export function dryRun({ preview }: Track): TreeElement | undefined {
  if (preview === undefined) return undefined;
  const { engine, memory, nodes } = preview;
  const sentence = [
    `Before the start, the last stage (${percentText(preview.fraction)}, ${preview.mode}) was expected to touch ${keysText(nodes, memory)}.`,
    engine.searches > 0
      ? `From ${countText(engine.searches)} searches in ${durationText(engine.seconds * 1000)} of one process: hit ratio ${percentText(engine.hitRatio)}, ${perSecondText(engine.engineCallsPerSecond)} to the engine, ${durationText(engine.engineCallMs)} each.`
      : 'There was no traffic to estimate the load on the engine from.',
  ];
  return h('div')(
    h('p')(sentence.join(' ')),
    table<Node>({
      caption: 'Dry run, node by node',
      columns: [
        { title: 'Node', cell: ({ node }) => said(node) },
        { title: 'Keys', isNumber: true, cell: ({ keys, exact }) => `${exact ? '' : '≈ '}${countText(keys)}` },
        { title: 'Size', isNumber: true, cell: ({ bytes, exact }) => `${exact ? '' : '≈ '}${bytesText(bytes)}` },
        { title: 'Remark', cell: ({ detail }) => (detail === undefined ? '' : said(detail)) },
      ],
      rows: nodes,
    }),
  );
}

function keysText(nodes: readonly Node[], memory: FlushPreview['memory']): string {
  const own = `${countText(memory.entries)} entries (${bytesText(memory.bytes)}) in the memory of one process`;
  if (nodes.length === 0) return own;
  const [keys, bytes] = [
    nodes.reduce((sum, node) => sum + node.keys, 0),
    nodes.reduce((sum, node) => sum + node.bytes, 0),
  ];
  const about = nodes.every(({ exact }) => exact) ? '' : 'about ';
  return `${about}${countText(keys)} keys (${bytesText(bytes)}) in the store and ${own}`;
}

/** Maximum number of rows in the page: a drill whose guards break again and again has more marks than a person reads. */
const MAX_ROWS = 300;

/** Everything the drill did, in order. */
export function timeline(journal: Journal): TreeElement {
  const marks = journal.marks.toSorted((a, b) => a.atMs - b.atMs).filter((mark, _, all) => !isRedundant(mark, all));
  const { shown, left } = ends(marks, MAX_ROWS);
  const many = journal.domains.length > 1;
  const drawn = table<Mark>({
    caption: 'What happened, and when',
    columns: [
      { title: 'Elapsed', cell: ({ atMs }) => elapsedText(atMs) },
      {
        title: 'UTC',
        cell: ({ atMs }) => h('span', { class: 'moment-text' })(utcText(journal.startedAtMs + atMs)),
      },
      ...(many ? [{ title: 'Domain', cell: ({ domain }: Mark) => said(domain) }] : []),
      { title: 'What', isProse: true, cell: (mark) => markMarkup(mark, journal.plan) },
    ],
    rows: shown,
    none: 'Nothing is written down yet.',
  });
  return reportSection(
    'timeline',
    'Timeline',
    drawn,
    left > 0 && note(`${countText(left)} marks in the middle are not shown; the JSON journal has them all.`),
  );
}

/** The phase `stage` begins with a stage that has its own mark at the same moment. */
function isRedundant(mark: Mark, all: readonly Mark[]): boolean {
  if (mark.kind !== 'phase' || mark.phase !== 'stage') return false;
  return all.some(
    ({ kind, domain, atMs }) => kind === 'stage' && domain === mark.domain && Math.abs(atMs - mark.atMs) < 500,
  );
}

function markMarkup(mark: Mark, plan: Plan): Child {
  const { lead, text, tone } = markOf(mark, plan);
  if (lead === '') return text;
  return [h('span', { class: tone === undefined ? 'word' : `word ${tone}` })(said(lead)), said(text)];
}
