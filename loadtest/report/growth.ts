import type { DomainSample, ReplicaSample, Sample } from '../sample/sample.ts';
import type { Between } from './timeline.ts';

/** Parts that count for themselves: a process, a node. */
export type Counted = readonly (readonly [name: string, count: number | undefined])[];

/**
 * How much the counters of all parts grew between two samples; undefined when no part was there in both. One that began
 * anew in between has counted from 0 since.
 */
export function growth({ before, after }: Between, read: (sample: Sample) => Counted): number | undefined {
  const earlier = new Map(read(before));
  return total(
    read(after).map(([name, count]) => {
      const from = earlier.get(name);
      if (count === undefined || from === undefined) return undefined;
      return count >= from ? count - from : count;
    }),
  );
}

/** By the samples' own times: one that began before the run did is longer than what is drawn of it. */
export function growthPerSecond(between: Between, read: (sample: Sample) => Counted): number | undefined {
  const grown = growth(between, read);
  const seconds = (between.after.atMs - between.before.atMs) / 1000;
  return grown === undefined || !(seconds > 0) ? undefined : grown / seconds;
}

/** Of those that are known; undefined without any. */
export function total(some: readonly (number | undefined)[]): number | undefined {
  return some.reduce<number | undefined>((sum, one) => (one === undefined ? sum : (sum ?? 0) + one), undefined);
}

/** A level of all processes and domains together. */
export function levelOf({ replicas }: Sample, read: (domain: DomainSample) => number | undefined): number | undefined {
  return total(replicas.flatMap(({ domains }) => Object.values(domains).map(read)));
}

/** A counter of each process, over its domains. */
export function perReplica({ replicas }: Sample, read: (domain: DomainSample) => number | undefined): Counted {
  return replicas.map(({ name, domains }: ReplicaSample) => [name, total(Object.values(domains).map(read))]);
}
