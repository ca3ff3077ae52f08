import { isIP } from 'node:net';
import type { ConnectedStoreSettings, Settings } from '../config/settings.ts';
import { connectedStores, fingerprintOf, type StoreUse } from '../config/store-identity.ts';
import type { StoreProbe } from '../operations/doctor/doctor.ts';
import type { Runtime } from '../runtime.ts';
import { createRedisProbe } from './redis/probe.ts';

/**
 * Opens a probe for each store that the settings name: of the domains, their candidates, the control documents and the
 * counts. Settings that name the same nodes and database share one, so that no node is looked at twice.
 */
export function openStoreProbes(
  settings: Pick<Settings, 'domains' | 'control' | 'counters'>,
  { clock, random }: Pick<Runtime<never>, 'clock' | 'random'>,
): readonly StoreProbe[] {
  const perStore = Map.groupBy(connectedStores(settings), ({ store }) => fingerprintOf(store));
  return [...perStore.values()].flatMap((uses) => {
    // Credentials may differ from use to use; those that were made for the doctor can do the most.
    const { store } = uses.find((use) => use.store.doctor !== undefined) ?? uses[0] ?? {};
    return store === undefined
      ? []
      : [createRedisProbe({ settings: store, facts: factsOf(uses, store), clock, random })];
  });
}

function factsOf(uses: readonly StoreUse[], settings: ConnectedStoreSettings): StoreProbe['facts'] {
  const { kind, deadlineMs } = settings;
  const domains = [...new Set(uses.flatMap(({ domain }) => domain ?? []))];
  const hosts = (kind === 'sentinel' ? settings.sentinels : settings.nodes).flatMap((at) =>
    'host' in at ? at.host : [],
  );
  return {
    name: nameOf(uses),
    domains,
    kind,
    isCache: domains.length > 0,
    settings: {
      deadlineMs,
      names: [...new Set(hosts)].filter((host) => isIP(host) === 0 && host !== 'localhost'),
    },
  };
}

/** `store of goods and jobs, control store`. */
function nameOf(uses: readonly StoreUse[]): string {
  const parts = [...Map.groupBy(uses, ({ part }) => part)].map(([part, same]) => {
    const domains = same.flatMap(({ domain }) => domain ?? []);
    return domains.length === 0 ? part : `${part} of ${AND.format(domains)}`;
  });
  return parts.join(', ');
}

const AND = new Intl.ListFormat('en-GB');
