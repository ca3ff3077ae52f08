import { chartSvg } from './chart-svg.ts';
import type { Finding } from './finding.ts';

const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** `<name>.svg`, or `<name>-<id>.svg`. @throws when either is more than lower-case words: they become names of files. */
export function plotFile(name: string, id: string): string {
  for (const [what, word] of [
    ['finding', name],
    ['chart', id],
  ] as const) {
    if (!NAME.test(word) && !(what === 'chart' && word === '')) {
      throw new Error(
        `a ${what} cannot be called ${JSON.stringify(word)}: it becomes the name of a file, like value-size`,
      );
    }
  }
  return id === '' ? `${name}.svg` : `${name}-${id}.svg`;
}

/** All charts of a finding, drawn, by their file's name. @throws when two of them have one name. */
export function drawnCharts({ name, charts }: Finding): ReadonlyMap<string, string> {
  const drawn = new Map<string, string>();
  for (const chart of charts) {
    const file = plotFile(name, chart.id);
    if (drawn.has(file)) throw new Error(`${name} has two charts with the id ${JSON.stringify(chart.id)}`);
    drawn.set(file, chartSvg(chart));
  }
  return drawn;
}
