import { element, type Markup } from '../markup.ts';
import type { Frame } from './frame.ts';
import { type Place, pathData } from './path-data.ts';
import type { Point, Run } from './point.ts';

/** One line per run; a run of one point is drawn as long as the time it stands for. */
export function line(frame: Frame, runs: readonly Run[], style: string): Markup {
  const data = runs.map((run) => {
    const [first] = run;
    if (first === undefined) return '';
    if (run.length === 1) return pathData([first.fromMs, first.toMs].map((ms) => placeOf(frame, ms, first.value)));
    return pathData(run.map((point) => placeOf(frame, middle(point), point.value)));
  });
  return element('path', { class: `line ${style}`, d: data.join('') });
}

/** Between the lowest and the highest of each point; nothing where they are the same all along. */
export function spread(frame: Frame, runs: readonly Run[], style: string): Markup | undefined {
  const data = runs.flatMap((run) => {
    if (run.every((point) => point.low === point.high)) return [];
    const edge = (points: Run, side: (point: Point) => number): readonly Place[] =>
      points.map((point) => placeOf(frame, middle(point), side(point)));
    const outline = [...edge(run, (point) => point.high), ...edge(run.toReversed(), (point) => point.low)];
    return [`${pathData(outline)}z`];
  });
  return data.length === 0 ? undefined : element('path', { class: `spread ${style}`, d: data.join('') });
}

/** The same value from one moment to another. */
export function level(frame: Frame, fromMs: number, toMs: number, value: number, style: string): Markup {
  const data = pathData([fromMs, toMs].map((ms) => placeOf(frame, ms, value)));
  return element('path', { class: `line ${style}`, d: data });
}

function middle(point: Point): number {
  return (point.fromMs + point.toMs) / 2;
}

function placeOf(frame: Frame, atMs: number, value: number): Place {
  return [frame.x.at(atMs), frame.y.at(value)];
}
