import type { RawFault } from './faults.ts';
import type { Config, Draft } from './schema.ts';
import { formatHostPort } from './units.ts';

type Claim = { readonly domain: string; readonly shared: boolean; readonly names: readonly string[] };

/**
 * Two domains on one store are lost together and evict each other, so it must be meant: every domain that names a
 * store and database another one names says `shared: true`.
 */
export function findSharedStores(config: Draft<Config>): readonly RawFault[] {
  const claims = Object.entries(config.domains ?? {}).map(([domain, settings]) => claimOf(domain, settings?.store));
  return claims.flatMap(({ domain, shared, names }, index) => {
    if (shared) return [];
    const other = claims.find((claim, at) => at !== index && claim.names.some((name) => names.includes(name)));
    const common = other?.names.find((name) => names.includes(name));
    if (other === undefined || common === undefined) return [];
    return {
      path: ['domains', domain, 'store'],
      value: common,
      allowed: `a store or database of its own, or shared: true in every domain that names it (${other.domain} names it too)`,
    };
  });
}

function claimOf(domain: string, store: Draft<Config['domains'][string]['store']> | undefined): Claim {
  const none: Claim = { domain, shared: false, names: [] };
  if (store === undefined || store.kind === 'none') return none;
  switch (store.kind) {
    case 'standalone':
    case 'cluster': {
      const database = store.kind === 'cluster' ? 0 : store.database;
      if (database === undefined) return none;
      return {
        domain,
        shared: store.shared ?? false,
        names: addresses(store.nodes).map((at) => `${at}, database ${database}`),
      };
    }
    case 'sentinel': {
      const { master, database } = store;
      if (database === undefined || master === undefined) return none;
      const names = addresses(store.sentinels).map((at) => `master ${master} of ${at}, database ${database}`);
      return { domain, shared: store.shared ?? false, names };
    }
  }
}

function addresses(
  nodes: readonly (Draft<{ host: string; port: number }> | undefined)[] | undefined,
): readonly string[] {
  return (nodes ?? []).flatMap((node) => {
    if (node?.host === undefined || node.port === undefined) return [];
    const host = node.host.toLowerCase();
    // One machine by its three usual names.
    return formatHostPort({ host: host === 'localhost' || host === '::1' ? '127.0.0.1' : host, port: node.port });
  });
}
