import type { DrillSummary } from '../../../../operations/drills/drills.ts';
import type { Journal } from '../../../../operations/drills/journal.ts';
import type { Plan } from '../../../../operations/drills/plan.ts';
import {
  drillVerdictWord,
  endingText,
  GUARD_ACTION_WORDS,
  guardName,
  guardText,
  isBlackout,
  MEANINGS,
  modeText,
  planDurationMs,
  STAGE_COLUMNS,
  stageRows,
  stageTitles,
  stateText,
  survivalFigures,
  VERDICT_TONES,
} from '../../../../operations/drills/view.ts';
import type { FlushPreview } from '../../../../operations/flush/flush.ts';
import { bullets, facts, withTooltip } from '../../../../report/components.ts';
import {
  amountText,
  bytesText,
  countText,
  durationText,
  percentText,
  perSecondText,
  pointsText,
  stopwatchText,
  UNKNOWN,
} from '../../../../report/format.ts';
import { swatch } from '../../../../report/plot/figure.ts';
import { h } from '../../../../report/tree.ts';
import { currentDomain, type Model, runningDrills } from '../model.ts';
import { previewFigures } from './changes.ts';
import { cohortRatios, cohortStyle, drilledDomain, MIN_SEARCHES } from './cohorts.ts';
import {
  actionButton,
  badge,
  choiceField,
  dayTime,
  feedbackView,
  feedView,
  formView,
  listTable,
  panel,
  quietButton,
  reasonField,
  scrollTable,
  softView,
} from './components.ts';

/** The drills view: the list of drills, and the drill that is watched. */

export function drillsView(model: Model) {
  return h('div', { class: 'drills' })(drillWatchView(model), drillStartView(model), drillListView(model));
}

function drillListView(model: Model) {
  return panel(
    'past-drills',
    'Drills and their reports',
    feedView(model, model.feeds.drills, ({ drills, unreadable }) => [
      listTable(
        'None yet.',
        'Drills, newest first',
        ['started', 'plan', 'domains', 'verdict', ''],
        drills.map((drill) => [
          dayTime(drill.startedAtMs),
          drill.title,
          drill.domains.join(', '),
          verdictView(drill),
          h('span', { class: 'row' })(drillButtons(model, drill)),
        ]),
      ),
      unreadable.map(({ id, where, why }) =>
        softView(badge('warn', 'unreadable'), ` ${id === undefined ? '' : `${id}, `}in ${where}: ${why}`),
      ),
    ]),
    feedbackView(model, 'drills'),
  );
}

function verdictView({ verdict, running, ending, startedAtMs, endedAtMs }: DrillSummary) {
  const took = endedAtMs === undefined ? '' : ` after ${durationText(endedAtMs - startedAtMs)}`;
  if (verdict !== undefined)
    return [badge(VERDICT_TONES[verdict.kind], drillVerdictWord(verdict.kind)), took, h('small')(verdict.detail)];
  if (ending !== undefined) return h('small')(endingText(ending));
  return running ? badge('warn', 'running') : badge('none', 'unknown');
}

function drillButtons(model: Model, { id, title, running, ending, verdict, here }: DrillSummary) {
  return [
    quietButton('watch', 'Look', { 'data-id': id, 'aria-label': `Look at ${title}, ${id}` }),
    !running &&
      ending === undefined &&
      quietButton('report', 'Report', { 'data-id': id, 'aria-label': `Report of ${title}, ${id}` }),
    verdict?.resumable !== undefined &&
      here &&
      actionButton(
        model,
        'resume',
        { class: 'quiet', 'data-id': id, 'aria-label': `Resume ${title}, ${id}` },
        'Resume…',
      ),
  ];
}

/** The drill that is watched, from the part of its journal that was read. */
function drillWatchView(model: Model) {
  const { watched: id, feeds } = model;
  if (id === undefined) return undefined;
  const journal = feeds.journal?.value;
  const isElsewhere = runningDrills(model).find((drill) => drill.id === id)?.here === false;
  if (journal === undefined && isElsewhere) {
    const text = 'Another process runs this drill, and keeps its journal until the end.';
    return panel('watch', `Drill ${id}`, softView(text));
  }
  return panel(
    'watch',
    journal?.plan.title ?? `Drill ${id}`,
    feedView(model, feeds.journal, (value) => journalView(model, value)),
  );
}

