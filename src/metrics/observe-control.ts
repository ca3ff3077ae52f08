import { Gauge, type Registry } from 'prom-client';
import type { ControlEvent } from '../control/control.ts';
import type { ControlSummary } from '../control/summary.ts';
import type { PopularityEvent } from '../popularity/shared.ts';
import { createCounter } from './counter.ts';
import { CONTROL_EVENTS } from './words.ts';

/** What operators changed, and how this process follows it. */
export function createControlObserver(registry: Registry, domain: readonly string[]): (event: ControlEvent) => void {
  const events = createCounter({
    registry,
    name: 'serpcache_control_events_total',
    help: 'What happened to the control document, as this process saw it.',
    labels: { domain, event: CONTROL_EVENTS },
    fromZero: false,
  });
  return (event) => events.add(events.at(event.domain, event.kind === 'overlay' ? `drill-${event.state}` : event.kind));
}

/** How the counting of popular searches goes. */
export function createPopularityObserver(
  registry: Registry,
  domain: readonly string[],
): (event: PopularityEvent) => void {
  const queries = createCounter({
    registry,
    name: 'serpcache_popularity_queries_total',
    help: 'Queries whose counts were added to the fleet, or dropped because the counter store was slow or away.',
    labels: { domain, outcome: ['added', 'dropped'] },
    fromZero: false,
  });
  return ({ kind, domain: name, queries: count }) =>
    queries.add(queries.at(name, kind === 'popularity-added' ? 'added' : 'dropped'), count);
}

type Summaries = readonly { readonly domain: string; readonly control: ControlSummary }[];

export function createControlGauges(registry: Registry): (summaries: Summaries) => void {
  const gauge = (name: string, help: string): Gauge<'domain'> =>
    new Gauge({ name: `serpcache_control_${name}`, help, labelNames: ['domain'], registers: [registry] });
  const revision = gauge('revision', 'Revision of the control document this process follows.');
  const heard = gauge('heard_seconds', 'Since the control store was last heard.');
  const corrupt = gauge('corrupt', 'Whether the stored document cannot be believed: 0 or 1.');
  const flushed = gauge('drill_flushed_ratio', 'Share of the keys a live drill has taken away; 0 without one.');
  const drill = gauge('drill_live', 'Whether a drill runs in this domain: 0 or 1.');
  const halted = gauge('halted', 'Whether drills are halted: 0 or 1.');
  const suppressed = gauge('suppressed', 'Documents suppressed.');
  const purges = gauge('purges', 'Purges remembered.');
  return (summaries) => {
    for (const { domain, control } of summaries) {
      revision.set({ domain }, control.revision);
      heard.set({ domain }, control.heardMsAgo / 1000);
      corrupt.set({ domain }, control.standing === 'corrupt' ? 1 : 0);
      drill.set({ domain }, control.drill === undefined ? 0 : 1);
      flushed.set({ domain }, control.drill?.flushed ?? 0);
      halted.set({ domain }, control.halted ? 1 : 0);
      suppressed.set({ domain }, control.suppressed);
      purges.set({ domain }, control.purges);
    }
  };
}
