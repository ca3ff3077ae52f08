import { Gauge, type Registry } from 'prom-client';
import { CONNECTION_EVENTS, type ConnectionEvent, TOKEN_RESULTS, type TokenEvent } from '../http/events.ts';
import { createCounter } from './counter.ts';

/** How near the process is to its own bounds, as the public listener sees it. */
export interface DoorStatus {
  readonly inFlight: number;
  readonly maxInFlight: number;
  readonly loopDelayMs: number;
  readonly state: 'ok' | 'degraded' | 'down';
}

const STATES = { ok: 0, degraded: 1, down: 2 } as const;

/** Connections that never got as far as a search. */
export function createConnectionObserver(registry: Registry): (event: ConnectionEvent) => void {
  const connections = createCounter({
    registry,
    name: 'serpcache_client_connections_cut_total',
    help: 'Client connections refused or closed by us, and why.',
    labels: { reason: CONNECTION_EVENTS },
    fromZero: true,
  });
  return ({ what }) => connections.add(connections.at(what));
}

/** Bearers that let nobody in. The listener is told by the result: the public one ignores them all. */
export function createTokenObserver(registry: Registry): (event: TokenEvent) => void {
  const tokens = createCounter({
    registry,
    name: 'serpcache_http_refused_tokens_total',
    help: 'Bearer tokens that let nobody in: wrong, not looked at (throttled), or sent to the public listener (ignored).',
    labels: { reason: TOKEN_RESULTS },
    fromZero: true,
  });
  return ({ result }) => tokens.add(tokens.at(result));
}

export function createDoorGauges(registry: Registry): (status: DoorStatus) => void {
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers: [registry] });
  const state = gauge('serpcache_door_state', 'State of the door: 0 ok, 1 near its bounds, 2 shedding.');
  const inFlight = gauge('serpcache_in_flight', 'Searches that wait for a store or an engine.');
  const maxInFlight = gauge('serpcache_in_flight_max', 'Most that may; more are shed.');
  const loopDelay = gauge('serpcache_door_loop_delay_seconds', 'Delay of the event loop, as the door sees it.');
  return (status) => {
    state.set(STATES[status.state]);
    inFlight.set(status.inFlight);
    maxInFlight.set(status.maxInFlight);
    loopDelay.set(status.loopDelayMs / 1000);
  };
}
