import { bytesText, countText, perSecondText } from '../../src/report/format.ts';
import type { HostSample } from '../sample/host.ts';
import type { DomainSample, Sample } from '../sample/sample.ts';
import type { StoreSample } from '../sample/store.ts';
import { processorsIn } from '../stack/processors.ts';
import type { Machine, ResourceKind } from './record.ts';
import {
  growthOf,
  maxOf,
  meanOf,
  perSecond,
  replicasOf,
  type Series,
  seriesByPart,
  seriesOf,
  sumOfKnown,
} from './series.ts';
import { coresOf, machineBusyShare } from './step-figures.ts';

/** Reads from the samples of a time span how full one resource was. */
export interface Meter {
  readonly kind: ResourceKind;
  readonly name: string;
  /** Resources that are enlarged together have one cause: the permits of two domains, but not a core and the machine. */
  readonly cause: string;
  /** False for memory: it fills with time, so a line through the steps would predict nothing. */
  readonly growsWithRate: boolean;
  /** Undefined when it was not measured in that span. */
  readonly read: (window: Window) => Reading | undefined;
}

interface Window {
  readonly samples: readonly Sample[];
  readonly searchesPerSecond: number;
  readonly machine: Machine;
}

export interface Reading {
  /** 0–1 of the capacity; undefined where the capacity is not known. */
  readonly share?: number;
  readonly words: string;
}

export function metersFor(samples: readonly Sample[]): readonly Meter[] {
  const domains = new Set(samples.flatMap(({ replicas }) => replicas.flatMap((one) => Object.keys(one.domains))));
  return [
    meter(CORE, 'a core of serpcache', serpcacheCore),
    ...perStore(samples, CORE, 'a core', storeCore),
    meter(CORE, 'all cores of the machine', machineCores),
    ...Array.from(domains, (domain) =>
      meter(ENGINE, `engine permits for ${domain}`, (window) => enginePermits(window, domain), 'engine permits'),
    ),
    meter(ENGINE, 'cores of searchd', searchdCores),
    meter(CONNECTIONS, 'searches that may wait in serpcache', waiting, 'searches that may wait'),
    ...perStore(samples, CONNECTIONS, 'connections', storeConnections),
    ...perStore(samples, MEMORY, 'memory', storeMemory),
    meter(MEMORY, 'memory of the machine', machineMemory),
    meter({ kind: 'network', growsWithRate: false }, 'the network', network),
    meter({ kind: 'disk', growsWithRate: true }, 'the busiest disk', disk, 'the disk'),
    meter({ kind: 'limiter', growsWithRate: false }, 'a limiter of packets', limiter, 'a limiter'),
    meter({ kind: 'generator', growsWithRate: true }, 'processors of the generator', generator, 'the generator'),
  ];
}

type Sort = Pick<Meter, 'kind' | 'growsWithRate'>;

function meter(sort: Sort, name: string, read: Meter['read'], cause = name): Meter {
  return { ...sort, name, cause, read };
}

const CORE = { kind: 'core', growsWithRate: true } as const;
const ENGINE = { kind: 'engine', growsWithRate: true } as const;
const CONNECTIONS = { kind: 'connections', growsWithRate: true } as const;
const MEMORY = { kind: 'memory', growsWithRate: false } as const;

type NodesOf = (sample: Sample) => readonly StoreSample[];

/** One meter for each store: `goods-1` and `goods-2` are the store of goods, whose nodes are enlarged together. */
function perStore(
  samples: readonly Sample[],
  sort: Sort,
  what: string,
  read: (window: Window, nodes: NodesOf) => Reading | undefined,
): readonly Meter[] {
  const domainOf = ({ name }: StoreSample): string => name.replace(/-\d+$/, '');
  const domains = new Set(samples.flatMap(({ stores }) => stores.map(domainOf)));
  return Array.from(domains, (domain) => {
    const nodes: NodesOf = ({ stores }) => stores.filter((node) => domainOf(node) === domain);
    return meter(sort, `${what} of the store of ${domain}`, (window) => read(window, nodes), `${what} of a store`);
  });
}

function fullest<T extends { readonly share: number }>(readings: readonly T[]): T | undefined {
  return readings.toSorted((one, other) => other.share - one.share)[0];
}

/**
 * The share of its processor time. Its event loop's share covers the time since the previous scrape, and with two readers of
 * /metrics (k6 and the runner) that is only part of the time.
 */
