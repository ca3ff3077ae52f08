import { h } from '../../../page/assets/view/tree.mjs';
import { currentLook } from '../data/model.mjs';
import { flushView } from './flush.mjs';
import { dayTime, number } from './format.mjs';
import { actButton, fedView, panel, said, sendButton } from './parts.mjs';
import { warmView } from './warm.mjs';

/** @typedef {import('../data/model.mjs').Model} Model */

/** @param {Model} model */
export function changesView(model) {
  const domain = currentLook(model)?.domain;
  if (domain === undefined) return h('p', { class: 'soft' }, 'No figures yet.');
  // Keyed by domain: what was typed for one must not be sent to another.
  return h(
    'div',
    { class: 'changes', 'data-key': `changes-${domain}` },
    flushView(model, domain),
    purgeView(model, domain),
    suppressView(model, domain),
    warmView(model, domain),
  );
}

/**
 * @param {Model} model
 * @param {string} domain
 */
function purgeView(model, domain) {
  return panel(
    'purge',
    `Purge one query of ${domain}`,
    h('p', { class: 'soft' }, 'Every page of it, with whatever filters, is computed anew when it is next asked for.'),
    h(
      'form',
      { class: 'form', 'data-form': 'purge', 'data-key': 'purge-form' },
      h(
        'label',
        {},
        'Query',
        h('input', { name: 'q', required: true, maxlength: '256', autocomplete: 'off', spellcheck: 'false' }),
      ),
      h('label', {}, 'Reason', h('input', { name: 'reason', maxlength: '500', autocomplete: 'off' })),
      h('div', { class: 'row' }, sendButton(model, 'purge', '', 'Purge')),
    ),
    said(model, 'purge'),
  );
}

/**
 * @param {Model} model
 * @param {string} domain
 */
function suppressView(model, domain) {
  return panel(
    'suppress',
    `Suppress documents of ${domain}`,
    h('p', { class: 'soft' }, 'They vanish from every page of every process within a second.'),
    h(
      'form',
      { class: 'form', 'data-form': 'suppress', 'data-key': 'suppress-form' },
      h(
        'label',
        {},
        'Ids, one a line or between commas',
        h('textarea', { name: 'ids', required: true, rows: '2', spellcheck: 'false' }),
      ),
      h('label', {}, 'Reason', h('input', { name: 'reason', maxlength: '500', autocomplete: 'off' })),
      h('div', { class: 'row' }, sendButton(model, 'suppress', '', 'Suppress')),
    ),
    said(model, 'suppress'),
    fedView(model, model.fed.suppressed, ({ suppressed, max }) => [
      h('p', { class: 'soft' }, `${number(suppressed.length)} of ${number(max)} places taken.`),
      h(
        'ul',
        { class: 'ids', tabindex: suppressed.length > 0 && '0', 'aria-label': 'Suppressed documents' },
        suppressed.map(({ id, atMs }) =>
          h(
            'li',
            { 'data-key': `id-${id}` },
            h('code', {}, id),
            h('small', {}, ` since ${dayTime(atMs)} `),
            actButton(
              model,
              'unsuppress',
              { class: 'quiet', 'data-id': id, 'aria-label': `Let ${id} be seen again` },
              'Lift',
            ),
          ),
        ),
      ),
    ]),
  );
}
