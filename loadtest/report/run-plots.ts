import type { Judged } from '../judge/judged.ts';
import type { RunRecord } from '../judge/record.ts';
import type { Sheet } from './curve.ts';
import { enginePlacesPlot, engineRatePlot } from './engine-plots.ts';
import { errorPlot } from './error-plot.ts';
import { latencyPlot } from './latency-plot.ts';
import { hitRatioPlot, outcomePlot } from './outcome-plot.ts';
import { memoryPlot, processorPlot } from './part-plots.ts';
import type { Plot } from './plot.ts';
import { ratePlot } from './rate-plot.ts';
import { storePlot } from './store-plot.ts';
import { timelineOf } from './timeline.ts';

/** By their names: the order in which they are read, from what was asked for to what it took. */
const PLOTS = {
  rate: ratePlot,
  latency: latencyPlot,
  outcomes: outcomePlot,
  'hit-ratio': hitRatioPlot,
  errors: errorPlot,
  engine: engineRatePlot,
  places: enginePlacesPlot,
  store: storePlot,
  memory: memoryPlot,
  processors: processorPlot,
} as const satisfies Readonly<Record<string, (sheet: Sheet, id: string) => Plot>>;

export type PlotName = keyof typeof PLOTS;

/** Along a plot: what keeps the page under 400 KB however long the run was. */
const COLUMNS = 300;

export function sheetOf(record: RunRecord, judged: Judged): Sheet {
  const timeline = timelineOf(record);
  return { record, judged, timeline, columnMs: timeline.toMs / COLUMNS };
}

export function runPlots(sheet: Sheet): readonly Plot[] {
  return Object.entries(PLOTS).map(([name, plot]) => plot(sheet, `plot-${name}`));
}

export function runPlot(sheet: Sheet, name: PlotName): Plot {
  return PLOTS[name](sheet, `plot-${name}`);
}