function serpcacheCore({ samples }: Window): Reading | undefined {
  const cpu = seriesByPart(samples, replicasOf, ({ cpuSeconds }) => cpuSeconds);
  const loop = seriesByPart(samples, replicasOf, ({ loopUtilization }) => loopUtilization);
  const found = [...new Set([...cpu.keys(), ...loop.keys()])].flatMap((name) => {
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

function storeCore({ samples }: Window, nodes: NodesOf): Reading | undefined {
  const found = [...seriesByPart(samples, nodes, ({ cpuSeconds }) => cpuSeconds)].flatMap(([name, series]) => {
    const share = perSecond(series);
    return share === undefined ? [] : [{ name, share }];
  });
  const most = fullest(found);
  return most && { share: most.share, words: `${coresText(most.share)} of 1 core (${most.name})` };
}

/** Share of all cores: the system itself takes some. */
const OTHERS_SHARE = 0.1;

/** Other processes of the machine take from service and generator alike, and no other figure of the run shows it. */
function machineCores({ samples, machine }: Window): Reading | undefined {
  const share = machineBusyShare(samples);
  if (share === undefined) return undefined;
  const k6 = processCores(samples, 'k6');
  const ours = coresOf(samples, /^/);
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

/** Undefined when the process was not sampled. */
export function processCores(samples: readonly Sample[], process: string): number | undefined {
  return perSecond(seriesOf(samples, ({ processes }) => processes.find(({ name }) => name === process)?.cpuSeconds));
}

function generator({ samples, machine }: Window): Reading | undefined {
  const reading = coresReading(samples, 'k6', processorsIn(machine.generatorCpus) ?? machine.cores);
  return reading && { ...reading, words: `k6 used ${reading.words}` };
}

function searchdCores({ samples, machine }: Window): Reading | undefined {
  return coresReading(samples, 'searchd', processorsIn(machine.serviceCpus) ?? machine.cores);
}

/** @param capacity the processors on which the process is kept, or all where it is not pinned. */
function coresReading(samples: readonly Sample[], process: string, capacity: number): Reading | undefined {
  const cores = processCores(samples, process);
  return cores === undefined
    ? undefined
    : { share: cores / capacity, words: `${coresText(cores)} of ${coreCount(capacity)}` };
}

export function coresText(cores: number): string {
  return cores.toFixed(2);
}

export function coreCount(count: number): string {
  return count === 1 ? '1 core' : `${count} cores`;
}

/** Mean number of waiting calls from which the queue is never empty: then no permit ever is free. */
const QUEUE_STANDS = 1;
/** Share of the ceiling: the limit varies a little all the time. */
const LOWERED = 0.9;

/** The mean of the permits in use: with four permits, single samples find all of them in use now and then. */
function enginePermits({ samples }: Window, domain: string): Reading | undefined {
  const level = (read: (own: DomainSample) => number | undefined): Series =>
    seriesOf(samples, ({ replicas }) =>
      sumOfKnown(replicas.map(({ domains: { [domain]: own } }) => (own === undefined ? undefined : read(own)))),
    );
  const inFlight = level(({ engineInFlight }) => engineInFlight);
  const used = meanOf(inFlight);
  const ceiling = meanOf(level(({ engineCeiling }) => engineCeiling));
  if (used === undefined || ceiling === undefined || !(ceiling > 0)) return undefined;
  const queued = meanOf(level(({ engineQueued }) => engineQueued)) ?? 0;
  const limit = meanOf(level(({ engineLimit }) => engineLimit)) ?? ceiling;
  const words = [
    `${used.toFixed(1)} of ${short(ceiling)} permits, ${maxOf(inFlight) ?? 0} at most`,
    ...(limit < LOWERED * ceiling ? [`lowered to ${short(limit)} while replies were slow`] : []),
    ...(queued >= 0.05 ? [`${short(queued)} waiting`] : []),
  ];
  return { share: queued >= QUEUE_STANDS ? 1 : used / ceiling, words: words.join(', ') };
}

/** `4`, `3.5` */
function short(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** The maximum, not the mean: a search beyond the limit is refused. */
function waiting({ samples }: Window): Reading | undefined {
  const inFlight = seriesByPart(samples, replicasOf, (replica) => replica.inFlight);
  const limits = seriesByPart(samples, replicasOf, (replica) => replica.inFlightMax);
  const most = fullest(
    Array.from(inFlight, ([name, series]) => {
      const [used, limit] = [maxOf(series) ?? 0, maxOf(limits.get(name) ?? [])];
      return { used, limit, share: limit === undefined || limit <= 0 ? -1 : used / limit };
    }),
  );
  if (most === undefined || most.share < 0) return undefined;
  return { share: most.share, words: `${countText(most.used)} of ${countText(most.limit)} at most` };
}

function storeConnections({ samples }: Window, nodes: NodesOf): Reading | undefined {
  const open = seriesByPart(samples, nodes, (node) => node.connections);
  const limits = seriesByPart(samples, nodes, (node) => node.maxConnections);
  const rejected = seriesByPart(samples, nodes, (node) => node.rejectedConnections);
  const most = fullest(
    Array.from(open, ([name, series]) => {
      const [used, limit] = [maxOf(series) ?? 0, maxOf(limits.get(name) ?? []) ?? 0];
      const refused = growthOf(rejected.get(name) ?? []) ?? 0;
      return { name, used, limit, refused, share: refused > 0 ? 1 : limit > 0 ? used / limit : 0 };
    }),
  );
  if (most === undefined) return undefined;
  const { share, used, limit, name } = most;
  const refused = most.refused > 0 ? `, ${countText(most.refused)} refused` : '';
  return { share, words: `${countText(used)} of ${countText(limit)} at most${refused} (${name})` };
}

/** Only nodes with a limit. A node that evicts is full, whatever it reports. A full L1 is normal, so L1 has no meter. */
function storeMemory({ samples }: Window, nodes: NodesOf): Reading | undefined {
  const limited = (sample: Sample): readonly StoreSample[] => nodes(sample).filter(({ maxBytes }) => maxBytes > 0);
  const used = seriesByPart(samples, limited, ({ usedBytes }) => usedBytes);
  const limits = seriesByPart(samples, limited, ({ maxBytes }) => maxBytes);
  const evicted = seriesByPart(samples, limited, (node) => node.evicted);
  const most = fullest(
    Array.from(used, ([name, series]) => {
      const [bytes, limit] = [maxOf(series) ?? 0, maxOf(limits.get(name) ?? []) ?? 0];
      const own = evicted.get(name) ?? [];
      const evicts = (growthOf(own) ?? 0) > 0;
      return { name, bytes, limit, evictions: perSecond(own), evicts, share: evicts ? 1 : bytes / limit };
    }),
  );
  if (most === undefined) return undefined;
  const evictions = most.evicts ? `, ${perSecondText(most.evictions)} evicted` : '';
  return {
    share: most.share,
    words: `${bytesText(most.bytes)} of ${bytesText(most.limit)}${evictions} (${most.name})`,
  };
}

function hostSeries(samples: readonly Sample[], read: (host: HostSample) => number | undefined): Series {
  return seriesOf(samples, ({ host }) => (host === undefined ? undefined : read(host)));
}

function machineMemory({ samples }: Window): Reading | undefined {
  const used = maxOf(hostSeries(samples, (host) => host.totalBytes - host.availableBytes));
  const total = maxOf(hostSeries(samples, (host) => host.totalBytes));
  if (used === undefined || total === undefined || !(total > 0)) return undefined;
  return { share: used / total, words: `${bytesText(used)} of ${bytesText(total)}` };
}

/** Retransmitted segments per search: a few are normal on any network. */
const RESENT_SHARE = 0.01;

/** Loopback has no known capacity: it is full when something is lost. */
function network({ samples, searchesPerSecond }: Window): Reading | undefined {
  const bytes = perSecond(hostSeries(samples, (host) => host.loopbackBytes));
  if (bytes === undefined) return undefined;
  const dropped =
    (growthOf(hostSeries(samples, (host) => host.loopbackDrops)) ?? 0) +
    (growthOf(hostSeries(samples, (host) => host.listenDrops)) ?? 0);
  const resent = perSecond(hostSeries(samples, (host) => host.retransmits)) ?? 0;
  const sockets = meanOf(hostSeries(samples, (host) => host.tcpInUse));
  const words = [
    `${bytesText(bytes)}/s over loopback`,
    dropped > 0 ? `${countText(dropped)} dropped` : 'nothing dropped',
    ...(resent > 0 ? [`${perSecondText(resent)} sent again`] : []),
    ...(sockets === undefined ? [] : [`${countText(sockets)} TCP sockets`]),
  ].join(', ');
  const isFull = dropped > 0 || (searchesPerSecond > 0 && resent > RESENT_SHARE * searchesPerSecond);
  return isFull ? { share: 1, words } : { words };
}

function disk({ samples }: Window): Reading | undefined {
  const busyMs = perSecond(hostSeries(samples, (host) => host.diskBusyMs));
  const written = perSecond(hostSeries(samples, (host) => host.diskWrittenBytes));
  if (busyMs === undefined) return undefined;
  const writes = written === undefined ? '' : `, ${bytesText(written)}/s written`;
  return { share: busyMs / 1000, words: `busy ${Math.round(busyMs)} ms a second${writes}` };
}

function limiter({ samples }: Window): Reading | undefined {
  const drops = growthOf(hostSeries(samples, (host) => host.limiterDrops));
  const held = growthOf(hostSeries(samples, (host) => host.limiterOverlimits));
  if (drops === undefined || held === undefined) return undefined;
  return drops + held === 0
    ? { share: 0, words: 'nothing held back' }
    : { share: 1, words: `${countText(drops)} packets dropped, ${countText(held)} held back` };
}
