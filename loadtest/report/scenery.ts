import type { Band, Moment, Shape } from '../../src/report/plot/backdrop.ts';
import type { RunRecord } from '../judge/record.ts';
import { holdOf } from '../k6/kit/step.ts';
import type { StepSummary } from '../k6/kit/summary.ts';
import type { Sheet } from './curve.ts';

/** What every plot of a run has behind and across it: the steps, and what was done meanwhile. */
export interface Scenery {
  readonly bands: readonly Band[];
  readonly moments: readonly Moment[];
}

/** More would hide the curves; the table of events has them. */
const MAX_MOMENTS = 40;

export interface Sign {
  readonly style: string;
  readonly shape: Shape;
  readonly words: string;
}

/** By the kind of an event; others are not drawn across the plots. */
export const EVENT_SIGNS = {
  'drill-started': { style: 'started', shape: 'diamond', words: 'a drill began' },
  'drill-stage': { style: 'noted', shape: 'cross', words: 'a stage of a drill: keys are lost' },
  flush: { style: 'noted', shape: 'cross', words: 'a flush: keys are lost' },
  'drill-ended': { style: 'restored', shape: 'diamond', words: 'a drill ended' },
  recovered: { style: 'recovered', shape: 'disc', words: 'the hit ratio was back, and stayed' },
} as const satisfies Readonly<Record<string, Sign>>;

export function sceneryOf({ record, judged, timeline }: Sheet): Scenery {
  const { summary, events } = record;
  const bands = summary.steps.flatMap((one, i) => bandsOf(one, i, timeline.toMs));
  const done = events.flatMap(({ atMs, kind }): readonly Moment[] => {
    const sign = isSigned(kind) ? EVENT_SIGNS[kind] : undefined;
    return sign === undefined ? [] : [{ atMs: atMs - summary.startedAtMs, style: sign.style, shape: sign.shape }];
  });
  const recovered = judged.recoveries.flatMap(({ lostAtMs, recoveredAfterMs }): readonly Moment[] => {
    if (recoveredAfterMs === undefined) return [];
    return [{ atMs: lostAtMs + recoveredAfterMs - summary.startedAtMs, style: 'recovered', shape: 'disc' }];
  });
  const moments = [...done, ...recovered].filter(({ atMs }) => atMs >= 0 && atMs <= timeline.toMs);
  return { bands, moments: moments.slice(0, MAX_MOMENTS) };
}

/** Those that are drawn somewhere, in the order of their kinds. */
export function signsUsed({ events }: RunRecord, { moments }: Scenery): readonly Sign[] {
  const kinds = new Set([...events.map(({ kind }) => kind), 'recovered']);
  return Object.entries(EVENT_SIGNS)
    .filter(([kind, { style }]) => kinds.has(kind) && moments.some((moment) => moment.style === style))
    .map(([, sign]) => sign);
}

export function isSigned(kind: string): kind is keyof typeof EVENT_SIGNS {
  return Object.hasOwn(EVENT_SIGNS, kind);
}

/** Where its rate holds: what a step is judged by. Ramps between them stay blank. */
function bandsOf({ step, result }: StepSummary, at: number, endMs: number): readonly Band[] {
  const [from, to] = holdOf(step).map((seconds) => seconds * 1000);
  if (from === undefined || to === undefined || from >= endMs) return [];
  const didBreak = result === 'broke';
  return [
    {
      fromMs: from,
      toMs: Math.min(to, endMs),
      name: didBreak ? `${step.name} ✕` : step.name,
      style: didBreak
        ? 'step-broke'
        : step.limits === undefined
          ? 'step-shown'
          : `step-${at % 2 === 1 ? 'odd' : 'even'}`,
    },
  ];
}
