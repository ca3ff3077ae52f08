import { h } from '../../../../report/tree.ts';
import { chosenDomain, inDomain, navLink, type PageAddress, pageAddress, type Site, searchPairs } from '../address.ts';
import { capitalizedIn, durationIn, foreignLanguage, formatAge, type Language, nameFor } from '../locale.ts';
import { failureDetail, failureText, messagesIn, reasonText, resultCountText, sourceText } from '../messages.ts';
import type { AnswerBody, Failure, PageModel, Shown } from '../model.ts';
import type { Provenance } from '../provenance.ts';

/** The texts besides the results: where an answer came from, and why there is none. */

export function startView({ site, language }: PageModel) {
  const message = messagesIn(language);
  const hint = h('p', { class: 'hint' })(message('startHint'));
  if (site.examples.length === 0) return [hint];
  return [
    hint,
    h('h2', { class: 'quiet' })(message('examples')),
    h('ul', { class: 'examples' })(
      site.examples.map(({ domain, query }) => {
        const address = pageAddress(Object.entries({ q: query, domain }), site);
        return h('li')(
          navLink(address)(h('span', { lang: foreignLanguage(query, language) })(query)),
          ' ',
          h('small')(nameFor(domain, language)),
        );
      }),
    ),
  ];
}

export function failureView({ site, address, language }: PageModel, failure: Failure) {
  const { code, retryAfterSeconds } = failure;
  const message = messagesIn(language);
  const detail = failureDetail(failure, language, chosenDomain(site, address.domain).attributes);
  const next = nextStep(code, address, site);
  return h('section', { class: 'notice', role: 'alert' })(
    h('p', { class: 'lead' })(failureText(code, language)),
    detail !== undefined && h('p', { class: 'detail' })(detail),
    retryAfterSeconds !== undefined && h('p')(`${message('soon')} ${formatAge(retryAfterSeconds, language)}.`),
    next !== undefined && h('p')(navLink(next.to, { class: 'button' })(message(next.label))),
  );
}

export function emptyView({ site, address, language }: PageModel, { total }: AnswerBody) {
  const message = messagesIn(language);
  const [lead, hint] =
    total > 0 ? ['beyond', undefined] : ['empty', address.filters.length > 0 ? 'emptyFiltered' : 'emptyHint'];
  const others = total > 0 ? [] : site.domains.filter(({ name }) => name !== address.domain);
  return h('div', { class: 'notice' })(
    h('p', { class: 'lead' })(message(lead)),
    hint !== undefined && h('p')(message(hint)),
    total > 0 && h('p')(navLink({ ...address, page: '' }, { class: 'button' })(message('firstPage'))),
    others.length > 0 && [
      h('p')(message('elsewhere')),
      h('ul', { class: 'elsewhere' })(
        others.map(({ name }) => h('li')(navLink(inDomain(address, name))(nameFor(name, language)))),
      ),
    ],
  );
}

/** The number of results, their source and their time, in one live region, so that screen readers announce it. */
export function statusLine({ shown, language }: PageModel) {
  const attributes = { class: 'status', role: 'status', 'aria-live': 'polite', 'data-key': 'status' };
  // A refusal is an alert of its own.
  if (shown.kind !== 'answer') return h('p', attributes)();
  const { answer, provenance } = shown;
  return h('p', attributes)(
    h('span', { class: 'count' })(resultCountText(answer.total, answer.totalRelation === 'gte', language)),
    answer.page > 1 && `, ${messagesIn(language)('onPage')} ${answer.page}`,
    ' · ',
    h('span', { class: 'source', 'data-source': provenance.source })(sourceText(provenance.source, language)),
    durationText(provenance, language),
  );
}

/** The tiers that the search passed, in a `<details>` that a reader can open. */
export function originDetails(
  { site, address, language }: PageModel,
  { provenance }: Extract<Shown, { kind: 'answer' }>,
) {
  const message = messagesIn(language);
  const { reason, engineMs, freshForSeconds } = provenance;
  return h('details', { class: 'origin', 'data-key': 'origin' })(
    h('summary')(message('how')),
    h('ol', { class: 'steps' })(
      stepsOf(provenance).map(({ at, did, found }) =>
        h('li', { class: found ? 'found' : undefined })(h('b')(message(`at-${at}`)), ' ', message(`did-${did}`)),
      ),
    ),
    reason !== undefined && h('p')(capitalizedIn(reasonText(reason, language)), '.'),
    engineMs !== undefined && h('p')(`${durationIn(engineMs, language)} ${message('inEngine')}.`),
    freshForSeconds !== undefined &&
      h('p')(
        `${message(freshForSeconds < 0 ? 'staleFor' : 'freshFor')} ${formatAge(Math.abs(freshForSeconds), language)}.`,
      ),
    site.explain !== undefined &&
      h('p')(
        h('a', { href: `${site.explain}?${new URLSearchParams(searchPairs(address, site))}` })(message('explain')),
      ),
  );
}

/**
 * The link that may help: after a fault of the service the same search again, after a refused refinement the query
 * without refinements. A refused query has to be typed again, in the box above.
 */
function nextStep(code: string, address: PageAddress, site: Site) {
  const bare = { ...address, page: '', limit: '', sort: '', filters: [], context: [] };
  switch (code) {
    case 'invalid-query':
    case 'invalid-url':
      return undefined;
    case 'invalid-page':
    case 'invalid-sort':
    case 'invalid-filter':
    case 'invalid-facet':
    case 'invalid-context':
      return { to: bare, label: 'plainly' };
    case 'unknown-domain':
      return { to: { ...bare, domain: chosenDomain(site, '').name }, label: 'plainly' };
    default:
      return { to: address, label: 'again' };
  }
}

function durationText({ serverMs, totalMs }: Provenance, language: Language) {
  const message = messagesIn(language);
  const onServer = serverMs === undefined ? undefined : `${durationIn(serverMs, language)} ${message('onServer')}`;
  if (totalMs === undefined) return onServer !== undefined && [' · ', h('span', { class: 'took' })(onServer)];
  const inAll = `${durationIn(totalMs, language)} ${message('inAll')}`;
  return [' · ', h('span', { class: 'took' })(onServer === undefined ? inAll : `${onServer}, ${inAll}`)];
}

const FAILED = { at: 'engine', did: 'failed', found: false };
/** The steps after those of the tiers. */
const LAST_STEPS: Partial<Record<Provenance['source'], readonly (typeof FAILED)[]>> = {
  engine: [{ at: 'engine', did: 'computed', found: true }],
  shared: [{ at: 'engine', did: 'shared', found: true }],
  stale: [{ at: 'engine', did: 'refreshes', found: false }],
  'stale-after-failure': [FAILED],
  lifeboat: [FAILED, { at: 'lifeboat', did: 'had', found: true }],
};

function stepsOf({ source, tiers }: Provenance) {
  const steps = tiers.map(({ tier, did }) => ({ at: tier, did, found: did === 'had' || did === 'had-stale' }));
  return [...steps, ...(LAST_STEPS[source] ?? [])];
}
