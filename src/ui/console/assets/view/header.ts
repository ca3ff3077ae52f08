import { countText, UNKNOWN } from '../../../../report/format.ts';
import { h } from '../../../../report/tree.ts';
import type { Model, StreamState } from '../model.ts';
import { isHalted, isStale, runningDrills } from '../model.ts';
import { actionButton, ago, clockTime, quietButton } from './components.ts';

/** The parts above every view: the bar and the banners. */

/** The bar that is always on the screen: the state of the connection, and the buttons that stop every drill. */
export function headerView(model: Model) {
  const running = runningDrills(model);
  const halted = isHalted(model);
  const abortLabel = running.length > 1 ? `Abort ${running.length} drills` : 'Abort drill';
  return h('header', { class: 'row top', 'data-key': 'header' })(
    h('a', { class: 'skip', href: '#main', 'data-action': 'skip' })('To the figures'),
    h('span', { class: 'brand' })(h('b')('serp'), 'cache', h('span', { class: 'soft' })(' operations')),
    connectionView(model),
    h('div', { class: 'toolbar' })(
      actionButton(
        model,
        'abort',
        // When no drill runs, the button is disabled and not removed: it stays where operators look for it.
        { class: 'danger abort', 'aria-disabled': running.length === 0 && 'true' },
        abortLabel,
      ),
      halted === true
        ? actionButton(model, 'lift', { class: 'quiet halt', 'data-key': 'lift' }, 'Lift halt')
        : actionButton(model, 'halt', { class: 'quiet halt', 'data-key': 'halt' }, 'Halt all'),
      model.hasToken ? quietButton('forget-token', 'Forget token') : quietButton('give-token', 'Token'),
    ),
    halted === true && haltedView(model),
  );
}

/** Messages above the view, the most urgent first. */
export function bannersView(model: Model) {
  const { connection, live, nowMs } = model;
  const feedback = model.feedback['header'];
  return h('div', { class: 'banners', 'data-key': 'banners' })(
    connection.kind === 'lost' &&
      h('div', { class: 'row between banner bad', 'data-key': 'lost' })(
        h('p')(
          h('b')(connection.wasLive ? 'Connection lost. ' : 'No connection. '),
          connection.why,
          ' ',
          staleNote(model),
        ),
        quietButton('retry', `Try now (${countText(retrySeconds(connection, nowMs))} s)`),
      ),
    model.readOnly &&
      h('div', { class: 'row between banner', 'data-key': 'read-only' })(
        h('p')(h('b')('Read only. '), 'The service refuses every change until it is started with ADMIN_TOKEN set.'),
      ),
    feedback !== undefined &&
      h('div', {
        class: `row between banner ${feedback.kind === 'refused' ? 'bad' : ''}`,
        'data-key': 'feedback',
        role: 'status',
      })(h('p')(feedback.text), quietButton('dismiss', 'Close')),
    live === undefined &&
      connection.kind === 'connecting' &&
      h('p', { class: 'soft', 'data-key': 'first' })('Waiting for the first figures…'),
  );
}

/** Why no drill may run. It stands in the bar, so that it is seen on every view while the halt lasts. */
function haltedView({ feeds }: Model) {
  const [halt] = feeds.halt?.value?.domains ?? [];
  return h('div', { class: 'row between banner bad halted', 'data-key': 'halted' })(
    h('p')(
      h('b')('Halted: no drill may run or start. '),
      halt === undefined ? 'Why is not known yet.' : `${halt.by}, ${clockTime(halt.atMs)}: ${halt.reason}`,
    ),
  );
}

function connectionView(model: Model) {
  const { connection, receivedMs, nowMs, live } = model;
  const age = receivedMs === undefined ? undefined : nowMs - receivedMs;
  if (connection.kind === 'live' && !isStale(model)) {
    return h('span', { class: 'link on' })('live · ', h('span', { class: 'age' })(ago(age)));
  }
  if (connection.kind === 'lost') {
    const state = connection.wasLive ? 'connection lost' : 'no connection';
    return h('span', { class: 'link lost' })(state, ` · ${retrySeconds(connection, nowMs)} s`);
  }
  return h('span', { class: `link ${live === undefined ? '' : 'lost'}` })(
    live === undefined ? 'connecting…' : `silent · ${ago(age)}`,
  );
}

function retrySeconds({ retryAtMs }: Extract<StreamState, { kind: 'lost' }>, nowMs: number) {
  return Math.max(0, Math.ceil((retryAtMs - nowMs) / 1000));
}

function staleNote({ live, receivedMs, nowMs }: Model) {
  if (live === undefined || receivedMs === undefined) return `Nothing is known: every figure is ${UNKNOWN}.`;
  return `What is shown is of ${clockTime(live.atMs)}, ${ago(nowMs - receivedMs)}.`;
}
