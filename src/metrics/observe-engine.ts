import type { Registry } from 'prom-client';
import type { SphinxEvent } from '../engines/sphinx/events.ts';
import type { SqliteEvent } from '../engines/sqlite/events.ts';
import { createCounter, type PlainCounter } from './counter.ts';
import { ENGINE_CONNECTION_STATES, RETRY_RESULTS, WORKER_STATES } from './words.ts';

/** What an engine's adapter did beside the searches themselves. */
export type EngineEvent = SphinxEvent | SqliteEvent;

export function createEngineObserver(
  registry: Registry,
  domain: readonly string[],
): (domain: string, event: EngineEvent) => void {
  const counter = (name: string, help: string, labels: Readonly<Record<string, readonly string[]>>): PlainCounter =>
    createCounter({ registry, name: `serpcache_engine_${name}`, help, labels: { domain, ...labels }, fromZero: true });
  const connections = counter('connections_total', 'Connections to the engine opened, closed, failed and discarded.', {
    state: ENGINE_CONNECTION_STATES,
  });
  const retries = counter('retries_total', 'Second attempts after a part of the engine failed, by what they gave.', {
    outcome: RETRY_RESULTS,
  });
  const relaxed = counter('relaxed_total', 'Searches without a result that were asked again less strictly.', {
    outcome: ['found', 'nothing'],
  });
  const workers = counter('workers_total', 'Worker threads of embedded engines that started, ended and crashed.', {
    state: WORKER_STATES,
  });
  return (name, event) => {
    switch (event.kind) {
      case 'connection':
        return connections.add(connections.at(name, event.state));
      case 'retry':
        return retries.add(retries.at(name, event.result));
      case 'relaxed':
        return relaxed.add(relaxed.at(name, event.found ? 'found' : 'nothing'));
      case 'worker':
        return workers.add(workers.at(name, event.state));
    }
  };
}
