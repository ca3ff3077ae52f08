import { isHalted, isStale } from './data/model.mjs';
import { endingWords, verdictWord } from './view/drill-words.mjs';

/**
 * @typedef {import('./data/model.mjs').Model} Model
 * @typedef {ReadonlyMap<string, string>} Facts
 */

/**
 * What has become another since the drawing before, in sentences for who listens instead of looking. Figures are not
 * told: they change every second.
 * @param {Facts} before
 * @param {Facts} now
 * @returns {readonly string[]}
 */
export function changesBetween(before, now) {
  if (before.size === 0) return [];
  const told = [...now].filter(([name, words]) => before.get(name) !== words).map(([, words]) => words);
  const gone = [...before.keys()]
    .filter((name) => name.startsWith('drill ') && !now.has(name))
    .map((name) => `${name} has ended.`);
  return [...told, ...gone];
}

/**
 * @param {Model} model
 * @returns {Facts}
 */
export function factsOf(model) {
  const { live, link, watched } = model;
  /** @type {Map<string, string>} */
  const facts = new Map();
  if (live === undefined && link.kind !== 'lost') return facts;
  facts.set('link', link.kind === 'lost' || isStale(model) ? 'Connection lost.' : 'Connected.');
  if (live === undefined) return facts;
  facts.set('halt', isHalted(model) ? 'Drills are halted.' : 'Drills are not halted.');
  for (const { domain, status } of live.domains) {
    facts.set(`state ${domain}`, `${domain} is ${status.state}.`);
    facts.set(`breaker ${domain}`, `The engine breaker of ${domain} is ${status.engine.breaker}.`);
  }
  for (const { id, title, domains, ending } of live.drills) {
    const what = ending === undefined ? ` runs on ${domains.join(', ')}` : `: ${endingWords(ending)}`;
    facts.set(`drill ${id}`, `The drill ${title}${what}.`);
  }
  const journal = watched?.journal;
  if (journal !== undefined) {
    if (journal.state.kind === 'running')
      facts.set('stage', `Stage ${journal.state.stage + 1}, ${journal.state.phase}.`);
    for (const guard of journal.samples.at(-1)?.guards ?? []) {
      if (guard.broken) facts.set(`guard ${guard.figure}`, `The guard ${guard.figure} is broken.`);
    }
    if (journal.verdict !== undefined)
      facts.set('verdict', `${verdictWord(journal.verdict.kind)}: ${journal.verdict.detail}`);
  }
  return facts;
}
