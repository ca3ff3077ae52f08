import { h } from '../../../page/assets/view/tree.mjs';
import { lossView, survivalView } from './estimate.mjs';
import { duration, number, plannedPercent } from './format.mjs';
import { badge, fedView, panel, said, sendButton, table } from './parts.mjs';

/**
 * @typedef {import('../data/model.mjs').Model} Model
 * @typedef {import('../data/shapes.mjs').Erasure} Erasure
 */

const MODES = /** @type {const} */ ([
  ['refresh', 'served as stale while the engine computes them anew, at its own pace'],
  ['drop', 'misses from now on; overwritten in place as they are asked for'],
  ['erase', 'removed from the store, for good'],
]);

/**
 * For good, unlike a drill: nothing brings the old pages back.
 * @param {Model} model
 * @param {string} domain
 */
export function flushView(model, domain) {
  return panel(
    'flush',
    `Flush ${domain}`,
    h('p', { class: 'soft' }, 'For good. To rehearse a loss and take it back, start a drill.'),
    h(
      'form',
      { class: 'form', 'data-form': 'flush-preview', 'data-key': 'flush-form' },
      h(
        'fieldset',
        { class: 'choices' },
        h('legend', {}, 'Pages are'),
        MODES.map(([mode, words], at) =>
          h(
            'label',
            { class: 'choice' },
            h('input', { type: 'radio', name: 'mode', value: mode, checked: at === 0 }),
            h('span', {}, h('b', {}, mode), ` ${words}`),
          ),
        ),
      ),
      h(
        'div',
        { class: 'fields' },
        h(
          'label',
          {},
          'Share of the keys, %',
          h('input', {
            name: 'percent',
            type: 'number',
            min: '0.01',
            max: '100',
            step: 'any',
            value: '100',
            required: true,
            inputmode: 'decimal',
          }),
        ),
        h(
          'label',
          {},
          'Erase by',
          h(
            'select',
            { name: 'by' },
            h('option', { value: 'unlink' }, 'scan and unlink'),
            h('option', { value: 'flushall' }, 'whole nodes (dedicated stores)'),
          ),
        ),
        h(
          'label',
          {},
          'Index version, with refresh',
          h('input', { name: 'indexVersion', maxlength: '128', autocomplete: 'off' }),
        ),
        h(
          'label',
          {},
          'Reason, required to erase',
          h('input', { name: 'reason', maxlength: '500', autocomplete: 'off' }),
        ),
      ),
      h(
        'div',
        { class: 'row' },
        sendButton(model, 'flush-preview', '', model.busy.includes('flush-preview') ? 'Counting…' : 'Dry run'),
      ),
    ),
    said(model, 'flush-preview'),
    previewView(model, domain),
    fedView(model, model.fed.flush, ({ erasure }) => erasure !== undefined && erasureView(erasure)),
  );
}

/**
 * @param {Model} model
 * @param {string} domain
 */
function previewView(model, domain) {
  const run = model.flushRun;
  if (run === undefined || run.ask.domain !== domain) return undefined;
  const { mode, fraction } = run.ask;
  return h(
    'div',
    { class: 'dry-run', 'data-key': 'flush-result' },
    h('h3', { id: 'flush-title', tabindex: '-1' }, `Dry run: ${mode} ${plannedPercent(fraction)} of ${domain}`),
    h('div', { class: 'two' }, h('div', {}, lossView(run.preview)), h('div', {}, survivalView(run.preview))),
    h(
      'form',
      { 'data-form': 'flush', 'data-key': 'flush-send' },
      h(
        'div',
        { class: 'row' },
        sendButton(model, 'flush', 'danger', `${titled(mode)} ${plannedPercent(fraction)} of ${domain}…`),
      ),
    ),
    said(model, 'flush'),
  );
}

/** @param {Erasure} erasure */
function erasureView({ state, nodes, seconds }) {
  return [
    h(
      'h3',
      {},
      'Latest erasure ',
      badge(state === 'done' ? 'good' : state === 'running' ? 'warn' : 'bad', state),
      ` ${duration(seconds * 1000)}`,
    ),
    table(
      'Nodes of the latest erasure',
      ['node', 'state', 'looked at', 'removed'],
      nodes.map((node) => [
        node.node,
        node.detail === undefined ? node.state : `${node.state}: ${node.detail}`,
        number(node.scanned),
        number(node.removed),
      ]),
    ),
  ];
}

/** @param {string} word */
export function titled(word) {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
