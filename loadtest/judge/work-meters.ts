import { percentText } from '../../src/report/format.ts';
import { beyondKnee } from '../k6/kit/spoiled.ts';
import type { Verdict } from '../k6/kit/summary.ts';
import type { DomainSample, ReplicaSample, Sample } from '../sample/sample.ts';
import { processorsIn } from '../stack/processors.ts';
import type { Machine, ResourceKind, ResourceUse, RunRecord } from './record.ts';
import {
  holdWindow,
  meanOf,
  mostOf,
  perSecond,
  samplesIn,
  seriesByPart,
  seriesOf,
  storeDomainOf,
  storeDomains,
  sumOfKnown,
  totalOf,
} from './series.ts';
import { machineBusyShare } from './step-figures.ts';

/** How one thing that can be full is read off the samples of a stretch. */
export interface Meter {
  readonly kind: ResourceKind;
  readonly name: string;
  /** What is widened at once has one cause: the places of two domains, but not a core and the machine. */
  readonly cause: string;
  /** Memory fills with time, not with the rate: a line through steps would foretell nothing. */
  readonly growsWithRate: boolean;
  /** Undefined when it could not be measured in that stretch. */
  readonly read: (look: Look) => Reading | undefined;
}

export interface Look {
  /** Of one stretch, in their order. */
  readonly samples: readonly Sample[];
  readonly searchesPerSecond: number;
  readonly machine: Machine;
}

export interface Reading {
  /** 0–1 of what there is; undefined where nobody knows how much there is. */
  readonly share?: number;
  readonly words: string;
}

/** Which one it is needs its cause as well. */
export interface CausedUse extends ResourceUse {
  readonly cause: string;
}

/** The one that is fullest. */
export function fullest<T extends { readonly share: number }>(readings: readonly T[]): T | undefined {
  return readings.reduce<T | undefined>(
    (most, one) => (most === undefined || one.share > most.share ? one : most),
    undefined,
  );
}

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

/** Places at the engine, which serpcache itself keeps few, by domain; and what searchd computes with. */
export function engineMeters(samples: readonly Sample[]): readonly Meter[] {
  const domains = new Set(
    samples.flatMap(({ replicas }) => replicas.flatMap((replica) => Object.keys(replica.domains))),
  );
  return [
    ...Array.from(
      domains,
      (domain): Meter => ({
        ...ENGINE,
        name: `places at the engine for ${domain}`,
        cause: 'places at the engine',
        read: (look) => places(look, domain),
      }),
    ),
    { ...ENGINE, name: 'cores of searchd', cause: 'cores of searchd', read: searchdCores },
  ];
}

const ENGINE = { kind: 'engine', growsWithRate: true } as const;
/** Waiting on average: a queue that is never empty means that no place ever is. */
const QUEUE_STANDS = 1;

/** Of the ceiling: the limit breathes a little whatever happens. */
const LOWERED = 0.9;

/** The mean of what is in use: with four places, a single sample finds them all taken now and then. */
function places({ samples }: Look, domain: string): Reading | undefined {
  const level = (read: (own: DomainSample) => number | undefined) =>
    seriesOf(samples, ({ replicas }) =>
      sumOfKnown(
        replicas.map(({ domains }) => {
          const own = domains[domain];
          return own === undefined ? undefined : read(own);
        }),
      ),
    );
  const inFlight = level(({ engineInFlight }) => engineInFlight);
  const used = meanOf(inFlight);
  const ceiling = meanOf(level(({ engineCeiling }) => engineCeiling));
  if (used === undefined || ceiling === undefined || !(ceiling > 0)) return undefined;
  const queued = meanOf(level(({ engineQueued }) => engineQueued)) ?? 0;
  const limit = meanOf(level(({ engineLimit }) => engineLimit)) ?? ceiling;
  const words = [
    `${used.toFixed(1)} of ${short(ceiling)} places, ${mostOf(inFlight) ?? 0} at most`,
    ...(limit < LOWERED * ceiling ? [`lowered to ${short(limit)} while replies were slow`] : []),
    ...(queued >= 0.05 ? [`${short(queued)} waiting`] : []),
  ];
  return { share: queued >= QUEUE_STANDS ? 1 : used / ceiling, words: words.join(', ') };
}

