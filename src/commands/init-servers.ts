import type { Settings } from '../config/settings.ts';
import { describeIndex, type IndexDescription } from '../engines/sphinx/describe.ts';
import type { StoreProbe } from '../operations/doctor/doctor.ts';
import { infoFields } from '../operations/shadow/server-figures.ts';
import { countText, plural } from '../report/format.ts';
import { formatHostPort, parseAddress, parseHostPort } from '../schema/units.ts';
import { openStoreProbes } from '../stores/store-probes.ts';
import { messageOf, UsageError } from './arguments.ts';
import type { CommandContext } from './command.ts';
import type { ConfigTree } from './starter-config.ts';

/** The servers that `serpcache init` is told: their addresses, and what each answers. */

/** The embedded engine, or the address of a search server. */
export type AskedEngine =
  | { readonly kind: 'sqlite' }
  | { readonly kind: 'sphinx' | 'manticore'; readonly host: string; readonly port: number; readonly index?: string };

type SearchServer = Exclude<AskedEngine, { readonly kind: 'sqlite' }>;

/** `scheme://user@places/rest`. */
const ADDRESS = /^([a-z]+):\/\/(?:([^@/]*)@)?([^@/]+)(?:\/([^/]*))?$/;

/** @throws UsageError for anything but `embedded` and the address of a search server */
export function engineIn(text: string): AskedEngine {
  if (text === '' || text === 'embedded') return { kind: 'sqlite' };
  refusePassword(text);
  const [, kind, user, place = '', index = ''] = ADDRESS.exec(text) ?? [];
  const at = parseHostPort(withPort(place, 9306));
  if ((kind !== 'sphinx' && kind !== 'manticore') || user !== undefined || at === undefined) {
    throw new UsageError(
      `the engine takes sphinx://host:9306/index, manticore://host:9306/index or embedded, not "${text}"`,
    );
  }
  return { kind, ...at, index: index === '' ? undefined : index };
}

/** The settings of a store, but for its kind: a cluster says at the look that it is one. @throws UsageError */
export function storeIn(text: string, password: string | undefined): ConfigTree {
  if (text === '' || text === 'none') return { kind: 'none' };
  if (text.startsWith('unix:') && parseAddress(text) !== undefined) return { kind: 'standalone', nodes: [text] };
  refusePassword(text);
  const [, scheme = '', user, places = '', rest = ''] = ADDRESS.exec(text) ?? [];
  const isSentinel = scheme === 'sentinel';
  const nodes = places.split(',').map((place) => withPort(place, isSentinel ? 26_379 : 6379));
  const isPlaced = nodes.every((node) => parseHostPort(node) !== undefined);
  const access = {
    username: user === '' ? undefined : user,
    password: password === undefined ? undefined : `\${STORE_PASSWORD}`,
    tls: ['rediss', 'valkeys'].includes(scheme) ? {} : undefined,
  };
  if (isSentinel && isPlaced && rest !== '') return { kind: 'sentinel', sentinels: nodes, master: rest, ...access };
  if (/^(?:redis|valkey)s?$/.test(scheme) && isPlaced && /^\d{0,4}$/.test(rest)) {
    return { kind: 'standalone', nodes, database: Number(rest) || undefined, ...access };
  }
  throw new UsageError(
    `the store takes redis://user@host:6379, rediss://… over TLS, sentinel://host:26379/master, unix:/path or none, not "${text}"`,
  );
}

function refusePassword(text: string): void {
  if (!/^[a-z]+:\/\/[^@]*:.*@/.test(text)) return;
  throw new UsageError(
    'a password in an address is seen by everybody on this machine; the one of a store is taken from STORE_PASSWORD',
  );
}

function withPort(place: string, port: number): string {
  return /:\d+$/.test(place) ? place : `${place}:${port}`;
}

const NOTHING_WRITTEN = 'nothing was written';

/** The index of a search server, and a sentence about both. @throws when it does not answer, or its index cannot be served */
export async function lookAtEngine(engine: SearchServer, signal: AbortSignal) {
  const { kind, host, port } = engine;
  const place = formatHostPort({ host, port });
  const seen = await describeIndex(engine, engine.index, signal).catch((error: unknown) => {
    throw new Error(`the engine at ${place}: ${messageOf(error)}; ${NOTHING_WRITTEN}`);
  });
  const { index, missing, version, documents, attributes } = seen;
  const told = kindOf(seen);
  if (told !== kind) {
    throw new Error(
      `the engine at ${place} is ${told} ${version}: say ${told}://${place}/${index}; ${NOTHING_WRITTEN}`,
    );
  }
  if (missing.length > 0) {
    throw new Error(
      `the index ${index} at ${place} has no text attribute ${missing.join(' and no ')}, which pages show: ` +
        `sql_field_string in its source, or rt_attr_string beside rt_field; ${NOTHING_WRITTEN}`,
    );
  }
  const text = `${kind} ${version.split('-')[0]} at ${place}: index ${index} with ${countText(documents)} documents and ${plural(attributes.length, 'attribute')}`;
  const tree: ConfigTree = { kind, host, port, index, idAttribute: seen.idAttribute };
  return { ...seen, kind, tree, text };
}