function journalView(model: Model, journal: Journal) {
  const { id } = journal;
  const isOver = journal.state.kind === 'over';
  return [
    h('div', { class: 'row watch-head' })(
      h('p', { class: 'phase' })(
        journal.verdict === undefined
          ? stateText(journal)
          : badge(VERDICT_TONES[journal.verdict.kind], drillVerdictWord(journal.verdict.kind)),
      ),
      h('p', { class: 'clock' })(elapsedText(model, journal)),
      // With one drill the abort button of the header is enough.
      !isOver &&
        runningDrills(model).length > 1 &&
        actionButton(model, 'abort', { class: 'danger', 'data-id': id }, 'Abort this drill'),
      isOver && quietButton('report', 'Open the report', { 'data-id': id }),
    ),
    journal.verdict !== undefined && h('p')(journal.verdict.detail),
    stagesView(journal),
    softView(`${journal.domains.join(', ')} · ${journal.by}: ${journal.reason} · ${id}`),
    h('div', { class: 'plots', 'data-own': true, 'data-key': `cohorts-${id}`, 'data-cohorts': id })(),
    h('div', { class: 'two-columns' })(cohortsView(journal), guardsView(journal)),
    softView(
      `A hit ratio is taken over the last two seconds, or over up to ten until there are ${MIN_SEARCHES} searches; with fewer it is ${UNKNOWN}.`,
    ),
    isOver && learnedView(journal),
  ];
}

function elapsedText({ live }: Model, { startedAtMs, endedAtMs }: Journal) {
  const untilMs = endedAtMs ?? live?.atMs;
  return stopwatchText(untilMs === undefined ? undefined : untilMs - startedAtMs);
}

function stagesView(journal: Journal) {
  const { plan, state, verdict, marks } = journal;
  const domain = drilledDomain(journal);
  const begun = marks.flatMap((mark) => (mark.kind === 'stage' && mark.domain === domain ? [mark.stage] : []));
  const last = Math.max(-1, ...begun);
  const isAfter = verdict?.kind === 'passed' || (state.kind === 'running' && state.phase === 'after');
  const isOver = state.kind !== 'running' && !isAfter;
  return h('ol', { class: 'stages' })(
    stageTitles(plan).map((title, at) => {
      const done = isAfter || at < last;
      const here = !isAfter && at === last;
      return h('li', {
        class: done ? 'done' : here && isOver ? 'stopped' : '',
        'aria-current': here && !isOver && 'step',
      })(title, here && isOver && h('span', { class: 'visually-hidden' })(', stopped here'));
    }),
  );
}

function cohortsView(journal: Journal) {
  return scrollTable(
    'Hit ratio of the cohorts',
    ['hit ratio of', 'baseline', 'now', 'change'],
    cohortRatios(journal).map(({ name, before, now }, at) => [
      [swatch('line', cohortStyle(at)), ' ', name],
      percentText(before),
      percentText(now),
      before === undefined || now === undefined ? UNKNOWN : changeText((now - before) * 100),
    ]),
  );
}

function changeText(points: number) {
  return `${points >= 0.05 ? '+' : ''}${pointsText(points)}`;
}

function guardsView({ plan, samples }: Journal) {
  const latest = samples.at(-1)?.guards;
  return scrollTable(
    'Guards',
    ['guard', 'now', 'at most', 'else'],
    plan.guards.map(({ figure, max, then }) => {
      const now = latest?.find((guard) => guard.figure === figure);
      return [
        guardName(figure),
        now?.broken === true ? badge('bad', guardText(figure, now.value)) : guardText(figure, now?.value),
        guardText(figure, max),
        GUARD_ACTION_WORDS[then],
      ];
    }),
  );
}

function learnedView({ plan, learned, endedAtMs }: Journal) {
  return [
    h('h3')('What was learned'),
    learned.map((result) => [
      facts([
        ['domain', result.domain],
        ...Object.values(survivalFigures(result)).map(
          ({ name, meaning, text }) => [withTooltip(name, meaning), text] as const,
        ),
      ]),
      scrollTable(`Stages of ${result.domain}`, STAGE_COLUMNS, stageRows(result, plan)),
    ]),
    softView('Ended ', dayTime(endedAtMs), '.'),
  ];
}

/**
 * The form that starts a drill: first the plan and its dry run, then the reason. A drill is started only after its
 * dry run was shown.
 */
