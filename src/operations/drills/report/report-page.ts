import {
  bullets,
  capitalized,
  facts,
  note,
  reportSection,
  SIGNS,
  said,
  type TableColumn,
  table,
  type VerdictWords,
  verdictLine,
} from '../../../report/components.ts';
import { reportDocument } from '../../../report/document.ts';
import { countText, durationText, elapsedText, percentText, pointsText, utcText } from '../../../report/format.ts';
import { backdrop, panelFigure } from '../../../report/plot/figure.ts';
import { timeScale } from '../../../report/plot/frame.ts';
import { h, type TreeElement } from '../../../report/tree.ts';
import type { Journal, Mark, Verdict } from '../journal.ts';
import type { Plan, PlanStage } from '../plan.ts';
import { drillVerdict, guardRuleText, MEANINGS, modeText, stageHeading, stageName, survivalFigures } from '../view.ts';
import { guardPlots, mainPlots } from './plots.ts';
import { conclusionsTable, dryRun, hypothesisTable, phaseTable, stageTable, timeline } from './tables.ts';
import { drillAnnotations, lastStage, type PlotInput, plotKey, samplesOf, type Track, trackOf } from './track.ts';

/** Number of points along a plot, for all domains together: it keeps the page under 300 KB, also for a long drill. */
const COLUMNS = 400;
const [MAX_COLUMNS, MIN_COLUMNS] = [360, 24];

/** The report of a drill as one HTML page. Rendered from the journal alone, also while the drill runs. */
export function reportPage(journal: Journal): string {
  const columns = Math.floor(COLUMNS / Math.max(1, journal.domains.length));
  const perDomain = Math.min(MAX_COLUMNS, Math.max(MIN_COLUMNS, columns));
  return reportDocument({
    title: `${verdictWords(journal).word}: ${journal.plan.title} on ${journal.domains.join(', ')}`,
    body: [
      heading(journal),
      h('main')(
        overview(journal),
        journal.domains.map((_, at) => domainSection(journal, at, perDomain)),
        timeline(journal),
        planSection(journal),
      ),
      h('footer')(
        'A dash stands for what was not measured. Shares of keys are shares of their hashes. Drawn from the JSON journal of this drill, which holds every sample.',
      ),
    ],
  });
}

const VERDICT_SIGNS: Readonly<Record<Verdict['kind'], string>> = {
  passed: SIGNS.check,
  failed: SIGNS.cross,
  'not-measured': SIGNS.question,
  refused: SIGNS.bar,
  aborted: SIGNS.stop,
  lost: SIGNS.question,
};

function verdictWords(journal: Journal): VerdictWords {
  const { kind, word, detail, tone } = drillVerdict(journal);
  const sign = kind === undefined ? SIGNS.wait : VERDICT_SIGNS[kind];
  return { word: capitalized(word), detail, tone, sign };
}

/** Title, verdict, and the facts of the drill. */
function heading(journal: Journal): TreeElement {
  const { plan, verdict, endedAtMs } = journal;
  const resumable = verdict?.resumable;
  return h('header')(
    h('p', { class: 'kind' })('serpcache drill report'),
    h('h1')(said(plan.title), h('span', { class: 'soft' })(' on ', said(journal.domains.join(', ')))),
    verdictLine(verdictWords(journal)),
    facts([
      ['Reason', said(journal.reason)],
      ['By', said(journal.by)],
      ['Began', utcText(journal.startedAtMs)],
      ['Ended', endedAtMs === undefined ? 'not yet' : utcText(endedAtMs)],
      ['Lasted', endedAtMs === undefined ? undefined : durationText(Math.max(0, endedAtMs - journal.startedAtMs))],
      ['Restored', restoredText(journal.marks)],
      ['Resumes', journal.resumes === undefined ? undefined : said(journal.resumes)],
      [
        'Can be resumed',
        resumable === undefined
          ? undefined
          : ['with ', stageHeading(plan, resumable.stage), ' of ', said(resumable.domain)],
      ],
      ['Run by', said(journal.owner)],
      ['Drill', h('code')(said(journal.id))],
    ]),
  );
}

/** When the cache was restored, and how long after the guard broke. */
function restoredText(marks: readonly Mark[]): string | undefined {
  const restored = marks.findLast(({ kind }) => kind === 'restored');
  if (restored === undefined) return undefined;
  const broken = marks.findLast(
    (mark) => mark.kind === 'guard' && mark.then === 'rollback' && mark.atMs <= restored.atMs,
  );
  const soon = broken === undefined ? '' : `, ${durationText(restored.atMs - broken.atMs)} after the guard broke`;
  return `${elapsedText(restored.atMs)}${soon}`;
}

interface Row {
  readonly at: number;
  readonly track: Track;
}

