import { h } from '../../../page/assets/view/tree.mjs';
import { currentLook } from '../data/model.mjs';
import { number } from './format.mjs';
import { fedView, panel, table } from './parts.mjs';

/** @param {import('../data/model.mjs').Model} model */
export function popularView(model) {
  const domain = currentLook(model)?.domain ?? '';
  return panel(
    'popular',
    `What is asked of ${domain}`,
    fedView(model, model.fed.popular, ({ source, queries }) => [
      h(
        'p',
        { class: 'soft' },
        source === 'fleet' ? 'Counted over all processes, the last hour or so.' : 'Counted by this process alone.',
      ),
      queries.length === 0
        ? h('p', { class: 'soft' }, 'Nothing yet.')
        : table(
            'Popular queries',
            ['query', 'refined by', 'count'],
            queries.map(({ search, count }) => [...partsOf(search), number(count)]),
            'wide',
          ),
    ]),
  );
}

/**
 * @param {string} search `q=…&filter=…`
 * @returns {readonly [query: string, rest: string]}
 */
function partsOf(search) {
  const pairs = [...new URLSearchParams(search)];
  const rest = pairs.filter(([name]) => name !== 'q').map(([name, value]) => `${name} ${value}`);
  return [pairs.find(([name]) => name === 'q')?.[1] ?? search, rest.join(' · ')];
}
