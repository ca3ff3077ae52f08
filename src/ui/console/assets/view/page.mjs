import { h } from '../../../page/assets/view/tree.mjs';
import { isStale, runningDrills } from '../data/model.mjs';
import { auditView } from './audit.mjs';
import { cardsView, viewsView } from './cards.mjs';
import { changesView } from './changes.mjs';
import { domainView } from './domain.mjs';
import { drillStripView } from './drill-strip.mjs';
import { drillsView } from './drills.mjs';
import { apart } from './parts.mjs';
import { popularView } from './popular.mjs';
import { bannersView, topView } from './top.mjs';

/** @typedef {import('../data/model.mjs').Model} Model */

/** @type {Readonly<Record<import('../data/place.mjs').View, (model: Model) => import('../../../page/assets/view/tree.mjs').Child>>} */
const VIEWS = { live: domainView, drills: drillsView, changes: changesView, popular: popularView, audit: auditView };

/**
 * The whole console.
 * @param {Model} model
 * @returns {readonly import('../../../page/assets/view/tree.mjs').Tree[]}
 */
export function pageView(model) {
  return [
    apart(() => topView(model)),
    apart(() => bannersView(model)),
    apart(() => drillStripView(model)),
    h(
      'div',
      { class: `shown ${isStale(model) ? 'stale' : ''}`, 'data-key': 'shown' },
      apart(() => cardsView(model)),
      apart(() => viewsView(model)),
    ),
    h(
      'main',
      { id: 'main', tabindex: '-1', class: isStale(model) ? 'stale' : '', 'data-key': 'main' },
      h(
        'div',
        { class: 'view', 'data-key': `view-${model.place.view}` },
        apart(() => VIEWS[model.place.view](model)),
      ),
    ),
  ];
}

/** @param {Model} model */
export function titleOf(model) {
  const domains = model.live?.domains ?? [];
  const bad = domains.filter(({ status }) => status.state === 'down').map(({ domain }) => domain);
  const drilled = runningDrills(model).length;
  const signs = [
    isStale(model) ? 'no connection' : '',
    bad.length > 0 ? `down: ${bad.join(', ')}` : '',
    domains.some(({ control }) => control.halted) ? 'halted' : '',
    drilled > 0 ? 'drill' : '',
  ].filter((sign) => sign !== '');
  return [...signs, 'serpcache operations'].join(' · ');
}
