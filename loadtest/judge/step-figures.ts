import type { StepSummary } from '../k6/kit/summary.ts';
import type { DomainSample, ReplicaSample, Sample } from '../sample/sample.ts';
import type { RunRecord } from './record.ts';
import {
  holdWindow,
  maxOf,
  overDomains,
  perSecond,
  samplesIn,
  seriesOf,
  sumOfKnown,
  totalPerSecond,
} from './series.ts';

/** A step with the load of the parts while its rate held. Shares are 0–1; cores are those in use. */
export type StepFigures = ReturnType<typeof stepFigures>[number];

/** Each step with the samples from the time in which its rate held. A rate needs two samples, a level one. */
export function stepFigures({ summary, samples }: Pick<RunRecord, 'summary' | 'samples'>) {
  return summary.steps.map((step) => {
    const window = holdWindow(summary, step);
    const searchesPerSecond = step.seconds > 0 ? step.searches / step.seconds : 0;
    return {
      summary: step,
      ...window,
      searchesPerSecond,
      ...measured(step, searchesPerSecond, samplesIn(samples, window)),
    };
  });
}

function measured(step: StepSummary, searchesPerSecond: number, samples: readonly Sample[]) {
  const perReplica = (read: (replica: ReplicaSample) => number | undefined): number | undefined =>
    totalPerSecond(samples, ({ replicas }) => replicas, read);
  const perNode = (read: (node: Sample['stores'][number]) => number): number | undefined =>
    totalPerSecond(samples, ({ stores }) => stores, read);
  const last = (read: (sample: Sample) => number | undefined): number | undefined =>
    seriesOf(samples, read).at(-1)?.value;
  const maxLevel = (read: (domain: DomainSample) => number | undefined): number | undefined =>
    maxOf(seriesOf(samples, ({ replicas }) => sumOfKnown(replicas.map(overDomains(read)))));
  // Only used without samples.
  const counted = step.engineCalls !== undefined && step.seconds > 0 ? step.engineCalls / step.seconds : undefined;
  const engineCallsPerSecond = perReplica(overDomains(({ engineCalls }) => engineCalls)) ?? counted;
  const hasRate = engineCallsPerSecond !== undefined && searchesPerSecond > 0;
  return {
    engineCallsPerSecond,
    // Engine calls ÷ searches.
    amplification: hasRate ? engineCallsPerSecond / searchesPerSecond : undefined,
    engineInFlightMax: maxLevel(({ engineInFlight }) => engineInFlight),
    engineCeiling: maxLevel(({ engineCeiling }) => engineCeiling),
    storeCommandsPerSecond:
      perNode(({ commands }) => commands) ??
      perReplica(overDomains(({ storeCommands }) => sumOfKnown(Object.values(storeCommands)))),
    storeBytes: last(({ stores }) => sumOfKnown(stores.map(({ usedBytes }) => usedBytes))),
    serviceBytes: last(({ replicas }) => sumOfKnown(replicas.map(({ residentBytes }) => residentBytes))),
    serviceCores: perReplica(({ cpuSeconds }) => cpuSeconds) ?? coresOf(samples, /^serpcache(-\d+)?$/),
    storeCores: perNode(({ cpuSeconds }) => cpuSeconds),
    engineCores: coresOf(samples, /^searchd$/),
    generatorCores: coresOf(samples, /^k6$/),
    machineBusyShare: machineBusyShare(samples),
  };
}

/** All processes with such a name together. */
export function coresOf(samples: readonly Sample[], names: RegExp): number | undefined {
  const partsOf = ({ processes }: Sample) => processes.filter(({ name }) => names.test(name));
  return totalPerSecond(samples, partsOf, ({ cpuSeconds }) => cpuSeconds);
}

/** A share of the time that this machine had: without the time that other guests of the hardware took. */
export function machineBusyShare(samples: readonly Sample[]): number | undefined {
  const busy = perSecond(seriesOf(samples, ({ host }) => host?.busySeconds));
  const idle = perSecond(seriesOf(samples, ({ host }) => host?.idleSeconds));
  return busy === undefined || idle === undefined || !(busy + idle > 0) ? undefined : busy / (busy + idle);
}