/** Manticore has a date in its greeting: `29.0.2 d8f3e1a@25112016`. */
function kindOf({ version }: IndexDescription): SearchServer['kind'] {
  return /@\d/.test(version) ? 'manticore' : 'sphinx';
}

type Fields = Readonly<Record<string, string>>;

/**
 * The settings of a store by what its servers answer, and a sentence about them.
 * @param settingsOf reads the settings of a configuration with this store
 * @throws when no server answers, or when the addresses are not those of one store
 */
export async function lookAtStore(
  asked: ConfigTree,
  settingsOf: (store: ConfigTree) => Settings,
  { clock }: Pick<CommandContext, 'clock'>,
) {
  const open = async <T>(store: ConfigTree, look: (probe: StoreProbe) => Promise<T>): Promise<T> => {
    const [probe] = openStoreProbes(settingsOf(store), { clock, random: Math.random });
    if (probe === undefined) throw new Error('a store without a probe');
    return look(probe).finally(probe.close);
  };
  const mastersOf = async (probe: StoreProbe): Promise<readonly string[]> => {
    const nodes = await probe.nodes();
    if ('skipped' in nodes) throw storeError(nodes.skipped);
    return nodes.known.filter(({ role }) => role === 'master').map(({ address }) => address);
  };
  const { nodes = [] } = asked as { readonly nodes?: readonly string[] };
  const single = asked['kind'] === 'standalone' ? { ...asked, nodes: nodes.slice(0, 1) } : asked;
  const { address, info } = await open(single, async (probe) => {
    const [first = ''] = nodes.length > 0 ? nodes : await mastersOf(probe);
    const told = await infoOf(probe, first);
    if (told['redis_mode'] === 'sentinel') throw storeError(`${first} is a sentinel: say sentinel://${first}/MASTER`);
    if (told['role'] === 'slave' && told['cluster_enabled'] !== '1') {
      throw storeError(`${first} is a replica: give its master, ${told['master_host']}:${told['master_port']}`);
    }
    // It tells whether the database is there; a cluster has one.
    const keys = await probe.ask(first, ['DBSIZE']);
    if (told['cluster_enabled'] !== '1' && keys.kind === 'refused' && keys.detail.startsWith('database'))
      throw storeError(`${first}: ${keys.detail}`);
    return { address: first, info: told };
  });
  const isCluster = info['cluster_enabled'] === '1';
  if (isCluster && asked['database'] !== undefined) {
    throw storeError(`${address} is of a cluster, which has one database: leave /${asked['database']} out`);
  }
  if (!isCluster && nodes.length > 1) throw storeError(`${address} is of no cluster: give one address`);
  const { database: _, ...withoutDatabase } = asked;
  const tree: ConfigTree = isCluster ? { ...withoutDatabase, kind: 'cluster' } : asked;
  const masters = isCluster
    ? await open(tree, async (probe) => {
        const state = await probe.ask(address, ['CLUSTER', 'INFO']);
        if (state.kind === 'reply' && !/^cluster_state:ok/m.test(String(state.reply))) {
          throw storeError(
            `${address} is of a cluster that serves nothing now (CLUSTER INFO: cluster_state is not ok)`,
          );
        }
        return (await mastersOf(probe)).length;
      })
    : 1;
  return { tree, text: `${serverText(info)} at ${address}, ${kindText(tree, masters)}; ${memoryText(info)}` };
}

async function infoOf(probe: StoreProbe, node: string): Promise<Fields> {
  const reply = await probe.ask(node, ['INFO']);
  if (reply.kind !== 'reply') {
    const needsPassword = /NOAUTH|WRONGPASS/.test(reply.detail);
    const advice = needsPassword
      ? ' (the password is that of the variable STORE_PASSWORD, the user that of the address)'
      : '';
    throw storeError(`${node}: ${reply.detail}${advice}`);
  }
  return infoFields(String(reply.reply));
}

function storeError(detail: string): Error {
  return new Error(`the store: ${detail}; ${NOTHING_WRITTEN}`);
}

function serverText({ valkey_version: valkey, redis_version: redis = 'of an unknown version' }: Fields): string {
  return valkey === undefined ? `Redis ${redis}` : `Valkey ${valkey}`;
}

function kindText({ kind }: ConfigTree, masters: number): string {
  if (kind === 'cluster') return `a cluster of ${plural(masters, 'master')}`;
  return kind === 'sentinel' ? 'the master of the sentinels' : 'one server';
}

/** A cache without a limit of its memory is a matter for `serpcache doctor`; here it is said once. */
function memoryText({ maxmemory = '0', maxmemory_human: human = '', maxmemory_policy: policy = '' }: Fields): string {
  if (maxmemory === '0') return 'no limit of memory: set maxmemory and maxmemory-policy allkeys-lru';
  return `${human} of memory, ${policy === 'noeviction' ? 'noeviction: a cache needs allkeys-lru' : policy}`;
}
