import { h } from '../../../page/assets/view/tree.mjs';
import { drillStartView } from './drill-start.mjs';
import { drillWatchView } from './drill-watch.mjs';
import { endingWords, VERDICT_LEVELS, verdictWord } from './drill-words.mjs';
import { dayTime, stopwatch } from './format.mjs';
import { actButton, badge, fedView, panel, said, table } from './parts.mjs';

/** @typedef {import('../data/model.mjs').Model} Model */

/** @param {Model} model */
export function drillsView(model) {
  return h('div', { class: 'drills' }, drillWatchView(model), drillStartView(model), drillListView(model));
}

/** @param {Model} model */
function drillListView(model) {
  return panel(
    'past',
    'Drills and their reports',
    fedView(model, model.fed.drills, ({ drills, unreadable = [] }) => [
      drills.length === 0
        ? h('p', { class: 'soft' }, 'None yet.')
        : table(
            'Drills, newest first',
            ['started', 'plan', 'domains', 'verdict', ''],
            drills.map((drill) => [
              dayTime(drill.startedAtMs),
              drill.title,
              drill.domains.join(', '),
              verdictView(drill),
              h('span', { class: 'row' }, buttons(model, drill)),
            ]),
            'wide',
          ),
      unreadable.map(({ id, where, why }) =>
        h(
          'p',
          { class: 'soft' },
          badge('warn', 'unreadable'),
          ` ${id === undefined ? '' : `${id}, `}in ${where}: ${why}`,
        ),
      ),
    ]),
    said(model, 'past'),
  );
}

/** @param {import('../data/shapes.mjs').DrillSummary} drill */
function verdictView({ verdict, running, ending, startedAtMs, endedAtMs }) {
  const took = endedAtMs === undefined ? '' : ` after ${stopwatch(endedAtMs - startedAtMs)}`;
  if (verdict !== undefined)
    return [badge(VERDICT_LEVELS[verdict.kind], verdictWord(verdict.kind)), took, h('small', {}, verdict.detail)];
  if (ending !== undefined) return h('small', {}, endingWords(ending));
  return running ? badge('warn', 'running') : badge('none', 'unknown');
}

/**
 * @param {Model} model
 * @param {import('../data/shapes.mjs').DrillSummary} drill
 */
function buttons(model, { id, title, running, ending, verdict, here }) {
  return [
    h(
      'button',
      { type: 'button', class: 'quiet', 'data-act': 'watch', 'data-id': id, 'aria-label': `Look at ${title}, ${id}` },
      'Look',
    ),
    !running &&
      ending === undefined &&
      h(
        'button',
        {
          type: 'button',
          class: 'quiet',
          'data-act': 'report',
          'data-id': id,
          'aria-label': `Report of ${title}, ${id}`,
        },
        'Report',
      ),
    verdict?.resumable !== undefined &&
      here &&
      actButton(model, 'resume', { class: 'quiet', 'data-id': id, 'aria-label': `Resume ${title}, ${id}` }, 'Resume…'),
  ];
}
