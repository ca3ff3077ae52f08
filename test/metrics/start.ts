import type { TestContext } from 'node:test';
import type { ControlSummary } from '../../src/control/control.ts';
import type { RequestEvent } from '../../src/http/events.ts';
import { createMetrics, type Metrics } from '../../src/metrics/metrics.ts';
import { systemClock } from '../../src/runtime.ts';
import type { DomainStatus } from '../../src/search/status.ts';
import { type Exposition, parseExposition } from './exposition.ts';

export const DOMAINS = ['goods', 'auto'];

export function statusOf(domain: string, changes: Partial<DomainStatus> = {}): DomainStatus {
  return {
    domain,
    state: 'ok',
    memory: {
      entries: 12,
      bytes: 3456,
      maxBytes: 65_536,
      emptyEntries: 3,
      emptyBytes: 210,
      emptyMaxBytes: 4096,
      evictions: 7,
    },
    engine: {
      state: 'ok',
      kind: 'sphinx',
      breaker: 'closed',
      forcedOpen: false,
      reachable: true,
      inFlight: 2,
      queued: 5,
      maxConcurrent: 8,
      ceiling: 9,
      overloaded: true,
      endpoints: [
        { name: 'a:9306', breaker: 'closed', reachable: true, inFlight: 2 },
        { name: 'b:9306', breaker: 'open', reachable: false, inFlight: 0 },
      ],
    },
    controlStanding: 'ok',
    processes: 3,
    leaseWaiters: 6,
    flights: 4,
    ...changes,
  };
}

export const nodes = (...names: string[]): NonNullable<DomainStatus['store']> => ({
  state: 'degraded',
  nodes: names.map((node, index) => ({
    node,
    breaker: index === 0 ? ('open' as const) : ('closed' as const),
    connected: index > 0,
    outstanding: index,
  })),
});

export const DOOR = { inFlight: 40, maxInFlight: 50, loopDelayMs: 20, state: 'degraded' } as const;

export const CONTROL: ControlSummary = {
  revision: 7,
  generation: 9,
  heardMsAgo: 250,
  shared: true,
  standing: 'corrupt',
  halted: true,
  suppressed: 3,
  purges: 2,
  ranges: 1,
  drill: { id: 'd', owner: 'a', flushed: 0.25, blackout: false },
};

/** Metrics of two domains, ended with the test. */
export function start(
  context: TestContext,
  statuses: () => readonly DomainStatus[] = () => DOMAINS.map((name) => statusOf(name)),
) {
  const metrics = createMetrics({
    domains: DOMAINS,
    status: statuses,
    door: () => DOOR,
    control: () => [{ domain: 'goods', control: CONTROL }],
    clock: systemClock,
  });
  context.after(metrics.close);
  return metrics;
}

export async function scrape(metrics: Metrics): Promise<Exposition> {
  return parseExposition((await metrics.text()).body);
}

export const hit: RequestEvent = {
  kind: 'request',
  route: 'search',
  domain: 'goods',
  outcome: 'hit-l1',
  status: 200,
  durationMs: 0.06,
};
