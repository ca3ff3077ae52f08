import { amountText, bytesText, countText, perSecondText } from '../../src/report/format.ts';
import { atFloor, highest, type PointRun } from '../../src/report/plot/curve.ts';
import type { Panel } from '../../src/report/plot/panel.ts';
import { overDomains, replicasOf, sumOfKnown, totalPerSecond } from '../judge/series.ts';
import { machineBusyShare } from '../judge/step-figures.ts';
import type { DomainSample, ReplicaSample, Sample } from '../sample/sample.ts';
import type { StoreSample } from '../sample/store.ts';
import { curveOver, linePlot, type PlotContext } from './plot.ts';
import type { SamplePair } from './timeline.ts';

const MISSING = 'no admin address was given, or it answered nothing.';

/** The growth of a counter a second, over all parts. The rate is that of the whole pair, also if only a part is drawn. */
function rateCurve<T extends { readonly name: string }>(
  context: PlotContext,
  partsOf: (sample: Sample) => readonly T[],
  read: (part: T) => number | undefined,
): readonly PointRun[] {
  return curveOver(context, context.timeline.samples, (pair) => totalPerSecond(pair, partsOf, read), 'mean');
}

export function engineRatePlot(context: PlotContext, id: string): Panel {
  const rate = (read: (domain: DomainSample) => number) => rateCurve(context, replicasOf, overDomains(read));
  const failures = rate(({ engineFailures }) => engineFailures);
  return linePlot(context, {
    id,
    tickText: perSecondText,
    title: 'Engine calls, per second',
    series: [
      { style: 'engine', name: 'calls', runs: rate(({ engineCalls }) => engineCalls), isTinted: true },
      { style: 'failed', name: 'failed', runs: highest(failures) > 0 ? failures : [], isTinted: true },
    ],
    missing: MISSING,
  });
}

export function enginePermitsPlot(context: PlotContext, id: string): Panel {
  const level = (read: (domain: DomainSample) => number | undefined, combine: 'worst' | 'middle') => {
    const total = ([, after]: SamplePair) => sumOfKnown(after.replicas.map(overDomains(read)));
    return curveOver(context, context.timeline.samples, total, combine);
  };
  const queued = level(({ engineQueued }) => engineQueued, 'worst');
  const open = level(({ breaker }) => (breaker === 2 ? 1 : undefined), 'worst');
  const inFlight = level(({ engineInFlight }) => engineInFlight, 'worst');
  const fullest = fullestDomain(context);
  return linePlot(context, {
    id,
    tickText: countText,
    isWhole: true,
    heightPx: 130,
    title: 'Engine calls in flight, of all processes and domains',
    series: [
      { style: 'engine', name: 'in flight', runs: inFlight, isTinted: true },
      { style: 'queued', name: 'waiting', runs: highest(queued) > 0 ? queued : [] },
      { style: 'limit', name: 'limit at that time', runs: level(({ engineLimit }) => engineLimit, 'middle') },
      { style: 'ceiling', name: 'ceiling', runs: level(({ engineCeiling }) => engineCeiling, 'middle') },
      { style: 'open', name: 'a breaker open', runs: atFloor(open), figure: '' },
    ],
    notes: [
      `Seen about once a second: peaks in between are not in it.${fullest === undefined ? '' : ` Fullest domain: ${fullest}.`}`,
    ],
    missing: MISSING,
  });
}

/** The domain with the highest share of its own ceiling, which the sum of all domains does not show. */
function fullestDomain({ record }: PlotContext): string | undefined {
  const all = record.samples.flatMap(({ replicas }) => {
    const domains = new Set(replicas.flatMap((replica) => Object.keys(replica.domains)));
    return Array.from(domains, (domain) => {
      const own = replicas.map((replica) => replica.domains[domain]);
      const inFlight = sumOfKnown(own.map((one) => one?.engineInFlight)) ?? 0;
      const ceiling = sumOfKnown(own.map((one) => one?.engineCeiling)) ?? 0;
      return { domain, inFlight, ceiling, share: inFlight / ceiling };
    });
  });
  const [fullest] = all.filter(({ ceiling }) => ceiling > 0).toSorted((one, other) => other.share - one.share);
  return fullest && `${fullest.domain}, ${countText(fullest.inFlight)} of ${countText(fullest.ceiling)} permits`;
}

/** Outcomes of store commands that were not answered in time. */
const UNANSWERED = ['refused', 'node-open', 'store-down', 'store-saturated', 'store-slow'];

