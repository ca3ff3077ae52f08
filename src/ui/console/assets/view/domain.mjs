import { h } from '../../../page/assets/view/tree.mjs';
import { currentLook } from '../data/model.mjs';
import { ago, bytes, duration, number, percent, plannedPercent, rate } from './format.mjs';
import { badge, breakerBadge, facts, panel, partBadge, table } from './parts.mjs';

/**
 * @typedef {import('../data/model.mjs').Model} Model
 * @typedef {import('../data/model.mjs').DomainLook} DomainLook
 */

/** @param {Model} model */
export function domainView(model) {
  const look = currentLook(model);
  if (look === undefined) return h('p', { class: 'soft', 'data-key': 'nothing' }, 'No figures yet.');
  return h(
    'div',
    { class: 'live', 'data-key': 'live' },
    h('div', { class: 'plots', 'data-own': true, 'data-key': `plots-${look.domain}`, 'data-plots': look.domain }),
    h('div', { class: 'state' }, enginePanel(look), storePanel(look), memoryPanel(look), controlPanel(look)),
  );
}

/** @param {DomainLook} look */
function enginePanel({ status: { engine, lifeboat, processes, flights, leaseWaiters }, figures }) {
  return panel(
    'engine',
    `Engine: ${engine.kind}`,
    facts([
      [
        'state',
        partBadge(engine.state),
        !engine.reachable && badge('bad', 'unreachable'),
        engine.overloaded && badge('warn', 'overloaded'),
      ],
      ['breaker', breakerBadge(engine.breaker), engine.forcedOpen && badge('bad', 'forced by a drill')],
      ['in flight', `${number(engine.inFlight)} of ${number(engine.maxConcurrent)}, ceiling ${number(engine.ceiling)}`],
      ['queued', number(engine.queued)],
      ['calls/s', `${rate(figures?.engineCallsPerSecond)}, mean ${duration(figures?.engineCallMs)}`],
      [
        'failures',
        figures === undefined ? '–' : `${number(figures.engineFailures)} in ${duration(figures.seconds * 1000)}`,
      ],
      ['computing', `${number(flights)} keys, ${number(leaseWaiters)} waiting`],
      ['processes', `${number(processes)}${processes > 1 ? '; figures are of this one' : ''}`],
      lifeboat !== undefined && [
        'lifeboat',
        breakerBadge(lifeboat.breaker),
        ` ${number(lifeboat.inFlight)} in flight, ${number(lifeboat.queued)} queued`,
      ],
    ]),
    engine.endpoints.length > 1 &&
      table(
        'Endpoints of the engine',
        ['endpoint', 'up', 'breaker', 'in flight'],
        engine.endpoints.map((endpoint) => [
          endpoint.name,
          endpoint.reachable ? badge('good', 'yes') : badge('bad', 'no'),
          breakerBadge(endpoint.breaker),
          number(endpoint.inFlight),
        ]),
      ),
  );
}

/** @param {DomainLook} look */
function storePanel({ status: { store } }) {
  if (store === undefined)
    return panel('store', 'Store', h('p', { class: 'soft' }, 'None: pages are kept in memory only.'));
  return panel(
    'store',
    'Store',
    facts([['state', partBadge(store.state)]]),
    table(
      'Nodes of the store',
      ['node', 'up', 'breaker', 'waits'],
      store.nodes.map((node) => [
        node.node,
        node.connected ? badge('good', 'yes') : badge('bad', 'no'),
        breakerBadge(node.breaker),
        number(node.outstanding),
      ]),
    ),
  );
}

/** @param {DomainLook} look */
function memoryPanel({ status: { memory } }) {
  return panel(
    'memory',
    'Memory',
    h('meter', { min: 0, max: memory.maxBytes, value: memory.bytes, 'aria-labelledby': 'memory' }),
    facts([
      [
        'used',
        `${percent(memory.maxBytes === 0 ? undefined : memory.bytes / memory.maxBytes)} of ${bytes(memory.maxBytes)}`,
      ],
      ['pages', `${number(memory.entries)}, and ${number(memory.emptyEntries)} empty`],
      ['evicted', `${number(memory.evictions)} since the start`],
    ]),
  );
}

/** @param {DomainLook} look */
function controlPanel({ control }) {
  return panel(
    'control',
    'Control',
    facts([
      ['revision', `${number(control.revision)}, generation ${number(control.generation)}`],
      ['heard', control.shared ? ago(control.heardMsAgo) : 'this process alone'],
      control.standing === 'corrupt' && ['stored', badge('bad', 'cannot be believed')],
      ['flushed', `${number(control.ranges)} ranges, ${number(control.purges)} queries`],
      ['suppressed', `${number(control.suppressed)} documents`],
      ['halt', control.halted ? badge('bad', 'halted') : 'no'],
      [
        'drill',
        control.drill === undefined
          ? 'none'
          : [
              `${control.drill.id}: ${plannedPercent(control.drill.flushed)} flushed`,
              control.drill.blackout && ', engine blackout',
            ],
      ],
    ]),
  );
}