/** One row per domain; absent for a drill of one domain. */
function overview(journal: Journal): TreeElement | undefined {
  if (journal.domains.length < 2) return undefined;
  return table<Row>({
    caption: 'Domain by domain',
    columns: [
      { title: 'Domain', cell: ({ at, track }) => h('a', { href: `#domain-${at + 1}` })(said(track.domain)) },
      { title: 'Came to', cell: ({ track }) => reached(journal, track) },
      survivalColumn('Headroom left', MEANINGS.headroom, 'headroomLeft'),
      survivalColumn('Amplification', MEANINGS.amplification, 'amplification'),
      survivalColumn('f*', MEANINGS.survivable, 'survivable'),
      { title: 'Longest refill', isNumber: true, cell: ({ track }) => durationText(longestRefillMs(track)) },
      { title: 'Shed, failed', isNumber: true, cell: ({ track }) => countText(refused(track)) },
      { title: 'Guards broken', isNumber: true, cell: ({ track }) => countText(track.marks.filter(isBreak).length) },
    ],
    rows: journal.domains.map((domain, at) => ({ at, track: trackOf(journal, domain) })),
  });
}

function survivalColumn(
  title: string,
  meaning: string,
  figure: keyof ReturnType<typeof survivalFigures>,
): TableColumn<Row> {
  return { title, meaning, isNumber: true, cell: ({ track }) => survivalFigures(track.result)[figure].text };
}

function reached({ plan }: Journal, track: Track): string {
  const stage = lastStage(track);
  if (stage !== undefined) return stageName(plan, stage);
  return track.runs.length === 0 ? 'not begun' : 'nothing flushed';
}

function longestRefillMs({ result }: Track): number | undefined {
  return result?.stages.reduce<number | undefined>(
    (most, { refillMs }) => (refillMs === undefined ? most : Math.max(most ?? 0, refillMs)),
    undefined,
  );
}

function refused(track: Track): number | undefined {
  const samples = samplesOf(track);
  if (samples.length === 0) return undefined;
  return samples.reduce((sum, { figures }) => sum + (figures.outcomes.shed || 0) + (figures.outcomes.failed || 0), 0);
}

function isBreak({ kind }: Mark): boolean {
  return kind === 'guard';
}

/** The section of one domain: conclusions, plots, and the figures of both. */
function domainSection({ plan, ...journal }: Journal, at: number, columns: number): TreeElement {
  const domain = journal.domains[at] ?? '';
  const track = trackOf({ plan, ...journal }, domain);
  const input: PlotInput = { track, columnMs: (track.toMs - track.fromMs) / columns };
  const annotations = drillAnnotations(track, plan);
  const id = `domain-${at + 1}`;
  const guards = guardPlots(input, plan, `${id}-guard`);
  return reportSection(
    id,
    journal.domains.length > 1 ? ['Domain ', said(domain)] : 'Result',
    conclusionsTable(track, plan),
    h('h3')('Over time'),
    plotKey(input, annotations),
    backdrop({ id, x: timeScale(track), ...annotations }),
    mainPlots(input, plan, id).map((panel) => panelFigure(panel, id)),
    stageTable(track, plan),
    hypothesisTable(track, plan),
    guards.length > 0 && [
      h('h3')('Guards'),
      h('div', { class: 'plots' })(guards.map((panel) => panelFigure(panel, id, { isHalf: true }))),
    ],
    phaseTable(track, plan),
    h('h3')('What the dry run said'),
    dryRun(track) ?? note('No dry run is written down.'),
  );
}

/** The plan at the time of the drill. */
function planSection({ plan, domains }: Journal): TreeElement {
  const numbered = plan.stages.map((stage, at) => ({ stage, at }));
  return reportSection(
    'plan',
    'The plan as run',
    facts([
      ['Name', said(plan.name)],
      ['Mode', `${plan.mode}${plan.mode === 'erase' ? ` by ${plan.eraseBy}` : ''}: ${modeText(plan)}`],
      ['Domains', said(domains.join(', '))],
      ['Baseline', `${durationText(plan.baselineMs)}, with at least ${countText(plan.minSearches)} searches`],
      ['Control cohort', `${percentText(plan.holdout)} of the keys, flushed by no stage`],
      [
        'Recovered',
        `within ${pointsText(plan.recovery.withinPoints)} of its own past, in ${durationText(plan.recovery.timeoutMs)} at most`,
      ],
      ['Measured afterwards', durationText(plan.afterMs)],
    ]),
    table<{ readonly stage: PlanStage; readonly at: number }>({
      caption: 'Stages',
      columns: [
        { title: 'Stage', cell: ({ at }) => said(stageHeading(plan, at)) },
        { title: 'Held for', isNumber: true, cell: ({ stage }) => durationText(stage.holdMs) },
        { title: 'Loses', cell: ({ stage }) => losesText(stage, plan) },
      ],
      rows: numbered,
    }),
    bullets(plan.guards.map((guard) => `Guard – never above ${guardRuleText(guard)}; then ${guard.then}.`)),
  );
}

function losesText(stage: PlanStage, plan: Plan): string {
  switch (stage.kind) {
    case 'fraction':
      return stage.fraction > 1 - plan.holdout
        ? 'every key but those of the control cohort'
        : `${percentText(stage.fraction)} of the keys, chosen by their hash`;
    case 'node':
      return "what lives on that node of the store, but for the control cohort's keys";
    case 'blackout':
      return 'the engine: its breakers are forced open';
  }
}
