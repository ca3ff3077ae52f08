import type { DomainLook } from '../../../../operations/operations.ts';
import { facts } from '../../../../report/components.ts';
import {
  amountText,
  bytesText,
  countText,
  durationText,
  percentText,
  perSecondText,
  UNKNOWN,
} from '../../../../report/format.ts';
import { h } from '../../../../report/tree.ts';
import { currentDomain, type Model } from '../model.ts';
import { ago, badge, feedView, listTable, panel, scrollTable, softView, stateBadge } from './components.ts';

/** The live view of a domain (plots, engine, store, memory, control document, feed of changes), and its popular searches. */

export function domainView(model: Model) {
  const look = currentDomain(model);
  if (look === undefined) return h('p', { class: 'soft', 'data-key': 'nothing' })('No figures yet.');
  return h('div', { class: 'live', 'data-key': 'live' })(
    h('div', { class: 'plots', 'data-own': true, 'data-key': `plots-${look.domain}`, 'data-plots': look.domain })(),
    h('div', { class: 'state' })(
      enginePanel(look),
      storePanel(look),
      memoryPanel(look),
      controlPanel(look),
      changesPanel(look),
    ),
  );
}

export function popularView(model: Model) {
  const domain = currentDomain(model)?.domain ?? '';
  return panel(
    'popular',
    `What is asked of ${domain}`,
    feedView(model, model.feeds.popular, ({ source, queries }) => [
      softView(
        source === 'fleet' ? 'Counted over all processes, the last hour or so.' : 'Counted by this process alone.',
      ),
      listTable(
        'Nothing yet.',
        'Popular queries',
        ['query', 'refined by', 'count'],
        queries.map(({ search, count }) => [...queryAndRefinements(search), countText(count)]),
      ),
    ]),
  );
}

function enginePanel({ status: { engine, lifeboat, processes, loads, leaseWaiters }, figures }: DomainLook) {
  return panel(
    'engine',
    `Engine: ${engine.kind}`,
    facts([
      [
        'state',
        stateBadge(engine.state),
        !engine.reachable && badge('bad', 'unreachable'),
        engine.overloaded && badge('warn', 'overloaded'),
      ],
      ['breaker', stateBadge(engine.breaker), engine.forcedOpen && badge('bad', 'forced by a drill')],
      [
        'in flight',
        `${countText(engine.inFlight)} of ${countText(engine.maxConcurrent)}, ceiling ${countText(engine.ceiling)}`,
      ],
      ['queued', countText(engine.queued)],
      ['calls/s', `${amountText(figures?.engineCallsPerSecond)}, mean ${durationText(figures?.engineCallMs)}`],
      [
        'failures',
        figures === undefined
          ? UNKNOWN
          : `${countText(figures.engineFailures)} in ${durationText(figures.seconds * 1000)}`,
      ],
      ['computing', `${countText(loads)} keys, ${countText(leaseWaiters)} waiting`],
      ['processes', `${countText(processes)}${processes > 1 ? '; figures are of this one' : ''}`],
      lifeboat !== undefined && [
        'lifeboat',
        stateBadge(lifeboat.breaker),
        ` ${countText(lifeboat.inFlight)} in flight, ${countText(lifeboat.queued)} queued`,
      ],
    ]),
    engine.endpoints.length > 1 &&
      scrollTable(
        'Endpoints of the engine',
        ['endpoint', 'up', 'breaker', 'in flight'],
        engine.endpoints.map(({ name, reachable, breaker, inFlight }) => partRow(name, reachable, breaker, inFlight)),
      ),
  );
}

function partRow(name: string, isUp: boolean, breaker: Parameters<typeof stateBadge>[0], count: number) {
  return [name, isUp ? badge('good', 'yes') : badge('bad', 'no'), stateBadge(breaker), countText(count)];
}

function storePanel({ status: { store } }: DomainLook) {
  if (store === undefined) return panel('store', 'Store', softView('None: pages are kept in memory only.'));
  return panel(
    'store',
    'Store',
    facts([['state', stateBadge(store.state)]]),
    scrollTable(
      'Nodes of the store',
      ['node', 'up', 'breaker', 'waits'],
      store.nodes.map(({ node, connected, breaker, outstanding }) => partRow(node, connected, breaker, outstanding)),
    ),
  );
}

function memoryPanel({ status: { memory } }: DomainLook) {
  return panel(
    'memory',
    'Memory',
    h('meter', { min: 0, max: memory.maxBytes, value: memory.bytes, 'aria-labelledby': 'memory' })(),
    facts([
      [
        'used',
        `${percentText(memory.maxBytes === 0 ? undefined : memory.bytes / memory.maxBytes)} of ${bytesText(memory.maxBytes)}`,
      ],
      ['pages', `${countText(memory.entries)}, and ${countText(memory.emptyEntries)} empty`],
      ['evicted', `${countText(memory.evictions)} since the start`],
    ]),
  );
}

function controlPanel({ control }: DomainLook) {
  return panel(
    'control',
    'Control',
    facts([
      ['revision', `${countText(control.revision)}, generation ${countText(control.generation)}`],
      ['heard', control.shared ? ago(control.heardMsAgo) : 'this process alone'],
      control.standing === 'corrupt' && ['stored', badge('bad', 'cannot be believed')],
      ['flushed', `${countText(control.ranges)} ranges, ${countText(control.purges)} queries`],
      ['suppressed', `${countText(control.suppressed)} documents`],
      ['halt', control.halted ? badge('bad', 'halted') : 'no'],
      [
        'drill',
        control.drill === undefined
          ? 'none'
          : [
              `${control.drill.id}: ${percentText(control.drill.flushed)} flushed`,
              control.drill.blackout && ', engine blackout',
            ],
      ],
    ]),
  );
}

function changesPanel({ changes }: DomainLook) {
  if (changes === undefined) return false;
  const { following, heardMsAgo, changedMsAgo, perSecond, lagMs, gaps, filled, pages, audit, sourceFault } = changes;
  const { audited, perMillion } = audit;
  const stale = Object.entries(pages).map(([reason, count]) => `${reason} ${countText(count)}`);
  return panel(
    'feed',
    'Feed of changes',
    facts([
      ['state', following ? badge('good', 'followed') : badge('bad', `heard ${ago(heardMsAgo)}`)],
      ['changes', `${perSecondText(perSecond)}, ${countText(changes.changes)} since the start`],
      ['last', changedMsAgo === undefined ? 'none yet' : `${ago(changedMsAgo)}, lag ${durationText(lagMs)}`],
      ['pages', stale.length === 0 ? 'none refreshed by it' : `refreshed by it: ${stale.join(', ')}`],
      sourceFault !== undefined && ['source', badge('bad', sourceFault)],
      gaps > 0 && ['gaps', countText(gaps)],
      ['memory', `${percentText(filled)} of its newer half`],
      [
        'stale',
        perMillion === undefined
          ? 'nothing audited yet'
          : `${countText(perMillion.found)} answers per million (95 %: ${countText(perMillion.from)} to ${countText(perMillion.to)}), ${countText(audited)} audited`,
      ],
    ]),
  );
}

/** @param search `q=…&filter=…` */
function queryAndRefinements(search: string): readonly [query: string, rest: string] {
  const pairs = [...new URLSearchParams(search)];
  const rest = pairs.filter(([name]) => name !== 'q').map(([name, value]) => `${name} ${value}`);
  return [pairs.find(([name]) => name === 'q')?.[1] ?? search, rest.join(' · ')];
}
