import { h } from '../../../page/assets/view/tree.mjs';
import { counted, number } from './format.mjs';
import { actButton, badge, fedView, panel, said, sendButton } from './parts.mjs';

/** @typedef {import('../data/model.mjs').Model} Model */

/**
 * @param {Model} model
 * @param {string} domain
 */
export function warmView(model, domain) {
  return panel(
    'warm',
    `Warm up ${domain}`,
    h('p', { class: 'soft' }, 'Popular queries are computed with what the engine has to spare, after every person’s.'),
    h(
      'form',
      { class: 'form', 'data-form': 'warm', 'data-key': 'warm-form' },
      h(
        'div',
        { class: 'fields' },
        h(
          'label',
          {},
          'Engine calls/s, at most',
          h('input', {
            name: 'maxPerSecond',
            type: 'number',
            min: '1',
            max: '10000',
            value: '20',
            required: true,
            inputmode: 'numeric',
          }),
        ),
        h(
          'label',
          {},
          'Popular queries',
          h('input', {
            name: 'top',
            type: 'number',
            min: '1',
            max: '100000',
            value: '1000',
            required: true,
            inputmode: 'numeric',
          }),
        ),
      ),
      h('div', { class: 'row' }, sendButton(model, 'warm', '', 'Warm up from popular')),
    ),
    said(model, 'warm'),
    fedView(model, model.fed.warm, ({ warmUps }) =>
      h(
        'ul',
        { class: 'warm-ups' },
        warmUps.filter((warmUp) => warmUp.domain === domain).map((warmUp) => warmUpView(model, warmUp)),
      ),
    ),
  );
}

/**
 * @param {Model} model
 * @param {import('../data/shapes.mjs').WarmUp} warmUp
 */
function warmUpView(model, { id, state, from, taken, settled, cached, computed, invalid, failed, seconds }) {
  const isOn = state === 'running' || state === 'waiting';
  return h(
    'li',
    { 'data-key': `warm-${id}` },
    h(
      'div',
      { class: 'row' },
      badge(state === 'done' ? 'good' : isOn ? 'warn' : 'none', state),
      h(
        'span',
        {},
        `from ${from}, ${number(settled)} of ${counted(taken, 'query', 'queries')} in ${number(seconds)} s`,
      ),
      isOn && actButton(model, 'stop-warm', { class: 'quiet', 'data-id': id }, 'Stop'),
    ),
    h('progress', { max: Math.max(1, taken), value: settled, 'aria-label': `Progress of warm-up ${id}` }),
    h(
      'small',
      {},
      `${number(cached)} were fresh, ${number(computed)} computed, ${number(invalid)} invalid, ${number(failed)} failed`,
    ),
  );
}
