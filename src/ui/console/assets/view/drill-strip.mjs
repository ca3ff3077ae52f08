import { h } from '../../../page/assets/view/tree.mjs';
import { currentLook } from '../data/model.mjs';
import { hrefOf } from '../data/place.mjs';
import { endingWords, stateWords } from './drill-words.mjs';
import { stopwatch } from './format.mjs';

/** @typedef {import('../data/model.mjs').Model} Model */

/**
 * What runs now, on every view.
 * @param {Model} model
 */
export function drillStripView(model) {
  const domain = currentLook(model)?.domain ?? '';
  return h(
    'div',
    { class: 'strips', 'data-key': 'strips' },
    (model.live?.drills ?? []).map((drill) => {
      const journal = model.watched?.id === drill.id ? model.watched.journal : undefined;
      return h(
        'div',
        { class: 'strip', 'data-key': `strip-${drill.id}` },
        h('b', {}, 'Drill'),
        h('span', {}, drill.title, ' on ', drill.domains.join(', ')),
        h('span', { class: 'grow' }, stateText(drill, journal)),
        h(
          'span',
          { class: 'clock' },
          stopwatch(model.live === undefined ? undefined : model.live.atMs - drill.startedAtMs),
        ),
        h(
          'a',
          { href: hrefOf(drill.domains[0] ?? domain, 'drills'), 'data-act': 'watch', 'data-id': drill.id },
          'Watch',
        ),
      );
    }),
  );
}

/**
 * The live line may know of the end before the journal was read again.
 * @param {import('../data/shapes.mjs').DrillSummary} drill
 * @param {import('../data/shapes.mjs').Journal | undefined} journal
 */
function stateText({ ending }, journal) {
  if (ending !== undefined) return endingWords(ending);
  return journal === undefined ? 'running' : stateWords(journal);
}
