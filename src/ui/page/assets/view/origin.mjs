// @ts-check
import { formatAge, formatDuration } from './format.mjs';
import { reasonWords, sourceWords } from './outcomes.mjs';
import { searchPairs } from './place.mjs';
import { h } from './tree.mjs';
import { countWords, wordsIn } from './words.mjs';

/**
 * @typedef {import('./model.mjs').PageModel} PageModel
 * @typedef {import('./provenance.mjs').Provenance} Provenance
 */

/**
 * How many, where from, how long: one live line, so that it is also heard.
 * @param {PageModel} model
 */
export function statusLine({ shown, language }) {
  const attributes = { class: 'status', role: 'status', 'aria-live': 'polite', 'data-key': 'status' };
  // A refusal speaks for itself, as an alert.
  if (shown.kind !== 'answer') return h('p', attributes);
  const { answer, provenance } = shown;
  return h(
    'p',
    attributes,
    h('span', { class: 'count' }, countWords(answer.total, answer.totalRelation === 'gte', language)),
    answer.page > 1 && `, ${wordsIn(language)('onPage')} ${answer.page}`,
    ' · ',
    h('span', { class: 'source', 'data-source': provenance.source }, sourceWords(provenance.source, language)),
    duration(provenance, language),
  );
}

/**
 * @param {Provenance} provenance
 * @param {import('./language.mjs').Language} language
 */
function duration({ serverMs, totalMs }, language) {
  const words = wordsIn(language);
  const onServer = serverMs === undefined ? undefined : `${formatDuration(serverMs, language)} ${words('onServer')}`;
  if (totalMs === undefined) return onServer !== undefined && [' · ', h('span', { class: 'took' }, onServer)];
  const inAll = `${formatDuration(totalMs, language)} ${words('inAll')}`;
  return [' · ', h('span', { class: 'took' }, onServer === undefined ? inAll : `${onServer}, ${inAll}`)];
}

/**
 * The way the question went, tier by tier, for whoever wants to know.
 * @param {PageModel} model
 * @param {Extract<import('./model.mjs').Shown, { kind: 'answer' }>} shown
 */
export function originDetails({ site, place, language }, { provenance }) {
  const words = wordsIn(language);
  const { reason, engineMs, freshForSeconds } = provenance;
  return h(
    'details',
    { class: 'origin', 'data-key': 'origin' },
    h('summary', {}, words('how')),
    h(
      'ol',
      { class: 'way' },
      stepsOf(provenance).map(({ place: where, did, found }) =>
        h('li', { class: found ? 'found' : undefined }, h('b', {}, words(`at-${where}`)), ' ', words(`did-${did}`)),
      ),
    ),
    reason !== undefined && h('p', {}, capital(reasonWords(reason, language)), '.'),
    engineMs !== undefined && h('p', {}, `${formatDuration(engineMs, language)} ${words('inEngine')}.`),
    freshForSeconds !== undefined &&
      h(
        'p',
        {},
        `${words(freshForSeconds < 0 ? 'staleFor' : 'freshFor')} ${formatAge(Math.abs(freshForSeconds), language)}.`,
      ),
    site.explain !== undefined &&
      h(
        'p',
        {},
        h('a', { href: `${site.explain}?${new URLSearchParams(searchPairs(place, site))}` }, words('explain')),
      ),
  );
}

/**
 * @param {Provenance} provenance
 * @returns {{ place: string, did: string, found: boolean }[]}
 */
function stepsOf({ source, tiers }) {
  const steps = tiers.map(({ tier, did }) => ({ place: tier, did, found: did === 'had' || did === 'had-stale' }));
  switch (source) {
    case 'engine':
      return [...steps, { place: 'engine', did: 'computed', found: true }];
    case 'shared':
      return [...steps, { place: 'engine', did: 'shared', found: true }];
    case 'stale':
      return [...steps, { place: 'engine', did: 'refreshes', found: false }];
    case 'stale-after-failure':
      return [...steps, { place: 'engine', did: 'failed', found: false }];
    case 'lifeboat':
      return [
        ...steps,
        { place: 'engine', did: 'failed', found: false },
        { place: 'lifeboat', did: 'had', found: true },
      ];
    default:
      return steps;
  }
}

/** @param {string} text */
function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
