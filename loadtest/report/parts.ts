import type { Sample } from '../sample/sample.ts';
import type { Counted } from './growth.ts';
import type { Between } from './timeline.ts';

/** What takes part in a run and uses processor time of its own. */
export interface Part {
  readonly style: string;
  readonly name: string;
  /** Seconds of processor time of each of its processes. */
  readonly cpuSeconds: (sample: Sample) => Counted;
}

const ENGINE = /^searchd/;
const GENERATOR = /^k6/;
const SERVICE = /^serpcache/;

export const PARTS: readonly Part[] = [
  { style: 'service', name: 'service', cpuSeconds: serviceSeconds },
  { style: 'stores', name: 'stores', cpuSeconds: ({ stores }) => stores.map((node) => [node.name, node.cpuSeconds]) },
  { style: 'engine', name: 'engine', cpuSeconds: (sample) => processSeconds(sample, ENGINE) },
  { style: 'generator', name: 'generator', cpuSeconds: (sample) => processSeconds(sample, GENERATOR) },
];

/** Against what was idle, not against the clock: a sample's time is when all its answers were there. */
export function machineCores({ before, after }: Between): number | undefined {
  if (before.host === undefined || after.host === undefined) return undefined;
  const busy = after.host.busySeconds - before.host.busySeconds;
  const idle = after.host.idleSeconds - before.host.idleSeconds;
  return busy + idle > 0 ? (after.host.cores * busy) / (busy + idle) : undefined;
}

/** Of all processes of serpcache, as they say themselves or as the machine does. */
export function serviceBytes({ replicas, processes }: Sample): readonly (number | undefined)[] {
  const own = replicas.map(({ residentBytes }) => residentBytes);
  if (own.some((bytes) => bytes !== undefined)) return own;
  return processes.filter(({ name }) => SERVICE.test(name)).map(({ residentBytes }) => residentBytes);
}

function serviceSeconds(sample: Sample): Counted {
  const own = processSeconds(sample, SERVICE);
  return own.length > 0 ? own : sample.replicas.map(({ name, cpuSeconds }) => [name, cpuSeconds]);
}

function processSeconds({ processes }: Sample, names: RegExp): Counted {
  return processes.filter(({ name }) => names.test(name)).map(({ name, cpuSeconds }) => [name, cpuSeconds]);
}
