import { bytesText, countText, perSecondText } from '../../src/report/format.ts';
import type { HostSample, Sample, StoreSample } from '../sample/sample.ts';
import { growthOf, meanOf, mostOf, perSecond, seriesByPart, seriesOf, storeDomainOf, storeDomains } from './series.ts';
import { fullest, type Look, type Meter, type Reading } from './work-meters.ts';

/** Connections a store takes, and searches a process lets wait. At the most: who comes after that is turned away. */
export function connectionMeters(samples: readonly Sample[]): readonly Meter[] {
  return [
    { ...CONNECTIONS, name: 'searches that may wait in serpcache', cause: 'searches that may wait', read: waiting },
    ...storeDomains(samples).map(
      (domain): Meter => ({
        ...CONNECTIONS,
        name: `connections of the store of ${domain}`,
        cause: 'connections of a store',
        read: (look) => connections(look, domain),
      }),
    ),
  ];
}

const CONNECTIONS = { kind: 'connections', growsWithRate: true } as const;

function waiting({ samples }: Look): Reading | undefined {
  const inFlight = seriesByPart(
    samples,
    ({ replicas }) => replicas,
    (replica) => replica.inFlight,
  );
  const allowed = seriesByPart(
    samples,
    ({ replicas }) => replicas,
    (replica) => replica.inFlightMax,
  );
  const most = fullest(
    Array.from(inFlight, ([name, series]) => {
      const [used, bound] = [mostOf(series) ?? 0, mostOf(allowed.get(name) ?? [])];
      return { used, bound, share: bound === undefined || bound <= 0 ? -1 : used / bound };
    }),
  );
  if (most === undefined || most.share < 0) return undefined;
  return { share: most.share, words: `${countText(most.used)} of ${countText(most.bound)} at most` };
}

function connections({ samples }: Look, domain: string): Reading | undefined {
  const nodes = ({ stores }: Sample): readonly StoreSample[] =>
    stores.filter(({ name }) => storeDomainOf(name) === domain);
  const open = seriesByPart(samples, nodes, (node) => node.connections);
  const allowed = seriesByPart(samples, nodes, (node) => node.maxConnections);
  const rejected = seriesByPart(samples, nodes, (node) => node.rejectedConnections);
  const most = fullest(
    Array.from(open, ([name, series]) => {
      const [used, bound] = [mostOf(series) ?? 0, mostOf(allowed.get(name) ?? []) ?? 0];
      const refused = growthOf(rejected.get(name) ?? []) ?? 0;
      return { name, used, bound, refused, share: refused > 0 ? 1 : bound > 0 ? used / bound : 0 };
    }),
  );
  if (most === undefined) return undefined;
  const refused = most.refused > 0 ? `, ${countText(most.refused)} refused` : '';
  return {
    share: most.share,
    words: `${countText(most.used)} of ${countText(most.bound)} at most${refused} (${most.name})`,
  };
}

/** Of stores that have a limit, and of the machine. A full L1 is how an L1 should be. */
export function memoryMeters(samples: readonly Sample[]): readonly Meter[] {
  return [
    ...storeDomains(samples).map(
      (domain): Meter => ({
        ...MEMORY,
        name: `memory of the store of ${domain}`,
        cause: 'memory of a store',
        read: (look) => storeMemory(look, domain),
      }),
    ),
    { ...MEMORY, name: 'memory of the machine', cause: 'memory of the machine', read: machineMemory },
  ];
}

const MEMORY = { kind: 'memory', growsWithRate: false } as const;

/** A store that evicts is full, however it counts. */
function storeMemory({ samples }: Look, domain: string): Reading | undefined {
  const nodes = ({ stores }: Sample): readonly StoreSample[] =>
    stores.filter(({ name, maxBytes }) => storeDomainOf(name) === domain && maxBytes > 0);
  const used = seriesByPart(samples, nodes, ({ usedBytes }) => usedBytes);
  const limits = seriesByPart(samples, nodes, ({ maxBytes }) => maxBytes);
  const evicted = seriesByPart(samples, nodes, (node) => node.evicted);
  const most = fullest(
    Array.from(used, ([name, series]) => {
      const [bytes, limit] = [mostOf(series) ?? 0, mostOf(limits.get(name) ?? []) ?? 0];
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

function machineMemory({ samples }: Look): Reading | undefined {
  const used = mostOf(
    seriesOf(samples, ({ host }) => (host === undefined ? undefined : host.totalBytes - host.availableBytes)),
  );
  const total = mostOf(seriesOf(samples, ({ host }) => host?.totalBytes));
  if (used === undefined || total === undefined || !(total > 0)) return undefined;
  return { share: used / total, words: `${bytesText(used)} of ${bytesText(total)}` };
}

/** What lies between the parts: loopback, the disk, queueing disciplines that hold packets back. */
export const machineMeters: readonly Meter[] = [
  { kind: 'network', name: 'the network', cause: 'the network', growsWithRate: false, read: network },
  { kind: 'disk', name: 'the busiest disk', cause: 'the disk', growsWithRate: true, read: disk },
  { kind: 'limiter', name: 'a limiter of packets', cause: 'a limiter', growsWithRate: false, read: limiter },
];

/** Sent again, of what was searched for: a few are ordinary wherever there is a wire. */
const RESENT_SHARE = 0.01;

/** Loopback has no capacity to be a share of: it is full when something is lost. */
function network({ samples, searchesPerSecond }: Look): Reading | undefined {
  const bytes = counter(samples, (host) => host.loopbackBytes);
  if (bytes === undefined) return undefined;
  const dropped =
    (grown(samples, (host) => host.loopbackDrops) ?? 0) + (grown(samples, (host) => host.listenDrops) ?? 0);
  const resent = counter(samples, (host) => host.retransmits) ?? 0;
  const sockets = meanOf(seriesOf(samples, ({ host }) => host?.tcpInUse));
  const words = [
    `${bytesText(bytes)}/s over loopback`,
    dropped > 0 ? `${countText(dropped)} dropped` : 'nothing dropped',
    ...(resent > 0 ? [`${perSecondText(resent)} sent again`] : []),
    ...(sockets === undefined ? [] : [`${countText(sockets)} TCP sockets`]),
  ].join(', ');
  const isFull = dropped > 0 || (searchesPerSecond > 0 && resent > RESENT_SHARE * searchesPerSecond);
  return isFull ? { share: 1, words } : { words };
}

function disk({ samples }: Look): Reading | undefined {
  const busyMs = counter(samples, (host) => host.diskBusyMs);
  const written = counter(samples, (host) => host.diskWrittenBytes);
  if (busyMs === undefined) return undefined;
  const writes = written === undefined ? '' : `, ${bytesText(written)}/s written`;
  return { share: busyMs / 1000, words: `busy ${Math.round(busyMs)} ms a second${writes}` };
}

function limiter({ samples }: Look): Reading | undefined {
  const drops = grown(samples, (host) => host.limiterDrops);
  const held = grown(samples, (host) => host.limiterOverlimits);
  if (drops === undefined || held === undefined) return undefined;
  return drops + held === 0
    ? { share: 0, words: 'nothing held back' }
    : { share: 1, words: `${countText(drops)} packets dropped, ${countText(held)} held back` };
}

function counter(samples: readonly Sample[], read: (host: HostSample) => number | undefined): number | undefined {
  return perSecond(seriesOf(samples, ({ host }) => (host === undefined ? undefined : read(host))));
}

function grown(samples: readonly Sample[], read: (host: HostSample) => number | undefined): number | undefined {
  return growthOf(seriesOf(samples, ({ host }) => (host === undefined ? undefined : read(host))));
}
