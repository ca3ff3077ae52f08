import type { Stretch } from './hold-window.ts';
import type { RunEvent, RunRecord } from './record.ts';

/** Keys were taken away at `fromMs`; until `toMs` no others were. */
export interface Loss extends Stretch {
  readonly step: string;
  /** As the event tells it: `25 % of the keys`. */
  readonly what: string;
  readonly drill?: string;
}

/** Domains that are flushed together lose their keys within one poll of the control document or two. */
const TOGETHER_MS = 1500;

/** In the order in which they happened. A drill whose stages are known begins to lose with the first of them. */
export function lossesOf({ summary, events, seconds }: RunRecord): readonly Loss[] {
  const staged = new Set(events.filter(({ kind }) => kind === 'drill-stage').map(({ drill }) => drill));
  const isLoss = ({ kind, drill }: RunEvent): boolean =>
    kind === 'flush' || kind === 'drill-stage' || (kind === 'drill-started' && !staged.has(drill));
  const starts: RunEvent[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (const event of events.filter(isLoss).toSorted((a, b) => a.atMs - b.atMs)) {
    if (event.atMs - last > TOGETHER_MS) starts.push(event);
    last = event.atMs;
  }
  const endMs = seconds.at(-1)?.atMs ?? summary.startedAtMs + summary.durationMs;
  return starts
    .filter(({ atMs }) => atMs < endMs)
    .map(({ atMs: fromMs, text: what, drill }, at) => {
      const inStep = summary.steps.findLast(({ step }) => summary.startedAtMs + step.startSeconds * 1000 <= fromMs);
      return {
        fromMs,
        toMs: starts[at + 1]?.atMs ?? endMs,
        step: inStep?.step.name ?? '',
        what,
        ...(drill && { drill }),
      };
    });
}
