import { element, type Markup } from '../../../../src/report/markup.ts';
import { type Place, pathData } from '../../../../src/report/plot/series.ts';
import type { Drawing } from './drawing.ts';
import type { Look } from './look.ts';
import { isKnown } from './scale.ts';

/** A line for each series, with a point for each value; it is broken where a value is missing. */
export function lines({ chart, looks, scale, startPx, stepPx, topPx }: Drawing): readonly Markup[] {
  return chart.series.flatMap(({ values }, at) => {
    const look = looks[at];
    if (look === undefined) return [];
    const points = chart.places.map((_, place): Place | undefined => {
      const value = values[place];
      return isKnown(value) ? [startPx + place * stepPx, topPx + scale.at(value)] : undefined;
    });
    const data = runsOf(points).map(pathData).join('');
    const line = data === '' ? [] : [element('path', { class: lineStyle(look), d: data })];
    return element(
      'g',
      {},
      line,
      points.flatMap((point) => (point === undefined ? [] : pointShape(look, point))),
    );
  });
}

/** As it is drawn, and as the legend shows it. */
export function lineShape(look: Look, [x, y]: Place): readonly Markup[] {
  return [element('path', { class: lineStyle(look), d: `M${x} ${y}h30` }), pointShape(look, [x + 15, y])];
}

function lineStyle({ style, isHollow }: Look): string {
  return `line ${style}${isHollow ? ' dashed' : ''}`;
}

function pointShape({ style, point, isHollow }: Look, [x, y]: Place): Markup {
  const place = `translate(${x.toFixed(1)} ${y.toFixed(1)})`;
  return element('path', { class: `point ${isHollow ? 'hollow ' : ''}${style}`, d: point, transform: place });
}

/** Points that follow each other without a gap. */
function runsOf(points: readonly (Place | undefined)[]): readonly (readonly Place[])[] {
  const runs: Place[][] = [[]];
  for (const point of points) {
    if (point === undefined) runs.push([]);
    else runs.at(-1)?.push(point);
  }
  return runs.filter((run) => run.length > 1);
}
