import type { RawFault } from './faults.ts';
import type { Config, Draft } from './schema.ts';
import { type NamedStore, namedStores } from './stores.ts';
import { formatHostPort } from './units.ts';

type Claim = Pick<NamedStore, 'path' | 'owner'> & { readonly shared: boolean; readonly names: readonly string[] };

/**
 * Two users of one store are lost together and evict each other, so it must be meant: every one that names a store and
 * database another one names says `shared: true`.
 */
export function findSharedStores(config: Draft<Config>): readonly RawFault[] {
  const claims = namedStores(config).map(claimOf);
  return claims.flatMap(({ path, shared, names }, index) => {
    if (shared) return [];
    const other = claims.find((claim, at) => at !== index && claim.names.some((name) => names.includes(name)));
    const common = other?.names.find((name) => names.includes(name));
    if (other === undefined || common === undefined) return [];
    return {
      path,
      value: common,
      allowed: `a store or database of its own, or shared: true wherever it is named (${other.owner} names it too)`,
    };
  });
}

function claimOf({ path, owner, store }: NamedStore): Claim {
  return { path, owner, shared: store.shared ?? false, names: namesOf(store) };
}

function namesOf(store: NamedStore['store']): readonly string[] {
  switch (store.kind) {
    case 'standalone':
    case 'cluster': {
      const database = store.kind === 'cluster' ? 0 : store.database;
      return database === undefined ? [] : addresses(store.nodes).map((at) => `${at}, database ${database}`);
    }
    case 'sentinel': {
      const { master, database } = store;
      if (database === undefined || master === undefined) return [];
      return addresses(store.sentinels).map((at) => `master ${master} of ${at}, database ${database}`);
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
