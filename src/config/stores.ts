import type { Path } from './faults.ts';
import type { Config, Draft } from './schema.ts';

export type DraftStore = NonNullable<Draft<Config['domains'][string]['store']>>;

/** One store the configuration names, and where. */
export interface NamedStore {
  readonly path: Path;
  /** A domain's name, or `control`, `counters` in words. */
  readonly owner: string;
  readonly store: Exclude<DraftStore, { readonly kind: 'none' }>;
}

/** Every store that is to be connected to: the domains' own, and those of the process. */
export function namedStores(config: Draft<Config>): readonly NamedStore[] {
  const all = [
    ...Object.entries(config.domains ?? {}).map(([name, domain]) => ({
      path: ['domains', name, 'store'],
      owner: name,
      store: domain?.store,
    })),
    { path: ['control'], owner: 'control', store: config.control },
    { path: ['counters'], owner: 'counters', store: config.counters },
  ];
  return all.flatMap(({ path, owner, store }) =>
    store === undefined || store.kind === 'none' ? [] : [{ path, owner, store }],
  );
}
