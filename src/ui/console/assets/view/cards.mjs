import { h } from '../../../page/assets/view/tree.mjs';
import { currentLook } from '../data/model.mjs';
import { hrefOf } from '../data/place.mjs';
import { duration, number, percent, plannedPercent, rate } from './format.mjs';
import { badge, facts, partBadge } from './parts.mjs';

/** @typedef {import('../data/model.mjs').Model} Model */

/**
 * Every domain at a glance; the chosen one is what the rest of the page is about.
 * @param {Model} model
 */
export function cardsView(model) {
  const current = currentLook(model)?.domain;
  return h(
    'nav',
    { class: 'cards', 'aria-label': 'Domains', 'data-key': 'cards' },
    (model.live?.domains ?? []).map((look) => cardView(look, look.domain === current, model.place.view)),
  );
}

/**
 * @param {import('../data/model.mjs').DomainLook} look
 * @param {boolean} isCurrent
 * @param {import('../data/place.mjs').View} view
 */
function cardView({ domain, status, figures, control }, isCurrent, view) {
  const { engine } = status;
  return h(
    'a',
    { class: 'card', href: hrefOf(domain, view), 'aria-current': isCurrent && 'true', 'data-key': `card-${domain}` },
    h(
      'span',
      { class: 'card-head' },
      h('strong', {}, domain),
      partBadge(status.state),
      engine.breaker !== 'closed' && badge('bad', engine.forcedOpen ? 'blackout' : `breaker ${engine.breaker}`),
      engine.overloaded && badge('warn', 'overloaded'),
      control.halted && badge('bad', 'halted'),
      control.drill !== undefined && badge('warn', `drill ${plannedPercent(control.drill.flushed)}`),
    ),
    facts(
      [
        ['hit ratio', percent(figures?.hitRatio)],
        ['searches/s', rate(figures?.searchesPerSecond)],
        ['p99', duration(figures?.p99Ms)],
        ['in flight', `${number(engine.inFlight)}/${number(engine.maxConcurrent)}`],
      ],
      'glance',
    ),
  );
}

const TITLES = { live: 'Live', drills: 'Drills', changes: 'Changes', popular: 'Popular', audit: 'Audit' };

/** @param {Model} model */
export function viewsView(model) {
  const domain = currentLook(model)?.domain ?? model.place.domain ?? '';
  return h(
    'nav',
    { class: 'views', 'aria-label': 'Views', 'data-key': 'views' },
    Object.entries(TITLES).map(([view, title]) =>
      h(
        'a',
        {
          href: hrefOf(domain, /** @type {import('../data/place.mjs').View} */ (view)),
          'aria-current': view === model.place.view && 'page',
        },
        title,
      ),
    ),
  );
}
