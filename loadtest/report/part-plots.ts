import { amountText, bytesText, countText, perSecondText } from '../../src/report/format.ts';
import type { Run } from '../../src/report/plot/series.ts';
import type { DomainSample, Sample } from '../sample/sample.ts';
import { curve, highest, linePlot, type Plot, type Sheet } from './plot.ts';
import {
  type Between,
  type Counted,
  growthPerSecond,
  levelOf,
  machineCores,
  PARTS,
  perReplica,
  serviceBytes,
  total,
} from './timeline.ts';

const MISSING = 'no admin address was given, or it answered nothing.';

export function engineRatePlot(sheet: Sheet, id: string): Plot {
  const { samples } = sheet.timeline;
  const rate = (read: (domain: DomainSample) => number) =>
    curve(sheet, samples, (between) => growthPerSecond(between, (sample) => perReplica(sample, read)), 'mean');
  const failures = rate(({ engineFailures }) => engineFailures);
  return linePlot({
    ...{ sheet, id, text: perSecondText },
    title: 'Engine calls, per second',
    curves: [
      { style: 'engine', name: 'calls', runs: rate(({ engineCalls }) => engineCalls), hasSpread: true },
      { style: 'failed', name: 'failed', runs: highest(failures) > 0 ? failures : [], hasSpread: true },
    ],
    missing: MISSING,
  });
}

/** How much of the engine was taken, of what it may be asked at once. */
export function enginePlacesPlot(sheet: Sheet, id: string): Plot {
  const { samples } = sheet.timeline;
  const level = (read: (domain: DomainSample) => number | undefined, combine: 'worst' | 'middle') =>
    curve(sheet, samples, ({ after }) => levelOf(after, read), combine);
  const queued = level(({ engineQueued }) => engineQueued, 'worst');
  const open = level(({ breaker }) => (breaker === 2 ? 1 : undefined), 'worst');
  const fullest = fullestDomain(sheet);
  return linePlot({
    ...{ sheet, id, text: countText, isWhole: true, heightPx: 130 },
    title: 'Engine calls in flight, of all processes and domains',
    curves: [
      { style: 'open', name: 'a breaker open', runs: atFloor(open), figure: '' },
      { style: 'ceiling', name: 'ceiling', runs: level(({ engineCeiling }) => engineCeiling, 'middle') },
      { style: 'limit', name: 'limit at that time', runs: level(({ engineLimit }) => engineLimit, 'middle') },
      { style: 'queued', name: 'waiting', runs: highest(queued) > 0 ? queued : [] },
      {
        style: 'engine',
        name: 'in flight',
        runs: level(({ engineInFlight }) => engineInFlight, 'worst'),
        hasSpread: true,
      },
    ],
    notes: [
      `Seen about once a second: peaks in between are not in it.${fullest === undefined ? '' : ` Fullest domain: ${fullest}.`}`,
    ],
    missing: MISSING,
  });
}

/** A broad bar along the floor, so that it hides nothing. */
function atFloor(runs: ReturnType<typeof curve>): ReturnType<typeof curve> {
  return runs.map((run) => run.map((point) => ({ ...point, value: 0 })));
}

/** The domain that came nearest to its own ceiling, or furthest above it: sums of all would hide that. */
function fullestDomain({ record }: Sheet): string | undefined {
  let fullest: { readonly share: number; readonly words: string } | undefined;
  for (const { replicas } of record.samples) {
    for (const domain of new Set(replicas.flatMap(({ domains }) => Object.keys(domains)))) {
      const own = replicas.map(({ domains }) => domains[domain]);
      const inFlight = total(own.map((one) => one?.engineInFlight));
      const ceiling = total(own.map((one) => one?.engineCeiling));
      if (inFlight === undefined || ceiling === undefined || ceiling <= 0) continue;
      const share = inFlight / ceiling;
      if (fullest !== undefined && share <= fullest.share) continue;
      fullest = { share, words: `${domain}, ${countText(inFlight)} of ${countText(ceiling)} places` };
    }
  }
  return fullest?.words;
}

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

/** How a command ends that was not answered in time, as the service counts it. */
const UNANSWERED = ['refused', 'node-open', 'store-down', 'store-saturated', 'store-slow'];

/** What the stores were asked: by the processes as they count it, and by the nodes as they do. */
export function storePlot(sheet: Sheet, id: string): Plot {
  const rate = (read: (sample: Sample) => Counted) =>
    curve(sheet, sheet.timeline.samples, (between) => growthPerSecond(between, read), 'mean');
  const asked = rate((sample) => perReplica(sample, ({ storeCommands }) => total(Object.values(storeCommands))));
  const failed = rate((sample) =>
    perReplica(sample, ({ storeCommands }) => total(UNANSWERED.map((ended) => storeCommands[ended] ?? 0))),
  );
  const evicted = rate(({ stores }) => stores.map((node) => [node.name, node.evicted]));
  return linePlot({
    ...{ sheet, id, text: perSecondText },
    title: 'Store commands, per second',
    curves: [
      {
        style: 'nodes',
        name: 'at the nodes, all commands',
        runs: rate(({ stores }) => stores.map((node) => [node.name, node.commands])),
        hasSpread: true,
      },
      { style: 'store', name: 'of the service, as it counts them', runs: asked, hasSpread: true },
      { style: 'failed', name: 'of those without an answer', runs: highest(failed) > 0 ? failed : [], hasSpread: true },
      { style: 'dropped', name: 'keys evicted', runs: highest(evicted) > 0 ? evicted : [] },
    ],
    missing: 'neither the processes nor the nodes could be asked.',
  });
}
