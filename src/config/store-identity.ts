import { hash } from 'node:crypto';
import { Document, isMap } from 'yaml';
import { readTree } from '../schema/read.ts';
import { type Address, formatAddress, formatDuration, formatHostPort } from '../schema/units.ts';
import { candidates } from './schema-connections.ts';
import type { ConnectedStoreSettings, NamedStoreSettings, NatMap, Settings } from './settings.ts';

/** The name of a domain's configured store beside its candidates, and its setting. */
export const CONFIGURED = 'store';
/** The name under which the configured store stays declared after a cut-over. */
const PREVIOUS = 'previous';

/** The address of a node, alike in all spellings. The three usual names of this machine count as one. */
export function nodeName(address: Address): string {
  if ('path' in address) return formatAddress(address);
  const { host, port } = address;
  const lower = host.toLowerCase();
  return formatHostPort({ host: lower === 'localhost' || lower === '::1' ? '127.0.0.1' : lower, port });
}

/**
 * 16 base64url characters: the hash of the addresses, the master and the database. Processes compare these to know that
 * they mean the same store; credentials, TLS and deadlines may differ between them.
 */
export function fingerprintOf(settings: ConnectedStoreSettings): string {
  const { kind } = settings;
  const nodes = [...new Set((kind === 'sentinel' ? settings.sentinels : settings.nodes).map(nodeName))].sort();
  const database = kind === 'cluster' ? 0 : settings.database;
  const master = kind === 'sentinel' ? settings.master : '';
  const digest = hash('sha256', JSON.stringify([kind, nodes, database, master]), 'buffer');
  return digest.subarray(0, 12).toString('base64url');
}

export type StoreUse = ReturnType<typeof connectedStores>[number];

/**
 * Every use of a store that the settings name. `part`: `store`, `candidate valkey`, `control store`, `counter store`, the first
 * two with their domain. `path`: its place in the configuration.
 */
export function connectedStores({ domains, control, counters }: Pick<Settings, 'domains' | 'control' | 'counters'>) {
  const uses = [
    ...domains.map(({ name, store }) => ({ part: 'store', domain: name, path: `domains.${name}.store`, store })),
    ...domains.flatMap(({ name: domain, candidates }) =>
      candidates.map(({ name, settings: store }) => {
        return { part: `candidate ${name}`, domain, path: `domains.${domain}.candidates.${name}`, store };
      }),
    ),
    { part: 'control store', domain: undefined, path: 'control', store: control },
    { part: 'counter store', domain: undefined, path: 'counters', store: counters },
  ];
  return uses.flatMap(({ store, ...use }) => (store.kind === 'none' ? [] : [{ ...use, store }]));
}

interface CutOver {
  readonly domain: string;
  readonly to: NamedStoreSettings;
  readonly from: NamedStoreSettings;
}

/**
 * The part of the configuration file that a cut-over changes: the new store of the domain, and the old one as a candidate,
 * so that the way back stays declared. Secrets and TLS files are not in it: comments say where they stand.
 */
export function cutOverYaml({ domain, to, from }: CutOver): string {
  const oldName = from.name === CONFIGURED ? PREVIOUS : from.name;
  const document = new Document({
    domains: {
      [domain]: { store: storeTree(to.settings), candidates: { [oldName]: storeTree(from.settings) } },
    },
  });
  noteHidden(document.getIn(['domains', domain, 'store'], true), to);
  noteHidden(document.getIn(['domains', domain, 'candidates', oldName], true), from);
  document.commentBefore = headOf(domain, to.name, oldName);
  return document.toString({ lineWidth: 0 });
}

function headOf(domain: string, newName: string, oldName: string): string {
  if (newName === CONFIGURED) {
    return ` ${domain} uses its configured store: a configuration that was not changed says this already.`;
  }
  const head = ` The configuration of every process from now on. The other settings of ${domain} stay as they are`;
  return newName === oldName ? `${head}.` : `${head};\n candidates.${newName} is removed, because it is the store now.`;
}

const HIDDEN_SETTINGS = ['username', 'password', 'sentinelUsername', 'sentinelPassword', 'tls', 'doctor'];

function noteHidden(section: unknown, { name, settings }: NamedStoreSettings): void {
  const given: Readonly<Record<string, unknown>> = { ...settings };
  const hidden = HIDDEN_SETTINGS.filter((member) => given[member] !== undefined);
  if (!isMap(section) || hidden.length === 0) return;
  section.comment = ` ${hidden.join(', ')}: as before under ${name === CONFIGURED ? name : `candidates.${name}`}`;
}

/** A store as the file says it: no credentials, no TLS, no setting that has its default. */
function storeTree(settings: ConnectedStoreSettings): Readonly<Record<string, unknown>> {
  const { kind } = settings;
  return {
    kind,
    ...(kind === 'sentinel'
      ? { sentinels: settings.sentinels.map(formatHostPort), master: settings.master }
      : { nodes: settings.nodes.map(formatAddress) }),
    natMap: kind === 'standalone' ? undefined : natMapTree(settings.natMap),
    database: kind === 'cluster' || settings.database === 0 ? undefined : settings.database,
    ...Object.fromEntries(Object.entries(settings).flatMap(([name, value]) => changed(name, value))),
  };
}

function natMapTree(natMap: NatMap | undefined): Readonly<Record<string, string>> | undefined {
  return (
    natMap &&
    Object.fromEntries(Object.entries(natMap).map(([announced, target]) => [announced, formatHostPort(target)]))
  );
}

function changed(name: string, value: unknown): readonly (readonly [string, unknown])[] {
  const usual = DEFAULTS.get(name);
  if (usual === undefined || value === undefined || value === usual) return [];
  return name.endsWith('Ms') && typeof value === 'number'
    ? [[name.slice(0, -2), formatDuration(value)]]
    : [[name, value]];
}

/** The defaults of the connection settings, by their names in code. */
const DEFAULTS = defaultsOf({ kind: 'cluster', nodes: ['127.0.0.1:1'] });

function defaultsOf(store: Readonly<Record<string, unknown>>): ReadonlyMap<string, unknown> {
  const { value } = readTree(candidates, { store });
  const { store: read } = value as { readonly store: ConnectedStoreSettings };
  return new Map(Object.entries(read).filter(([, each]) => typeof each === 'number' || typeof each === 'boolean'));
}
