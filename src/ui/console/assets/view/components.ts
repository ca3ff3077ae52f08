import type { Child, TreeElement } from '../../../../report/tree.ts';
import { h } from '../../../../report/tree.ts';
import type { FeedState, Model } from '../model.ts';

/** Elements that several views use: badges, buttons, feedback, panels and tables. */

/** A named state: a word, with a shape that shows the level without colour. */
export function badge(level: 'good' | 'warn' | 'bad' | 'none', ...word: Child[]) {
  return h('span', { class: `badge ${level}` })(...word);
}

export function stateBadge(state: 'ok' | 'degraded' | 'down' | undefined) {
  if (state === undefined) return badge('none', 'unknown');
  return badge(state === 'ok' ? 'good' : state === 'degraded' ? 'warn' : 'bad', state);
}

export function breakerBadge(state: 'closed' | 'open' | 'half-open') {
  return badge(state === 'closed' ? 'good' : state === 'open' ? 'bad' : 'warn', state);
}

/** A button that changes the service. While changes are off it can still be focused and pressed, and then says why. */
export function actionButton(
  model: Model,
  action: string,
  attributes: Readonly<Record<string, string | boolean | undefined>>,
  ...label: Child[]
) {
  const isBusy = model.busy.includes(action);
  return h('button', {
    type: 'button',
    'data-action': action,
    'aria-disabled': (model.readOnly || isBusy) && 'true',
    title: model.readOnly ? 'Changes are off: set ADMIN_TOKEN and start the service again.' : undefined,
    ...attributes,
  })(...label);
}

/** An input with its label. */
export function field(label: string, attributes: Parameters<typeof h>[1]) {
  return h('label')(label, h('input', attributes)());
}

/** The button that submits a form. */
export function submitButton(model: Model, form: string, className: string, ...label: Child[]) {
  return actionButton(model, form, { type: 'submit', class: className, 'data-action': undefined }, ...label);
}

/** The feedback of the last action of a slot. */
export function feedbackView(model: Model, slot: string) {
  const feedback = model.feedback[slot];
  return h('p', { class: `feedback ${feedback?.kind ?? ''}`, role: 'status' })(feedback?.text ?? '');
}

/**
 * A part of the console that cannot be drawn becomes a notice, and the other parts are drawn. Reports and journals
 * were written by other processes, perhaps of another version.
 */
export function errorBoundary<T>(draw: () => T): T | TreeElement {
  try {
    return draw();
  } catch {
    return h('p', { class: 'notice bad', role: 'alert' })(
      'This cannot be shown: what was read is not what this console expects.',
    );
  }
}

/** Shows the value of a feed: "Reading…" before the first, and the problem when the value is old or missing. */
export function feedView<T>(model: Model, feed: FeedState<T> | undefined, view: (value: T) => Child): Child {
  if (feed === undefined || (feed.value === undefined && feed.problem === undefined))
    return h('p', { class: 'soft' })('Reading…');
  const { value, problem } = feed;
  const age =
    feed.receivedMs === undefined
      ? ''
      : ` What is shown is ${Math.round((model.nowMs - feed.receivedMs) / 1000)} s old.`;
  return [
    problem !== undefined && h('p', { class: 'notice bad', role: 'alert' })(problem.message, age),
    value !== undefined && errorBoundary(() => view(value)),
  ];
}

export function panel(id: string, title: string, ...content: Child[]) {
  return h('section', { class: 'panel', 'data-key': id, 'aria-labelledby': id })(h('h2', { id })(title), ...content);
}

/** A scrollTable that may be wider than a phone: it scrolls by itself, also by keyboard. */
export function scrollTable(
  label: string,
  heads: readonly Child[],
  rows: readonly (readonly Child[])[],
  className: string = '',
) {
  return h('div', { class: `scroll ${className}`, role: 'region', 'aria-label': label, tabindex: '0' })(
    h('table')(
      h('thead')(h('tr')(heads.map((head) => h('th', { scope: 'col' })(head)))),
      h('tbody')(
        rows.map((row) =>
          h('tr')(row.map((cell, i) => h(i === 0 ? 'th' : 'td', i === 0 ? { scope: 'row' } : {})(cell))),
        ),
      ),
    ),
  );
}
