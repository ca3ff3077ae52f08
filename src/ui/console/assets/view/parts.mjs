import { h } from '../../../page/assets/view/tree.mjs';

/**
 * @typedef {import('../../../page/assets/view/tree.mjs').Child} Child
 * @typedef {import('../data/model.mjs').Model} Model
 */

/**
 * A named state: a word, and a shape beside it that says the same to whoever sees no colours.
 * @param {'good' | 'warn' | 'bad' | 'none'} level
 * @param {...Child} word
 */
export function badge(level, ...word) {
  return h('span', { class: `badge ${level}` }, ...word);
}

/** @param {'ok' | 'degraded' | 'down' | undefined} state */
export function partBadge(state) {
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
export function meant(word, meaning) {
  return h('abbr', { title: meaning }, word);
}

/**
 * A button that does something to the service. Where changes are off it stays in reach and says why when pressed.
 * @param {Model} model
 * @param {string} act
 * @param {Readonly<Record<string, string | boolean | undefined>>} attributes
 * @param {...Child} label
 */
export function actButton(model, act, attributes, ...label) {
  const isBusy = model.busy.includes(act);
  return h(
    'button',
    {
      type: 'button',
      'data-act': act,
      'aria-disabled': (model.readOnly || isBusy) && 'true',
      title: model.readOnly ? 'Changes are off: set ADMIN_TOKEN and start the service again.' : undefined,
      ...attributes,
    },
    ...label,
  );
}

/**
 * The same for the button that sends a form.
 * @param {Model} model
 * @param {string} form
 * @param {string} className
 * @param {...Child} label
 */
export function sendButton(model, form, className, ...label) {
  return actButton(model, form, { type: 'submit', class: className, 'data-act': undefined }, ...label);
}

/**
 * What came of what was asked here.
 * @param {Model} model
 * @param {string} place
 */
export function said(model, place) {
  const said = model.said[place];
  return h('p', { class: `said ${said?.kind ?? ''}`, role: 'status' }, said?.text ?? '');
}

/**
 * A part of the console that cannot be drawn takes no other with it: reports and journals were written by other
 * processes, perhaps of another version.
 * @template T
 * @param {() => T} draw
 * @returns {T | import('../../../page/assets/view/tree.mjs').TreeElement}
 */
export function apart(draw) {
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
 * Around what a feed brought: first nothing, then its figures, and the reason when they are old or missing.
 * @template T
 * @param {Model} model
 * @param {import('../data/feeds.mjs').Fed<T> | undefined} fed
 * @param {(value: T) => Child} view
 * @returns {Child}
 */
export function fedView(model, fed, view) {
  if (fed === undefined || (fed.value === undefined && fed.problem === undefined))
    return h('p', { class: 'soft' }, 'Reading…');
  const { value, problem } = fed;
  const age =
    fed.heardMs === undefined ? '' : ` What is shown is ${Math.round((model.nowMs - fed.heardMs) / 1000)} s old.`;
  return [
    problem !== undefined && h('p', { class: 'notice bad', role: 'alert' }, problem.message, age),
    value !== undefined && apart(() => view(value)),
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
