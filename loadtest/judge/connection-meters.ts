import { countText } from '../../src/report/format.ts';
import type { Sample, StoreSample } from '../sample/sample.ts';
import { fullest, type Look, type Meter, type Reading } from './meter.ts';
import { growthOf, mostOf, seriesByPart } from './part-series.ts';
import { storeDomainOf, storeDomains } from './store-domains.ts';

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