function searchdCores({ samples, machine }: Look): Reading | undefined {
  const cores = processCores(samples, 'searchd');
  const capacity = processorsIn(machine.serviceCpus) ?? machine.cores;
  return cores === undefined
    ? undefined
    : { share: cores / capacity, words: `${coresText(cores)} of ${coreCount(capacity)}` };
}

/** `4`, `3.5` */
function short(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** One look may fall between a process that joined and the others that have not heard of it. */
const LOOKS = 2;

/** A sentence for each domain of each process that held more places at its engine than it may, twice in a row. */
export function overLimit(samples: readonly Sample[]): readonly string[] {
  const found = new Map<string, string>();
  const inRow = new Map<string, number>();
  for (const { replicas } of samples) {
    for (const { name, domains } of replicas) {
      for (const [domain, { engineInFlight: held = 0, engineCeiling: ceiling }] of Object.entries(domains)) {
        const key = `${name} ${domain}`;
        const times = ceiling !== undefined && held > ceiling ? (inRow.get(key) ?? 0) + 1 : 0;
        inRow.set(key, times);
        if (times >= LOOKS)
          found.set(key, `${name} held ${held} places at the engine of ${domain}, ${ceiling} are allowed`);
      }
    }
  }
  return [...found.values()];
}

/** Whoever asks the engine for more than it may has failed, however well everybody was answered. */
export function withinLimit(verdict: Verdict, samples: readonly Sample[]): Verdict {
  const faults = overLimit(samples);
  if (faults.length === 0 || verdict.kind === 'invalid') return verdict;
  const earlier = verdict.kind === 'failed' ? [verdict.detail] : [];
  return { ...verdict, kind: 'failed', detail: [...earlier, `${faults.join('; ')}.`].join(' ') };
}

/** What is known of a run before anybody has judged it. */
export type Ran = Pick<RunRecord, 'summary' | 'samples' | 'machine'>;

/** Of its processors, over a whole step: above this, requests begin late and answers are timed late. */
const SATURATED = 0.9;
/** The same for a short while, which a step's mean hides. */
const FULL = 0.97;
const FULL_SAMPLES = 3;

/** The script's own verdict, and what only somebody beside k6 can see: that it had no processor time left. */
export function finalVerdict(verdict: Verdict, ran: Ran): Verdict {
  const saturated = generatorReasons(ran);
  if (saturated.length === 0) return verdict;
  const earlier = verdict.kind === 'invalid' ? verdict.reasons : [];
  const detail = verdict.kind === 'invalid' ? verdict.detail : 'This run says nothing about the service.';
  return { kind: 'invalid', detail, reasons: [...earlier, ...saturated] };
}

/**
 * A sentence for each judged step in which k6 was short of processor time. Rungs above the first that broke are not
 * judged. Empty as well when k6 was not sampled: then nobody knows.
 */
export function generatorReasons({ summary, samples, machine }: Ran): readonly string[] {
  const capacity = processorsIn(machine.generatorCpus) ?? machine.cores;
  const beyond = beyondKnee(summary.steps);
  const judged = summary.steps.filter((one) => one.step.limits !== undefined && !beyond.includes(one));
  return judged.flatMap((one) => {
    const own = samplesIn(samples, holdWindow(summary, one));
    const cores = generatorCores(own);
    if (cores === undefined) return [];
    const used = `${coresText(cores)} of its ${coreCount(capacity)}`;
    if (cores >= SATURATED * capacity) {
      return [`k6 used ${used} (${percentText(cores / capacity)}) in ${one.step.name}: the generator was full`];
    }
    const busy = machineBusyShare(own) ?? 0;
    if (machine.generatorCpus === undefined && busy >= FULL) {
      const words = `the machine had no processor time left in ${one.step.name} (${percentText(busy)} busy)`;
      return [`${words}, and k6 used ${used}: nobody can tell how late it was`];
    }
    const full = longestFull(own, capacity);
    return full < FULL_SAMPLES
      ? []
      : [`k6 had no processor time left for ${full} s on end in ${one.step.name} (${used} over the step)`];
  });
}

/** So many samples on end in which nearly everything was used. */
function longestFull(samples: readonly Sample[], capacity: number): number {
  let [longest, current] = [0, 0];
  for (let at = 1; at < samples.length; at += 1) {
    const cores = generatorCores(samples.slice(at - 1, at + 1));
    current = cores !== undefined && cores >= FULL * capacity ? current + 1 : 0;
    longest = Math.max(longest, current);
  }
  return longest;
}
