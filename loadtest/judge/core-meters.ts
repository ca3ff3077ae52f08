import type { ReplicaSample, Sample } from '../sample/sample.ts';
import { processorsIn } from '../stack/processors.ts';
import { fullest, type Look, type Meter, type Reading } from './meter.ts';
import { meanOf, perSecond, seriesByPart, seriesOf, totalOf } from './part-series.ts';
import { machineBusyShare } from './step-figures.ts';
import { storeDomainOf, storeDomains } from './store-domains.ts';

/** Of each process that has one thread for its work, the busiest; and of the machine. */
export function coreMeters(samples: readonly Sample[]): readonly Meter[] {
  return [
    { ...CORE, name: 'a core of serpcache', cause: 'a core of serpcache', read: serpcacheCore },
    ...storeDomains(samples).map(
      (domain): Meter => ({
        ...CORE,
        name: `a core of the store of ${domain}`,
        cause: 'a core of a store',
        read: (look) => storeCore(look, domain),
      }),
    ),
    { ...CORE, name: 'all cores of the machine', cause: 'all cores of the machine', read: machineCores },
  ];
}

/** Of all cores: the system itself takes some. */
const OTHERS_SHARE = 0.1;

const CORE = { kind: 'core', growsWithRate: true } as const;

/**
 * Its processor time: its event loop's share is counted from one look at /metrics to the next, and with two who look
 * (k6 and the runner) it is that of some moments.
 */
function serpcacheCore({ samples }: Look): Reading | undefined {
  const replicas = ({ replicas: own }: Sample): readonly ReplicaSample[] => own;
  const cpu = seriesByPart(samples, replicas, ({ cpuSeconds }) => cpuSeconds);
  const loop = seriesByPart(samples, replicas, ({ loopUtilization }) => loopUtilization);
  const names = [...new Set([...cpu.keys(), ...loop.keys()])];
  const found = names.flatMap((name) => {
    const cores = perSecond(cpu.get(name) ?? []);
    const busy = meanOf(loop.get(name) ?? []);
    const share = cores ?? busy;
    return share === undefined ? [] : [{ share, cores, busy }];
  });
  const most = fullest(found);
  if (most === undefined) return undefined;
  const words = [
    ...(most.cores === undefined ? [] : [`${coresText(most.cores)} of 1 core`]),
    ...(most.busy === undefined ? [] : [`event loop ${Math.round(most.busy * 100)} % busy`]),
  ].join(', ');
  return { share: most.share, words: found.length > 1 ? `${words} (the busiest of ${found.length} processes)` : words };
}

function storeCore({ samples }: Look, domain: string): Reading | undefined {
  const nodes = seriesByPart(
    samples,
    ({ stores }) => stores.filter(({ name }) => storeDomainOf(name) === domain),
    ({ cpuSeconds }) => cpuSeconds,
  );
  const found = Array.from(nodes, ([name, series]) => ({ name, share: perSecond(series) }));
  const most = fullest(found.flatMap(({ name, share }) => (share === undefined ? [] : [{ name, share }])));
  return most === undefined
    ? undefined
    : { share: most.share, words: `${coresText(most.share)} of 1 core (${most.name})` };
}

/** Whoever else runs there takes from service and generator alike, and no figure of the run says so but this one. */
function machineCores({ samples, machine }: Look): Reading | undefined {
  const share = machineBusyShare(samples);
  if (share === undefined) return undefined;
  const k6 = generatorCores(samples);
  const ours = totalOf(
    seriesByPart(
      samples,
      ({ processes }) => processes,
      ({ cpuSeconds }) => cpuSeconds,
    ),
    perSecond,
  );
  const others = share * machine.cores - (ours ?? 0);
  const words = [
    `${coresText(share * machine.cores)} of ${coreCount(machine.cores)}`,
    ...(k6 === undefined ? [] : [`${coresText(k6)} of them the generator's`]),
    ...(ours === undefined || others < OTHERS_SHARE * machine.cores
      ? []
      : [`${coresText(others)} used by what is no part of the run`]),
  ];
  return { share, words: words.join(', ') };
}

/** What k6 used; undefined when it was not sampled. */
export function generatorCores(samples: readonly Sample[]): number | undefined {
  return processCores(samples, 'k6');
}

export function processCores(samples: readonly Sample[], process: string): number | undefined {
  return perSecond(seriesOf(samples, ({ processes }) => processes.find(({ name }) => name === process)?.cpuSeconds));
}

/** The generator's, against the processors it is kept on; against all where it is free to run anywhere. */
export const generatorMeter: Meter = {
  kind: 'generator',
  name: 'processors of the generator',
  cause: 'the generator',
  growsWithRate: true,
  read: ({ samples, machine }) => {
    const cores = generatorCores(samples);
    const capacity = processorsIn(machine.generatorCpus) ?? machine.cores;
    return cores === undefined
      ? undefined
      : { share: cores / capacity, words: `k6 used ${coresText(cores)} of ${coreCount(capacity)}` };
  },
};

export function coresText(cores: number): string {
  return cores.toFixed(2);
}

export function coreCount(count: number): string {
  return count === 1 ? '1 core' : `${count} cores`;
}