function drillStartView(model: Model) {
  const domain = currentDomain(model)?.domain ?? '';
  return panel(
    'start',
    'Start a drill',
    feedView(model, model.feeds.plans, ({ plans }) =>
      formView(model, 'dry-run', model.busy.includes('dry-run') ? 'Counting…' : 'Dry run', [
        h('fieldset', { class: 'choices' })(
          h('legend')('Plan'),
          plans.map((plan, at) => planChoice(plan, at === 0)),
        ),
        domainsChoice(model, domain),
      ]),
    ),
    dryRunView(model),
  );
}

function planChoice(plan: Plan, isFirst: boolean) {
  return choiceField(
    { type: 'radio', name: 'plan', value: plan.name, required: true, checked: isFirst },
    `plan-${plan.name}`,
    h('b')(plan.name),
    ` ${plan.title}`,
    h('small')(
      ` ${isBlackout(plan) ? 'nothing flushed' : plan.mode}, ${stageTitles(plan).join(' → ')}, at least ${durationText(planDurationMs(plan))}`,
    ),
  );
}

function domainsChoice({ live }: Model, domain: string) {
  const names = live?.domains.map((look) => look.domain) ?? [];
  return h('fieldset', { class: 'choices inline' })(
    h('legend')('Domains'),
    names.map((name) => {
      const box = { type: 'checkbox', name: 'domain', value: name, checked: name === domain };
      return choiceField(box, `domain-${name}-${domain}`, name);
    }),
  );
}

function dryRunView(model: Model) {
  const { drillDryRun: dryRun } = model;
  if (dryRun === undefined) return undefined;
  const { plan, domains, warnings } = dryRun.preview;
  return h('div', { class: 'dry-run', 'data-key': 'dry-run-result' })(
    h('h3', { id: 'dry-run-title', tabindex: '-1' })(`Dry run of ${plan.name} on ${dryRun.domains.join(', ')}`),
    h('p')(modeText(plan), ` The control cohort, ${percentText(plan.holdout)} of the keys, is never touched.`),
    bullets(warnings, 'notice warnings'),
    domains.map(({ domain, stages, cohorts }) => {
      const last = stages.at(-1)?.preview;
      return [
        h('h4')(domain),
        scrollTable(
          `Stages on ${domain}`,
          [
            'stage',
            last?.nodes.length === 0 ? 'pages in memory' : 'keys in the store',
            'size',
            'extra calls/s, at most',
            withTooltip('survivable f*, at least', MEANINGS.survivable),
            'searches of its keys',
            'tells something after',
          ],
          stages.map(({ title, preview }, at) => [
            title,
            countText(lostIn(preview, ({ keys }) => keys) ?? preview.memory.entries),
            bytesText(lostIn(preview, ({ bytes }) => bytes) ?? preview.memory.bytes),
            amountText(preview.engine.extraCallsPerSecond),
            percentText(preview.engine.survivable),
            perSecond(cohorts.stages[at]?.searchesPerSecond),
            durationText(cohorts.stages[at]?.enoughMs),
          ]),
        ),
        softView(
          `The keys of the control cohort get ${perSecond(cohorts.control.searchesPerSecond)} searches. These are means of this process: the keys that are drawn may be searched for less.`,
        ),
        last !== undefined && [h('h4')(`At the last stage of ${domain}`), previewFigures(last)],
      ];
    }),
    guardRulesView(plan),
    formView(
      model,
      'start-drill',
      'Start the drill…',
      [reasonField('Reason', { required: true, placeholder: 'rehearsal before the sale' })],
      'danger',
    ),
  );
}

function guardRulesView({ guards, recovery }: Plan) {
  return [
    scrollTable(
      'Guards of the plan',
      ['guard', 'at most', 'broken for', 'then'],
      guards.map(({ figure, max, forMs, then }) => [
        guardName(figure),
        guardText(figure, max),
        durationText(forMs),
        GUARD_ACTION_WORDS[then],
      ]),
    ),
    softView(
      `Recovered when within ${pointsText(recovery.withinPoints)} of its own past, in ${durationText(recovery.timeoutMs)} at most.`,
    ),
  ];
}

/** Over all nodes of the store; undefined without a store. */
function lostIn({ nodes }: FlushPreview, count: (node: FlushPreview['nodes'][number]) => number) {
  return nodes.length === 0 ? undefined : nodes.reduce((total, node) => total + count(node), 0);
}

function perSecond(searches: number | undefined) {
  return searches === undefined ? 'no' : `about ${perSecondText(searches)}`;
}
