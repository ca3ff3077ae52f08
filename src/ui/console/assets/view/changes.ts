import type { FlushMode } from '../../../../control/document.ts';
import type { AuditEntry } from '../../../../operations/audit/audit.ts';
import { MEANINGS } from '../../../../operations/drills/view.ts';
import type { Erasure, FlushPreview } from '../../../../operations/flush/flush.ts';
import type { WarmUp } from '../../../../operations/warm/warm.ts';
import { capitalized, facts, withTooltip } from '../../../../report/components.ts';
import {
  amountText,
  bytesText,
  countText,
  durationText,
  percentText,
  plural,
  timesText,
  UNKNOWN,
} from '../../../../report/format.ts';
import { h } from '../../../../report/tree.ts';
import { consoleHref, currentDomain, type Model } from '../model.ts';
import {
  actionButton,
  badge,
  choiceField,
  dayTime,
  feedView,
  field,
  formView,
  listTable,
  numberField,
  panel,
  reasonField,
  scrollTable,
  softView,
} from './components.ts';

/** The views of changes that are not drills: flush, purge, suppression, warm-up; and the audit. */

export function changesView(model: Model) {
  const domain = currentDomain(model)?.domain;
  if (domain === undefined) return softView('No figures yet.');
  // Keyed by domain, so that text typed for one domain is not sent to another.
  return h('div', { class: 'changes', 'data-key': `changes-${domain}` })(
    flushView(model, domain),
    purgeView(model, domain),
    suppressView(model, domain),
    warmView(model, domain),
  );
}

export function auditView(model: Model) {
  return panel(
    'audit',
    'Who did what',
    feedView(model, model.feeds.audit, ({ entries }) =>
      listTable(
        model.address.before === undefined ? 'Nothing has been asked yet.' : 'Nothing here.',
        'Audit, newest first',
        ['time', 'action', 'domain', 'by', 'reason', 'result', 'change'],
        entries.map((entry) => [
          dayTime(entry.atMs),
          entry.action,
          entry.domain,
          entry.by,
          entry.reason,
          [badge(entry.result === 'done' ? 'good' : 'warn', entry.result), omittedText(entry)],
          changeView(entry),
        ]),
      ),
    ),
    pagingView(model),
  );
}

function purgeView(model: Model, domain: string) {
  return panel(
    'purge',
    `Purge one query of ${domain}`,
    softView('Every page of it, with any filters, is computed again at its next search.'),
    formView(model, 'purge', 'Purge', [
      field('Query', { name: 'q', required: true, maxlength: '256', autocomplete: 'off', spellcheck: 'false' }),
      reasonField('Reason'),
    ]),
  );
}

function suppressView(model: Model, domain: string) {
  return panel(
    'suppress',
    `Suppress documents of ${domain}`,
    softView('They vanish from every page of every process within a second.'),
    formView(model, 'suppress', 'Suppress', [
      h('label')(
        'Ids, one a line or between commas',
        h('textarea', { name: 'ids', required: true, rows: '2', spellcheck: 'false' })(),
      ),
      reasonField('Reason'),
    ]),
    feedView(model, model.feeds.suppressed, ({ suppressed, max }) => [
      softView(`${countText(suppressed.length)} of ${countText(max)} suppressions in force.`),
      h('ul', { class: 'ids', tabindex: suppressed.length > 0 && '0', 'aria-label': 'Suppressed documents' })(
        suppressed.map(({ id, atMs }) =>
          h('li', { class: 'row', 'data-key': `id-${id}` })(
            h('code')(id),
            h('small')(` since ${dayTime(atMs)} `),
            actionButton(
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

function warmView(model: Model, domain: string) {
  return panel(
    'warm',
    `Warm up ${domain}`,
    softView('Popular queries are computed with the engine’s spare capacity. Searches of people go first.'),
    formView(model, 'warm', 'Warm up from popular', [
      h('div', { class: 'fields' })(
        numberField('Engine calls/s, at most', { name: 'maxPerSecond', min: '1', max: '10000' }, 20),
        numberField('Popular queries', { name: 'top', min: '1', max: '100000' }, 1000),
      ),
    ]),
    feedView(model, model.feeds.warm, ({ warmUps }) =>
      h('ul', { class: 'warm-ups' })(
        warmUps.filter((warmUp) => warmUp.domain === domain).map((warmUp) => warmUpView(model, warmUp)),
      ),
    ),
  );
}

function warmUpView(
  model: Model,
  { id, state, from, taken, settled, cached, computed, invalid, failed, seconds }: WarmUp,
) {
  const isOn = state === 'running' || state === 'waiting';
  return h('li', { 'data-key': `warm-${id}` })(
    h('div', { class: 'row' })(
      badge(state === 'done' ? 'good' : isOn ? 'warn' : 'none', state),
      h('span')(
        `from ${from}, ${countText(settled)} of ${plural(taken, 'query', 'queries')} in ${countText(seconds)} s`,
      ),
      isOn && actionButton(model, 'stop-warm', { class: 'quiet', 'data-id': id }, 'Stop'),
    ),
    h('progress', { max: Math.max(1, taken), value: settled, 'aria-label': `Progress of warm-up ${id}` })(),
    h('small')(
      `${countText(cached)} were fresh, ${countText(computed)} computed, ${countText(invalid)} invalid, ${countText(failed)} failed`,
    ),
  );
}

function pagingView(model: Model) {
  const domain = currentDomain(model)?.domain ?? '';
  const next = model.feeds.audit?.value?.next;
  return h('p', { class: 'paging' })(
    model.address.before !== undefined && [h('a', { href: consoleHref(domain, 'audit') })('Newest'), ' '],
    next !== undefined && h('a', { href: consoleHref(domain, 'audit', next) })('Older'),
  );
}

function omittedText({ omitted: count }: AuditEntry) {
  return count !== undefined && ` and ${count} more like it before, omitted`;
}

function changeView({ before, after }: AuditEntry) {
  if (before === undefined && after === undefined) return undefined;
  return h('details')(
    h('summary')('change'),
    h('pre')(`${JSON.stringify(before, undefined, 1) ?? UNKNOWN}\n→ ${JSON.stringify(after, undefined, 1) ?? UNKNOWN}`),
  );
}

const MODES = {
  refresh: 'served as stale while the engine computes them again, at its own pace',
  drop: 'misses from now on; overwritten in place as they are asked for',
  erase: 'removed from the store, for good',
} satisfies Readonly<Record<FlushMode, string>>;

/** The form for a permanent flush. Unlike a drill, a flush cannot bring the old pages back. */
function flushView(model: Model, domain: string) {
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

/** The loss of a flush or of a stage of a drill, and the extra load of the engine. */
export function previewFigures(preview: FlushPreview) {
  return h('div', { class: 'two-columns' })(h('div')(lossView(preview)), h('div')(survivalView(preview)));
}

function lossView({ nodes, memory, fraction }: FlushPreview) {
  return [
    facts([
      ['share of the keys', percentText(fraction)],
      ['in memory here', `${plural(memory.entries, 'page')}, ${bytesText(memory.bytes)}`],
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
        `${durationText(engine.seconds * 1000)}, ${plural(engine.searches, 'search', 'searches')}, hit ratio ${percentText(engine.hitRatio)}`,
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
