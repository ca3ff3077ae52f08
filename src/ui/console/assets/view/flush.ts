import type { FlushMode } from '../../../../control/document.ts';
import { MEANINGS } from '../../../../operations/drills/view.ts';
import type { Erasure, FlushPreview } from '../../../../operations/flush/flush.ts';
import { capitalized, facts, withTooltip } from '../../../../report/components.ts';
import { amountText, bytesText, countText, durationText, percentText, timesText } from '../../../../report/format.ts';
import { h } from '../../../../report/tree.ts';
import type { Model } from '../model.ts';
import {
  badge,
  choiceField,
  counted,
  feedView,
  field,
  formView,
  numberField,
  panel,
  reasonField,
  scrollTable,
  softView,
} from './components.ts';

const MODES = {
  refresh: 'served as stale while the engine computes them again, at its own pace',
  drop: 'misses from now on; overwritten in place as they are asked for',
  erase: 'removed from the store, for good',
} satisfies Readonly<Record<FlushMode, string>>;

/** The form for a permanent flush. Unlike a drill, a flush cannot bring the old pages back. */
export function flushView(model: Model, domain: string) {
  return panel(
    'flush',
    `Flush ${domain}`,
    softView('For good. To rehearse a loss and take it back, start a drill.'),
    formView(model, 'flush-preview', model.busy.includes('flush-preview') ? 'Counting…' : 'Dry run', [
      h('fieldset', { class: 'choices' })(
        h('legend')('Pages are'),
        Object.entries(MODES).map(([mode, consequence], at) =>
          choiceField(
            { type: 'radio', name: 'mode', value: mode, checked: at === 0 },
            `mode-${mode}`,
            h('b')(mode),
            ` ${consequence}`,
          ),
        ),
      ),
      h('div', { class: 'fields' })(
        numberField('Share of the keys, %', { name: 'percent', min: '0.01', max: '100', step: 'any' }, 100),
        h('label')(
          'Erase by',
          h('select', { name: 'by' })(
            h('option', { value: 'unlink' })('scan and unlink'),
            h('option', { value: 'flushall' })('whole nodes (dedicated stores)'),
          ),
        ),
        field('Index version, with refresh', { name: 'indexVersion', maxlength: '128', autocomplete: 'off' }),
        reasonField('Reason, required to erase'),
      ),
    ]),
    previewView(model, domain),
    feedView(model, model.feeds.flush, ({ erasure }) => erasure !== undefined && erasureView(erasure)),
  );
}

/** What a flush or a stage of a drill would remove, and what the engine would have to do. */
export function previewFigures(preview: FlushPreview) {
  return h('div', { class: 'two-columns' })(h('div')(lossView(preview)), h('div')(survivalView(preview)));
}

function lossView({ nodes, memory, fraction }: FlushPreview) {
  return [
    facts([
      ['share of the keys', percentText(fraction)],
      ['in memory here', `${counted(memory.entries, 'page')}, ${bytesText(memory.bytes)}`],
    ]),
    nodes.length === 0
      ? softView('There is no store: only the memory of this process is touched.')
      : scrollTable(
          'What would be lost on each node',
          ['node', 'keys', 'size', 'counted'],
          nodes.map(({ node, keys, bytes: size, exact, detail }) => [
            node,
            countText(keys),
            bytesText(size),
            detail ?? (exact ? 'exactly' : 'from a sample'),
          ]),
        ),
  ];
}

/** The extra load on the engine, and the share of the keys that it can lose at once. */
function survivalView({ engine, fraction }: FlushPreview) {
  const { survivable } = engine;
  const isTooMuch = survivable !== undefined && fraction > survivable;
  return [
    facts([
      [
        'measured over',
        `${durationText(engine.seconds * 1000)}, ${counted(engine.searches, 'search', 'searches')}, hit ratio ${percentText(engine.hitRatio)}`,
      ],
      ['engine now', `${amountText(engine.engineCallsPerSecond)} calls/s of ${durationText(engine.engineCallMs)}`],
      [
        'extra, at most',
        engine.extraCallsPerSecond === undefined
          ? countText(undefined)
          : `+${amountText(engine.extraCallsPerSecond)} calls/s`,
      ],
      [withTooltip('headroom H, at least', MEANINGS.headroom), timesText(engine.headroom)],
      [withTooltip('amplification A, at most', MEANINGS.amplification), timesText(engine.amplification)],
      [
        withTooltip('survivable f*, at least', MEANINGS.survivable),
        h('strong', { class: isTooMuch ? 'over' : '' })(percentText(survivable)),
      ],
    ]),
    isTooMuch &&
      h('p', { class: 'notice' })(
        `${percentText(fraction)} at once is more than the engine carries for sure: searches may be shed until the cache is refilled.`,
      ),
    survivable === undefined &&
      h('p', { class: 'notice' })('Whether the engine can carry it is not known: there was too little load to say.'),
  ];
}

function previewView(model: Model, domain: string) {
  const { flushDryRun } = model;
  if (flushDryRun === undefined || flushDryRun.request.domain !== domain) return undefined;
  const { request, preview } = flushDryRun;
  const { mode, fraction } = request;
  return h('div', { class: 'dry-run', 'data-key': 'flush-result' })(
    h('h3', { id: 'flush-title', tabindex: '-1' })(`Dry run: ${mode} ${percentText(fraction)} of ${domain}`),
    previewFigures(preview),
    formView(model, 'flush', `${capitalized(mode)} ${percentText(fraction)} of ${domain}…`, [], 'danger'),
  );
}

function erasureView({ state, nodes, seconds }: Erasure) {
  return [
    h('h3')(
      'Latest erasure ',
      badge(state === 'done' ? 'good' : state === 'running' ? 'warn' : 'bad', state),
      ` ${durationText(seconds * 1000)}`,
    ),
    scrollTable(
      'Nodes of the latest erasure',
      ['node', 'state', 'looked at', 'removed'],
      nodes.map((node) => [
        node.node,
        node.detail === undefined ? node.state : `${node.state}: ${node.detail}`,
        countText(node.scanned),
        countText(node.removed),
      ]),
    ),
  ];
}
