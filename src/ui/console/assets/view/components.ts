import { amountText, stopwatchText, UNKNOWN } from '../../../../report/format.ts';
import { type Attributes, type Child, h, type TreeElement } from '../../../../report/tree.ts';
import type { FeedState, Model } from '../model.ts';

/** Elements that several views use: badges, buttons, forms, feedback, panels and tables; and ages and wall times. */

/** A named state: a word, with a shape that shows the level without colour. */
export function badge(level: 'good' | 'warn' | 'bad' | 'none', ...word: Child[]) {
  return h('span', { class: `badge ${level}` })(...word);
}

const LEVELS = { ok: 'good', closed: 'good', degraded: 'warn', 'half-open': 'warn', down: 'bad', open: 'bad' } as const;

/** The state of a part of the service, or of a breaker. */
export function stateBadge(state: keyof typeof LEVELS | undefined) {
  return state === undefined ? badge('none', 'unknown') : badge(LEVELS[state] ?? 'none', state);
}

/** A button that changes the service. While changes are off it can still be focused and pressed, and then says why. */
export function actionButton(model: Model, action: string, attributes: Attributes, label: string) {
  const isBusy = model.busy.includes(action);
  return h('button', {
    type: 'button',
    'data-action': action,
    'aria-disabled': (model.readOnly || isBusy) && 'true',
    title: model.readOnly ? 'Changes are off: set ADMIN_TOKEN and start the service again.' : undefined,
    ...attributes,
  })(label);
}

/** A button that changes the console only, or reads: it works while changes are off. */
export function quietButton(action: string, label: string, attributes: Attributes = {}) {
  return h('button', { type: 'button', class: 'quiet', 'data-action': action, ...attributes })(label);
}

/** A form that is sent as an action, and the feedback of the action. */
export function formView(model: Model, action: string, label: string, fields: readonly Child[], className = '') {
  const submit = { type: 'submit', class: className, 'data-action': undefined };
  return [
    h('form', { class: 'form', 'data-form': action, 'data-key': `form-${action}` })(
      fields,
      h('div', { class: 'row' })(actionButton(model, action, submit, label)),
    ),
    feedbackView(model, action),
  ];
}

export function field(label: string, attributes: Attributes) {
  return h('label')(label, h('input', attributes)());
}

/** An input for a required number; without a step for a whole one. */
export function numberField(
  label: string,
  attributes: { readonly name: string; readonly min: string; readonly max: string; readonly step?: string },
  value: number | string,
) {
  const inputmode = attributes.step === undefined ? 'numeric' : 'decimal';
  return field(label, { ...attributes, type: 'number', required: true, value, inputmode });
}

export function reasonField(label: string, attributes: Attributes = {}) {
  return field(label, { name: 'reason', maxlength: '500', autocomplete: 'off', ...attributes });
}

export function choiceField(attributes: Attributes, key: string, ...label: Child[]) {
  return h('label', { class: 'choice', 'data-key': key })(h('input', attributes)(), h('span')(...label));
}

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
    return alertView('This cannot be shown: what was read is not what this console expects.');
  }
}

export function alertView(...text: Child[]) {
  return h('p', { class: 'notice bad', role: 'alert' })(...text);
}

export function softView(...text: Child[]) {
  return h('p', { class: 'soft' })(...text);
}

/** Shows the value of a feed: "Reading…" before the first, and the problem when the value is old or missing. */
export function feedView<T>(model: Model, feed: FeedState<T> | undefined, view: (value: T) => Child): Child {
  if (feed === undefined || (feed.value === undefined && feed.problem === undefined)) return softView('Reading…');
  const { value, problem } = feed;
  const age =
    feed.receivedMs === undefined
      ? ''
      : ` What is shown is ${Math.round((model.nowMs - feed.receivedMs) / 1000)} s old.`;
  return [
    problem !== undefined && alertView(problem.message, age),
    value !== undefined && errorBoundary(() => view(value)),
  ];
}

export function panel(id: string, title: string, ...content: Child[]) {
  return h('section', { class: 'panel', 'data-key': id, 'aria-labelledby': id })(h('h2', { id })(title), ...content);
}

/** A table of many rows, which are cards on a phone; a sentence when it is empty. */
export function listTable(none: string, label: string, heads: readonly Child[], rows: readonly (readonly Child[])[]) {
  return rows.length === 0 ? softView(none) : scrollTable(label, heads, rows, 'wide');
}

/** A table that may be wider than a phone: it scrolls by itself, also by keyboard. */
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

const LOCALE = 'en-GB';
const CLOCK = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'medium' });
export const minuteTime = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'short' }).format;
const DAY = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium' });

export function ago(ms: number | undefined) {
  if (ms === undefined) return UNKNOWN;
  const seconds = Math.max(0, ms) / 1000;
  return seconds < 60 ? `${amountText(Math.round(seconds * 10) / 10)} s ago` : `${stopwatchText(ms)} ago`;
}

export function clockTime(atMs: number | undefined) {
  return isTime(atMs) ? CLOCK.format(atMs) : UNKNOWN;
}

export function dayTime(atMs: number | undefined) {
  return isTime(atMs) ? DAY.format(atMs) : UNKNOWN;
}

/** A date formatter throws for a time outside the calendar. */
function isTime(atMs: number | undefined): atMs is number {
  return typeof atMs === 'number' && Number.isFinite(new Date(atMs).getTime());
}
