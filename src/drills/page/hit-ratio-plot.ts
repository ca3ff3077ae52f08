import { durationText, percentText } from '../../report/number-text.ts';
import { createFrame } from '../../report/plot/frame.ts';
import { level, line, spread } from '../../report/plot/line.ts';
import type { Panel } from '../../report/plot/panel.ts';
import type { Run } from '../../report/plot/point.ts';
import type { Plan } from '../plan.ts';
import { cohortCurve, LEAST_SEARCHES, LONGEST_MS } from './cohort-curve.ts';
import type { Sheet } from './curve.ts';
import { segmentsOf } from './segments.ts';

/** The cohort of the stage that runs against the one that nobody flushed, and each against its own past. */
export function hitRatioPlot(sheet: Sheet, plan: Plan, id: string): Panel {
  const { track } = sheet;
  const past = track.learned?.baseline.cohorts ?? [];
  const flushed = cohortCurve(
    sheet,
    ({ figures, stage }) => figures.cohorts[stage + 1],
    ({ stage }) => stage,
  );
  const control = cohortCurve(
    sheet,
    ({ figures }) => figures.cohorts[0],
    () => 0,
  );
  const frame = createFrame({ fromMs: track.fromMs, toMs: track.toMs, max: 1, heightPx: 200, tickCount: 5 });
  const controlPast = past[0]?.hitRatio;
  const pasts = segmentsOf(track, plan).flatMap(({ fromMs, toMs, stage }) => {
    const hitRatio = past[stage + 1]?.hitRatio;
    return hitRatio === undefined ? [] : [level(frame, fromMs, toMs, hitRatio, 'flushed past')];
  });
  return {
    id,
    title: 'Hit ratio, % of searches',
    words: `Hit ratio over time. ${lowest('Flushed cohort', flushed)} ${lowest('Control cohort', control)}`,
    frame,
    tickText: percentText,
    drawn: [
      controlPast === undefined ? undefined : level(frame, track.fromMs, track.toMs, controlPast, 'control past'),
      ...pasts,
      spread(frame, control, 'control'),
      line(frame, control, 'control'),
      spread(frame, flushed, 'flushed'),
      line(frame, flushed, 'flushed'),
    ],
    legend: [
      { kind: 'line', style: 'flushed', name: 'flushed: the cohort of the stage', figure: lowestFigure(flushed) },
      { kind: 'line', style: 'flushed past', name: 'its own past' },
      { kind: 'line', style: 'control', name: 'control: flushed by nobody', figure: lowestFigure(control) },
      ...(controlPast === undefined
        ? []
        : [{ kind: 'line', style: 'control past', name: 'its own past', figure: percentText(controlPast) } as const]),
    ],
    notes: [
      `Hits are answers from L1 or L2 that were fresh. A point takes samples together until they hold ${LEAST_SEARCHES} searches of the cohort, or for ${durationText(LONGEST_MS)}.`,
    ],
    isDetailed: true,
    isEmpty: flushed.length + control.length === 0,
  };
}

function lowest(name: string, runs: readonly Run[]): string {
  return runs.length === 0 ? `${name}: nothing was measured.` : `${name}: ${lowestFigure(runs)}.`;
}

function lowestFigure(runs: readonly Run[]): string {
  const low = runs.flat().reduce((least, point) => Math.min(least, point.low), 1);
  return runs.length === 0 ? 'not measured' : `${percentText(low)} at its lowest`;
}
