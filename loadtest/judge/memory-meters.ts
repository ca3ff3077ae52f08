import { bytesText, perSecondText } from '../../src/report/format.ts';
import type { Sample, StoreSample } from '../sample/sample.ts';
import { fullest, type Look, type Meter, type Reading } from './meter.ts';
import { growthOf, mostOf, perSecond, seriesByPart, seriesOf } from './part-series.ts';
import { storeDomainOf, storeDomains } from './store-domains.ts';

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
