import { h } from '../../../shared/tree.mjs';

/**
 * Elements that several views use: badges, buttons, feedback, panels and tables.
 * @typedef {import('../../../shared/tree.mjs').Child} Child
 * @typedef {import('../model.mjs').Model} Model
 */

/**
 * A named state: a word, with a shape that shows the level without colour.
 * @param {'good' | 'warn' | 'bad' | 'none'} level
 * @param {...Child} word
 */
export function badge(level, ...word) {
  return h('span', { class: `badge ${level}` }, ...word);
}

/** @param {'ok' | 'degraded' | 'down' | undefined} state */
export function stateBadge(state) {
  if (state === undefined) return badge('none', 'unknown');
  return badge(state === 'ok' ? 'good' : state === 'degraded' ? 'warn' : 'bad', state);
}

/** @param {'closed' | 'open' | 'half-open'} state */
export function breakerBadge(state) {
  return badge(state === 'closed' ? 'good' : state === 'open' ? 'bad' : 'warn', state);
}

/**
 * @param {readonly (readonly [name: Child, ...value: Child[]] | false)[]} pairs
 * @param {string} [className]
 */
export function facts(pairs, className = 'facts') {
  return h(
    'dl',
    { class: className },
    pairs.map((pair) => pair !== false && h('div', {}, h('dt', {}, pair[0]), h('dd', {}, ...pair.slice(1)))),
  );
}

/**
 * A word with a tooltip.
 * @param {string} word
 * @param {string} meaning
 */
export function withTooltip(word, meaning) {
  return h('abbr', { title: meaning }, word);
}

/**
 * A button that changes the service. While changes are off it can still be focused and pressed, and then says why.
 * @param {Model} model
 * @param {string} action
 * @param {Readonly<Record<string, string | boolean | undefined>>} attributes
 * @param {...Child} label
 */
export function actionButton(model, action, attributes, ...label) {
  const isBusy = model.busy.includes(action);
  return h(
    'button',
    {
      type: 'button',
      'data-action': action,
      'aria-disabled': (model.readOnly || isBusy) && 'true',
      title: model.readOnly ? 'Changes are off: set ADMIN_TOKEN and start the service again.' : undefined,
      ...attributes,
    },
    ...label,
  );
}

/**
 * An input with its label.
 * @param {string} label
 * @param {Parameters<typeof h>[1]} attributes
 */
export function field(label, attributes) {
  return h('label', {}, label, h('input', attributes));
}

/**
 * The button that submits a form.
 * @param {Model} model
 * @param {string} form
 * @param {string} className
 * @param {...Child} label
 */
export function submitButton(model, form, className, ...label) {
  return actionButton(model, form, { type: 'submit', class: className, 'data-action': undefined }, ...label);
}

/**
 * The feedback of the last action of a slot.
 * @param {Model} model
 * @param {string} slot
 */
export function feedbackView(model, slot) {
  const feedback = model.feedback[slot];
  return h('p', { class: `feedback ${feedback?.kind ?? ''}`, role: 'status' }, feedback?.text ?? '');
}

/**
 * A part of the console that cannot be drawn becomes a notice, and the other parts are drawn. Reports and journals were
 * written by other processes, perhaps of another version.
 * @template T
 * @param {() => T} draw
 * @returns {T | import('../../../shared/tree.mjs').TreeElement}
 */
export function errorBoundary(draw) {
  try {
    return draw();
  } catch {
    return h(
      'p',
      { class: 'notice bad', role: 'alert' },
      'This cannot be shown: what was read is not what this console expects.',
    );
  }
}

/**
 * Shows the value of a feed: "Reading…" before the first, and the problem when the value is old or missing.
 * @template T
 * @param {Model} model
 * @param {import('../model.mjs').FeedState<T> | undefined} feed
 * @param {(value: T) => Child} view
 * @returns {Child}
 */
export function feedView(model, feed, view) {
  if (feed === undefined || (feed.value === undefined && feed.problem === undefined))
    return h('p', { class: 'soft' }, 'Reading…');
  const { value, problem } = feed;
  const age =
    feed.receivedMs === undefined
      ? ''
      : ` What is shown is ${Math.round((model.nowMs - feed.receivedMs) / 1000)} s old.`;
  return [
    problem !== undefined && h('p', { class: 'notice bad', role: 'alert' }, problem.message, age),
    value !== undefined && errorBoundary(() => view(value)),
  ];
}

/**
 * @param {string} id
 * @param {string} title
 * @param {...Child} content
 */
export function panel(id, title, ...content) {
  return h('section', { class: 'panel', 'data-key': id, 'aria-labelledby': id }, h('h2', { id }, title), ...content);
}

/**
 * A table that may be wider than a phone: it scrolls by itself, also by keyboard.
 * @param {string} label
 * @param {readonly Child[]} heads
 * @param {readonly (readonly Child[])[]} rows
 * @param {string} [className]
 */
export function table(label, heads, rows, className = '') {
  return h(
    'div',
    { class: `scroll ${className}`, role: 'region', 'aria-label': label, tabindex: '0' },
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          heads.map((head) => h('th', { scope: 'col' }, head)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map((row) =>
          h(
            'tr',
            {},
            row.map((cell, i) => h(i === 0 ? 'th' : 'td', i === 0 ? { scope: 'row' } : {}, cell)),
          ),
        ),
      ),
    ),
  );
}
