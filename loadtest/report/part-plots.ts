import { amountText, bytesText, countText } from '../../src/report/format.ts';
import type { Run } from '../../src/report/plot/series.ts';
import type { Sample } from '../sample/sample.ts';
import { curve, highest, type Sheet } from './curve.ts';
import { growthPerSecond, total } from './growth.ts';
import { machineCores, PARTS, serviceBytes } from './parts.ts';
import { linePlot, type Plot } from './plot.ts';
import type { Between } from './timeline.ts';

/** What the service and its stores held. */
export function memoryPlot(sheet: Sheet, id: string): Plot {
  const level = (read: (sample: Sample) => readonly (number | undefined)[]) =>
    curve(sheet, sheet.timeline.samples, ({ after }) => total(read(after)), 'worst');
  const curves = [
    { style: 'service', name: 'service, resident', runs: level(serviceBytes) },
    { style: 'hits', name: 'of which L1', runs: level(({ replicas }) => replicas.map((one) => one.memoryBytes)) },
    { style: 'stores', name: 'stores, their data', runs: level(({ stores }) => stores.map((one) => one.usedBytes)) },
  ];
  // In powers of 1,024 the ticks are round.
  const unit = 1024 ** Math.max(0, Math.floor(Math.log2(highest(...curves.map(({ runs }) => runs))) / 10));
  return linePlot({
    ...{ sheet, id, text: (units: number) => bytesText(units * unit) },
    title: 'Memory',
    curves: curves.map((one) => ({ ...one, runs: inUnits(one.runs, unit) })),
    missing: 'neither the processes nor the stores could be asked.',
  });
}

/** Who used the processors. */
export function processorPlot(sheet: Sheet, id: string): Plot {
  const { cores } = sheet.record.machine;
  const drawn = (read: (between: Between) => number | undefined) => curve(sheet, sheet.timeline.samples, read, 'mean');
  const curves = [
    ...PARTS.map(({ style, name, cpuSeconds }) => ({
      ...{ style, name },
      runs: drawn((between) => growthPerSecond(between, cpuSeconds)),
    })),
    { style: 'machine', name: 'all of the machine', runs: drawn(machineCores) },
  ];
  const unseen = curves.filter(({ runs }) => runs.length === 0).map(({ name }) => name);
  return linePlot({
    ...{ sheet, id, text: amountText, curves, heightPx: 190 },
    title: 'Processor use, in cores',
    notes: [
      `The machine that ran k6 has ${countText(cores)} ${cores === 1 ? 'core' : 'cores'}.${unseen.length === 0 ? '' : ` Not measured: ${unseen.join(', ')}.`}`,
    ],
    missing: 'no process could be looked at.',
  });
}

function inUnits(runs: readonly Run[], unit: number): readonly Run[] {
  return runs.map((run) =>
    run.map(({ value, low, high, ...rest }) => ({ ...rest, value: value / unit, low: low / unit, high: high / unit })),
  );
}
