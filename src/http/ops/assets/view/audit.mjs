import { h } from '../../../page/assets/view/tree.mjs';
import { dayTime, UNKNOWN } from './format.mjs';
import { badge, fedView, panel, table } from './parts.mjs';

/** @param {import('../data/model.mjs').Model} model */
export function auditView(model) {
  return panel(
    'audit',
    'Who did what',
    fedView(model, model.fed.audit, ({ entries }) =>
      entries.length === 0
        ? h('p', { class: 'soft' }, 'Nothing has been asked since this process started.')
        : table(
            'Audit, newest first',
            ['time', 'action', 'domain', 'by', 'reason', 'result', 'change'],
            entries.map((entry) => [
              dayTime(entry.atMs),
              entry.action,
              entry.domain ?? '',
              entry.by,
              entry.reason ?? '',
              badge(entry.result === 'done' ? 'good' : 'warn', entry.result),
              changeView(entry),
            ]),
            'wide',
          ),
    ),
  );
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
