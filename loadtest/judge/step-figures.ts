import type { StepSummary } from '../k6/kit/summary.ts';
import type { DomainSample, ReplicaSample, Sample } from '../sample/sample.ts';
import type { RunRecord, StepFigures } from './record.ts';
import { holdWindow, mostOf, perSecond, samplesIn, seriesByPart, seriesOf, sumOfKnown, totalOf } from './series.ts';

/** Each step with what was sampled while its rate held. Fewer than two samples make no rate, and none makes no level. */
export function stepFigures({ summary, samples }: Pick<RunRecord, 'summary' | 'samples'>): readonly StepFigures[] {
  return summary.steps.map((step) => {
    const window = holdWindow(summary, step);
    return { summary: step, ...window, ...sent(step), ...measured(step, samplesIn(samples, window)) };
  });
}

function sent({
  searches,
  seconds,
  errorRate,
}: StepSummary): Pick<StepFigures, 'searchesPerSecond' | 'errorsPerSecond'> {
  const searchesPerSecond = seconds > 0 ? searches / seconds : 0;
  return { searchesPerSecond, errorsPerSecond: searchesPerSecond * (errorRate ?? 0) };
}

function measured(step: StepSummary, samples: readonly Sample[]): Partial<StepFigures> {
  const replicas = ({ replicas: own }: Sample): readonly ReplicaSample[] => own;
  const perReplica = (read: (replica: ReplicaSample) => number | undefined): number | undefined =>
    totalOf(seriesByPart(samples, replicas, read), perSecond);
  const cores = (isMeant: (name: string) => boolean): number | undefined =>
    totalOf(
      seriesByPart(
        samples,
        ({ processes }) => processes.filter(({ name }) => isMeant(name)),
        ({ cpuSeconds }) => cpuSeconds,
      ),
      perSecond,
    );
  const perNode = (read: (node: Sample['stores'][number]) => number): number | undefined =>
    totalOf(
      seriesByPart(samples, ({ stores }) => stores, read),
      perSecond,
    );
  // The script's own count holds more than the first and the last sample do, but where it was not asked they know.
  const counted = step.engineCalls !== undefined && step.seconds > 0 ? step.engineCalls / step.seconds : undefined;
  const engineCallsPerSecond = perReplica(overDomains(({ engineCalls }) => engineCalls)) ?? counted;
  const searchesPerSecond = step.seconds > 0 ? step.searches / step.seconds : 0;
  return known({
    engineCallsPerSecond,
    amplification:
      engineCallsPerSecond === undefined || searchesPerSecond === 0
        ? undefined
        : engineCallsPerSecond / searchesPerSecond,
    engineInFlightMax: mostOf(
      seriesOf(samples, (sample) => fleetLevel(sample, ({ engineInFlight }) => engineInFlight)),
    ),
    engineCeiling: mostOf(seriesOf(samples, (sample) => fleetLevel(sample, ({ engineCeiling }) => engineCeiling))),
    storeCommandsPerSecond:
      perNode(({ commands }) => commands) ??
      perReplica(overDomains(({ storeCommands }) => sumOfKnown(Object.values(storeCommands)))),
    storeBytes: last(samples, ({ stores }) => sumOfKnown(stores.map(({ usedBytes }) => usedBytes))),
    serviceBytes: last(samples, (sample) => sumOfKnown(sample.replicas.map(({ residentBytes }) => residentBytes))),
    evictionsPerSecond: perNode(({ evicted }) => evicted),
    serviceCores: perReplica(({ cpuSeconds }) => cpuSeconds) ?? cores((name) => /^serpcache(-\d+)?$/.test(name)),
    storeCores: perNode(({ cpuSeconds }) => cpuSeconds),
    engineCores: cores((name) => name === 'searchd'),
    generatorCores: cores((name) => name === 'k6'),
    machineBusyShare: machineBusyShare(samples),
  });
}

/** Of what this machine was given: time that other guests took was never there. */
export function machineBusyShare(samples: readonly Sample[]): number | undefined {
  const busy = perSecond(seriesOf(samples, ({ host }) => host?.busySeconds));
  const idle = perSecond(seriesOf(samples, ({ host }) => host?.idleSeconds));
  return busy === undefined || idle === undefined || !(busy + idle > 0) ? undefined : busy / (busy + idle);
}

/** All processes and domains together. */
function fleetLevel({ replicas }: Sample, read: (domain: DomainSample) => number | undefined): number | undefined {
  return sumOfKnown(replicas.map(overDomains(read)));
}

function overDomains(read: (domain: DomainSample) => number | undefined) {
  return ({ domains }: ReplicaSample): number | undefined => sumOfKnown(Object.values(domains).map(read));
}

function last(samples: readonly Sample[], read: (sample: Sample) => number | undefined): number | undefined {
  return seriesOf(samples, read).at(-1)?.value;
}

type Known<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

function known<T extends Readonly<Record<string, number | undefined>>>(values: T): Known<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Known<T>;
}
