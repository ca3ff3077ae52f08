import { h } from '../../../page/assets/view/tree.mjs';
import { isHalted, isStale, runningDrills } from '../data/model.mjs';
import { ago, clockTime, number, UNKNOWN } from './format.mjs';
import { actButton } from './parts.mjs';

/** @typedef {import('../data/model.mjs').Model} Model */

/**
 * Always on the screen: whether what is seen is true now, and the two ways to stop everything.
 * @param {Model} model
 */
export function topView(model) {
  const running = runningDrills(model);
  const halted = isHalted(model);
  const abortLabel = running.length > 1 ? `Abort ${running.length} drills` : 'Abort drill';
  return h(
    'header',
    { class: 'top', 'data-key': 'top' },
    h('a', { class: 'skip', href: '#main', 'data-act': 'skip' }, 'To the figures'),
    h('span', { class: 'brand' }, h('b', {}, 'serp'), 'cache', h('span', { class: 'soft' }, ' operations')),
    linkView(model),
    h(
      'div',
      { class: 'levers' },
      actButton(
        model,
        'abort',
        // Nothing to abort is no fault: the button keeps its place so that a hand finds it.
        { class: 'danger abort', 'aria-disabled': running.length === 0 && 'true' },
        abortLabel,
      ),
      halted === true
        ? actButton(model, 'lift', { class: 'quiet halt', 'data-key': 'lift' }, 'Lift halt')
        : actButton(model, 'halt', { class: 'quiet halt', 'data-key': 'halt' }, 'Halt all'),
      h(
        'button',
        { type: 'button', class: 'quiet', 'data-act': model.hasToken ? 'forget' : 'token' },
        model.hasToken ? 'Forget token' : 'Token',
      ),
    ),
    halted === true && haltedView(model),
  );
}

/**
 * Why nothing may be drilled, with the levers: as long as it is so it is seen from everywhere.
 * @param {Model} model
 */
function haltedView({ fed }) {
  const [halt] = fed.halt?.value?.domains ?? [];
  return h(
    'div',
    { class: 'banner bad halted', 'data-key': 'halted' },
    h(
      'p',
      {},
      h('b', {}, 'Halted: no drill may run or start. '),
      halt === undefined ? 'Why is not known yet.' : `${halt.by}, ${clockTime(halt.atMs)}: ${halt.reason}`,
    ),
  );
}

/** @param {Model} model */
function linkView(model) {
  const { link, heardMs, nowMs, live } = model;
  const age = heardMs === undefined ? undefined : nowMs - heardMs;
  if (link.kind === 'live' && !isStale(model)) {
    return h('span', { class: 'link on' }, 'live · ', h('span', { class: 'age' }, ago(age)));
  }
  if (link.kind === 'lost') {
    const again = Math.max(0, Math.ceil((link.retryAtMs - nowMs) / 1000));
    return h('span', { class: 'link lost' }, link.again ? 'connection lost' : 'no connection', ` · ${again} s`);
  }
  return h(
    'span',
    { class: `link ${live === undefined ? '' : 'lost'}` },
    live === undefined ? 'connecting…' : `silent · ${ago(age)}`,
  );
}

/**
 * What must not be overlooked, most urgent first.
 * @param {Model} model
 */
export function bannersView(model) {
  const { link, live, nowMs } = model;
  return h(
    'div',
    { class: 'banners', 'data-key': 'banners' },
    link.kind === 'lost' &&
      h(
        'div',
        { class: 'banner bad', 'data-key': 'lost' },
        h('p', {}, h('b', {}, link.again ? 'Connection lost. ' : 'No connection. '), link.why, ' ', staleNote(model)),
        h(
          'button',
          { type: 'button', class: 'quiet', 'data-act': 'retry' },
          `Try now (${number(Math.max(0, Math.ceil((link.retryAtMs - nowMs) / 1000)))} s)`,
        ),
      ),
    model.readOnly &&
      h(
        'div',
        { class: 'banner', 'data-key': 'read-only' },
        h(
          'p',
          {},
          h('b', {}, 'Read only. '),
          'The service refuses every change until it is started with ADMIN_TOKEN set.',
        ),
      ),
    model.said['top'] !== undefined &&
      h(
        'div',
        { class: `banner ${model.said['top'].kind === 'refused' ? 'bad' : ''}`, 'data-key': 'said', role: 'status' },
        h('p', {}, model.said['top'].text),
        h('button', { type: 'button', class: 'quiet', 'data-act': 'hush' }, 'Close'),
      ),
    live === undefined &&
      link.kind === 'connecting' &&
      h('p', { class: 'soft', 'data-key': 'first' }, 'Waiting for the first figures…'),
  );
}

/** @param {Model} model */
function staleNote({ live, heardMs, nowMs }) {
  if (live === undefined || heardMs === undefined) return `Nothing is known: every figure is ${UNKNOWN}.`;
  return `What is shown is of ${clockTime(live.atMs)}, ${ago(nowMs - heardMs)}.`;
}
