import { h } from '../../../page/assets/view/tree.mjs';
import { runningDrills } from '../data/model.mjs';
import { hueOf } from '../plot/hues.mjs';
import { cohortsOf, LEAST_SEARCHES } from './cohorts.mjs';
import {
  GUARD_NAMES,
  guardValue,
  MEANINGS,
  stageTitle,
  stateWords,
  THEN_WORDS,
  VERDICT_LEVELS,
  verdictWord,
} from './drill-words.mjs';
import {
  ago,
  dayTime,
  duration,
  number,
  percent,
  plannedPercent,
  rangeText,
  stopwatch,
  times,
  UNKNOWN,
} from './format.mjs';
import { actButton, badge, facts, meant, panel, table } from './parts.mjs';

/**
 * @typedef {import('../data/model.mjs').Model} Model
 * @typedef {import('../data/shapes.mjs').Journal} Journal
 */

/**
 * One drill, as far as its journal was read.
 * @param {Model} model
 */
export function drillWatchView(model) {
  const { watched } = model;
  if (watched === undefined) return undefined;
  const { id, journal, problem, heardMs } = watched;
  if (journal === undefined) {
    const elsewhere = runningDrills(model).find((drill) => drill.id === id)?.here === false;
    const words = elsewhere
      ? 'Another process runs this drill, and keeps its journal until the end.'
      : (problem?.message ?? 'Reading…');
    return panel('watch', `Drill ${id}`, h('p', { class: problem === undefined ? 'soft' : 'notice' }, words));
  }
  const isOver = journal.state.kind === 'over';
  return panel(
    'watch',
    journal.plan.title,
    !isOver &&
      problem !== undefined &&
      h(
        'p',
        { class: 'notice bad', role: 'alert' },
        problem.message,
        ' What is shown was read ',
        ago(heardMs === undefined ? undefined : model.nowMs - heardMs),
        '.',
      ),
    h(
      'div',
      { class: 'watch-head' },
      h(
        'p',
        { class: 'phase' },
        journal.verdict === undefined
          ? stateWords(journal)
          : badge(VERDICT_LEVELS[journal.verdict.kind], verdictWord(journal.verdict.kind)),
      ),
      h('p', { class: 'clock' }, elapsed(model, journal)),
      // With one drill the button at the top is the one to look for.
      !isOver &&
        runningDrills(model).length > 1 &&
        actButton(model, 'abort-one', { class: 'danger', 'data-id': id }, 'Abort this drill'),
      isOver &&
        actButton(
          model,
          'report',
          { class: 'quiet', 'data-id': id, 'aria-disabled': undefined, title: undefined },
          'Open the report',
        ),
    ),
    journal.verdict !== undefined && h('p', {}, journal.verdict.detail),
    stagesView(journal),
    h('p', { class: 'soft' }, `${journal.domains.join(', ')} · ${journal.by}: ${journal.reason} · ${id}`),
    h('div', { class: 'cohort-plot', 'data-own': true, 'data-key': `cohorts-${id}`, 'data-cohorts': id }),
    h('div', { class: 'two' }, cohortsView(journal), guardsView(journal)),
    h(
      'p',
      { class: 'soft' },
      `A hit ratio is told over two seconds, or over as many as ${LEAST_SEARCHES} searches take, up to ten; with fewer it is ${UNKNOWN}.`,
    ),
    isOver && learnedView(journal),
  );
}

/**
 * @param {Model} model
 * @param {Journal} journal
 */
function elapsed({ live }, { startedAtMs, endedAtMs }) {
  const untilMs = endedAtMs ?? live?.atMs;
  return stopwatch(untilMs === undefined ? undefined : untilMs - startedAtMs);
}

/** @param {Journal} journal */
function stagesView({ plan, state, verdict, marks, samples, domains }) {
  const domain = state.kind === 'running' ? state.domain : (samples.at(-1)?.domain ?? domains[0]);
  const begun = marks.flatMap((mark) => (mark.kind === 'stage' && mark.domain === domain ? [mark.stage] : []));
  const last = Math.max(-1, ...begun);
  const isAfter = verdict?.kind === 'passed' || (state.kind === 'running' && state.phase === 'after');
  const isOver = state.kind !== 'running' && !isAfter;
  return h(
    'ol',
    { class: 'stages' },
    plan.stages.map((stage, at) => {
      const done = isAfter || at < last;
      const here = !isAfter && at === last;
      return h(
        'li',
        { class: done ? 'done' : here && isOver ? 'stopped' : '', 'aria-current': here && !isOver && 'step' },
        stageTitle(stage),
        here && isOver && h('span', { class: 'unseen' }, ', stopped here'),
      );
    }),
  );
}

/** @param {Journal} journal */
function cohortsView(journal) {
  return table(
    'Hit ratio of the cohorts',
    ['hit ratio of', 'baseline', 'now', 'points'],
    cohortsOf(journal).map(({ name, before, now }, at) => [
      [h('i', { class: `key ${hueOf(at)}` }), name],
      percent(before),
      percent(now),
      before === undefined || now === undefined ? UNKNOWN : signed((now - before) * 100),
    ]),
  );
}

/** @param {number} points */
function signed(points) {
  const text = number(Math.abs(points), 1);
  return text === '0.0' ? '0.0' : `${points < 0 ? '−' : '+'}${text}`;
}

/** @param {Journal} journal */
function guardsView({ plan, samples }) {
  const latest = samples.at(-1)?.guards;
  return table(
    'Guards',
    ['guard', 'now', 'at most', 'else'],
    plan.guards.map(({ figure, max, then }) => {
      const now = latest?.find((guard) => guard.figure === figure);
      return [
        GUARD_NAMES[figure],
        now?.broken === true ? badge('bad', guardValue(figure, now.value)) : guardValue(figure, now?.value),
        guardValue(figure, max),
        THEN_WORDS[then],
      ];
    }),
  );
}

/** @param {Journal} journal */
function learnedView({ learned, endedAtMs }) {
  return [
    h('h3', {}, 'What was learned'),
    learned.map(({ domain, survival, stages }) => [
      facts([
        ['domain', domain],
        [meant('headroom left', MEANINGS.headroom), told(survival, survival?.headroomLeft, times)],
        [meant('amplification', MEANINGS.amplification), told(survival, survival?.amplification, times)],
        [meant('survivable f*', MEANINGS.survivable), told(survival, survival?.survivable, plannedPercent)],
      ]),
      table(
        `Stages of ${domain}`,
        ['stage', 'before', 'lowest', 'end', 'control', 'refilled in', 'engine peak/s'],
        stages.map((stage) => [
          stage.title,
          percent(stage.before),
          percent(stage.lowest),
          percent(stage.end),
          percent(stage.control),
          duration(stage.refillMs),
          number(stage.peakEngineCallsPerSecond),
        ]),
      ),
    ]),
    h('p', { class: 'soft' }, 'Ended ', dayTime(endedAtMs), '.'),
  ];
}

/**
 * A journal of an older version tells single figures, which are not repeated.
 * @param {import('../../../../operations/drills/journal.ts').Survival | undefined} survival
 * @param {import('../../../../operations/drills/journal.ts').Range | undefined} range
 * @param {(value: number) => string} text
 */
function told(survival, range, text) {
  return survival === undefined ? UNKNOWN : rangeText(range, text);
}
