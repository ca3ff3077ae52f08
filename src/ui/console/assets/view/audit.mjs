import { h } from '../../../page/assets/view/tree.mjs';
import { currentLook } from '../data/model.mjs';
import { hrefOf } from '../data/place.mjs';
import { dayTime, UNKNOWN } from './format.mjs';
import { badge, fedView, panel, table } from './parts.mjs';

/** @param {import('../data/model.mjs').Model} model */
export function auditView(model) {
  return panel(
    'audit',
    'Who did what',
    fedView(model, model.fed.audit, ({ entries }) =>
      entries.length === 0
        ? h('p', { class: 'soft' }, model.place.before === undefined ? 'Nothing has been asked yet.' : 'Nothing here.')
        : table(
            'Audit, newest first',
            ['time', 'action', 'domain', 'by', 'reason', 'result', 'change'],
            entries.map((entry) => [
              dayTime(entry.atMs),
              entry.action,
              entry.domain ?? '',
              entry.by,
              entry.reason ?? '',
              [badge(entry.result === 'done' ? 'good' : 'warn', entry.result), heldBack(entry)],
              changeView(entry),
            ]),
            'wide',
          ),
    ),
    turnings(model),
  );
}

/** @param {import('../data/model.mjs').Model} model */
function turnings(model) {
  const domain = currentLook(model)?.domain ?? '';
  const next = model.fed.audit?.value?.next;
  return h(
    'p',
    { class: 'turnings' },
    model.place.before !== undefined && [h('a', { href: hrefOf(domain, 'audit') }, 'Newest'), ' '],
    next !== undefined && h('a', { href: hrefOf(domain, 'audit', next) }, 'Older'),
  );
}

/** @param {import('../data/shapes.mjs').AuditEntry} entry */
function heldBack({ heldBack: count }) {
  return count !== undefined && ` and ${count} more like it before, held back`;
}

/** @param {import('../data/shapes.mjs').AuditEntry} entry */
function changeView({ before, after }) {
  if (before === undefined && after === undefined) return '';
  return h(
    'details',
    {},
    h('summary', {}, 'change'),
    h(
      'pre',
      {},
      `${JSON.stringify(before, undefined, 1) ?? UNKNOWN}\n→ ${JSON.stringify(after, undefined, 1) ?? UNKNOWN}`,
    ),
  );
}