/** Store commands, as the processes and as the nodes count them. */
export function storePlot(context: PlotContext, id: string): Panel {
  const ofReplicas = (count: (commands: DomainSample['storeCommands']) => number | undefined) =>
    rateCurve(
      context,
      replicasOf,
      overDomains(({ storeCommands }) => count(storeCommands)),
    );
  const ofNodes = (read: (node: StoreSample) => number) => rateCurve(context, ({ stores }) => stores, read);
  const asked = ofReplicas((commands) => sumOfKnown(Object.values(commands)));
  const failed = ofReplicas((commands) => sumOfKnown(UNANSWERED.map((outcome) => commands[outcome] ?? 0)));
  const evicted = ofNodes((node) => node.evicted);
  return linePlot(context, {
    id,
    tickText: perSecondText,
    title: 'Store commands, per second',
    series: [
      {
        style: 'nodes',
        name: 'at the nodes, all commands',
        runs: ofNodes(({ commands }) => commands),
        isTinted: true,
      },
      { style: 'store', name: 'of the service, as it counts them', runs: asked, isTinted: true },
      { style: 'failed', name: 'of those without an answer', runs: highest(failed) > 0 ? failed : [], isTinted: true },
      { style: 'dropped', name: 'keys evicted', runs: highest(evicted) > 0 ? evicted : [] },
    ],
    missing: 'neither the processes nor the nodes could be asked.',
  });
}

const SERVICE = /^serpcache/;

export function memoryPlot(context: PlotContext, id: string): Panel {
  const level = (read: (sample: Sample) => readonly (number | undefined)[]) =>
    curveOver(context, context.timeline.samples, ([, after]) => sumOfKnown(read(after)), 'worst');
  const curves = [
    { style: 'service', name: 'service, resident', runs: level(serviceBytes) },
    { style: 'hits', name: 'of which L1', runs: level(({ replicas }) => replicas.map((one) => one.memoryBytes)) },
    { style: 'stores', name: 'stores, their data', runs: level(({ stores }) => stores.map((one) => one.usedBytes)) },
  ];
  // In powers of 1,024 the ticks are round.
  const unit = 1024 ** Math.max(0, Math.floor(Math.log2(highest(...curves.map(({ runs }) => runs))) / 10));
  return linePlot(context, {
    id,
    tickText: (units: number) => bytesText(units * unit),
    title: 'Memory',
    series: curves.map((one) => ({ ...one, runs: inUnits(one.runs, unit) })),
    missing: 'neither the processes nor the stores could be asked.',
  });
}

/** The memory of each process of serpcache, from its /metrics or else from /proc. */
function serviceBytes({ replicas, processes }: Sample): readonly (number | undefined)[] {
  const own = replicas.map(({ residentBytes }) => residentBytes);
  if (own.some((bytes) => bytes !== undefined)) return own;
  return processes.filter(({ name }) => SERVICE.test(name)).map(({ residentBytes }) => residentBytes);
}

function inUnits(runs: readonly PointRun[], unit: number): readonly PointRun[] {
  return runs.map((run) =>
    run.map(({ value, low, high, ...rest }) => ({ ...rest, value: value / unit, low: low / unit, high: high / unit })),
  );
}

type WithCpu = Pick<ReplicaSample, 'name' | 'cpuSeconds'>;

export function processorPlot(context: PlotContext, id: string): Panel {
  const { cores } = context.record.machine;
  const processes = (names: RegExp) => (sample: Sample) => sample.processes.filter(({ name }) => names.test(name));
  const service = (sample: Sample): readonly WithCpu[] => {
    const own = processes(SERVICE)(sample);
    return own.length > 0 ? own : sample.replicas;
  };
  const used = (partsOf: (sample: Sample) => readonly WithCpu[]) =>
    rateCurve(context, partsOf, ({ cpuSeconds }) => cpuSeconds);
  const curves = [
    { style: 'service', name: 'service', runs: used(service) },
    { style: 'stores', name: 'stores', runs: used(({ stores }) => stores) },
    { style: 'engine', name: 'engine', runs: used(processes(/^searchd/)) },
    { style: 'generator', name: 'generator', runs: used(processes(/^k6/)) },
    {
      style: 'machine',
      name: 'all of the machine',
      runs: curveOver(context, context.timeline.samples, machineCores, 'mean'),
    },
  ];
  const unseen = curves.filter(({ runs }) => runs.length === 0).map(({ name }) => name);
  return linePlot(context, {
    id,
    tickText: amountText,
    series: curves,
    heightPx: 190,
    title: 'Processor use, in cores',
    notes: [
      `The machine that ran k6 has ${countText(cores)} ${cores === 1 ? 'core' : 'cores'}.${unseen.length === 0 ? '' : ` Not measured: ${unseen.join(', ')}.`}`,
    ],
    missing: 'no process could be looked at.',
  });
}

/** From the busy and idle time, not from the clock: the time of a sample is that of its last answer. */
function machineCores(pair: SamplePair): number | undefined {
  const share = machineBusyShare(pair);
  const cores = pair[1].host?.cores;
  return share === undefined || cores === undefined ? undefined : cores * share;
}
