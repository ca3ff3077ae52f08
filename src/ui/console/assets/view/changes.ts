import type { AuditEntry } from '../../../../operations/audit/audit.ts';
import type { WarmUp } from '../../../../operations/warm/warm.ts';
import { countText, UNKNOWN } from '../../../../report/format.ts';
import { h } from '../../../../report/tree.ts';
import { consoleHref, currentDomain, type Model } from '../model.ts';
import {
  actionButton,
  badge,
  counted,
  dayTime,
  feedView,
  field,
  formView,
  listTable,
  numberField,
  panel,
  reasonField,
  softView,
} from './components.ts';
import { flushView } from './flush.ts';

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
        `from ${from}, ${countText(settled)} of ${counted(taken, 'query', 'queries')} in ${countText(seconds)} s`,
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
