import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../../loadtest/stack/process.ts';
import { type RedisStack, startCluster, startStandalone, until } from '../../loadtest/stack/redis.ts';
import { type RedisNode, startRedisNode } from '../../loadtest/stack/redis-node.ts';
import { type Checker, type CheckRun, hold } from './checker.ts';
import { failover, masterThatRestarts, partition, resumption, type Servers, startServers } from './stores-failover.ts';
import {
  addressesOf,
  credentialsOf,
  examine,
  includeLine,
  type OpenedStores,
  openStores,
  openUsers,
  operatorOf,
  settingsOf,
  userLines,
  useStore,
} from './stores-service.ts';
import { clusterFailoverBoundMs, numberOf, optionalDirectivesOf, textOf } from './stores-windows.ts';
import { install } from './tools.ts';

type Flavour = 'redis' | 'valkey';
const FLAVOURS: readonly Flavour[] = ['redis', 'valkey'];

interface Proved {
  readonly store: object;
  readonly control?: object;
  /** Nodes that serpcache must connect to. */
  readonly nodes: number;
  readonly afterwards?: (opened: OpenedStores) => Promise<void>;
}

/** serpcache uses the servers, then the doctor looks at them. @returns how many checks it made. */
async function proved(folder: string, { store, control, nodes, afterwards }: Proved): Promise<number> {
  const settings = settingsOf(folder, { store, control });
  let opened: OpenedStores | undefined;
  try {
    opened = await openStores(settings, nodes);
    await useStore(opened);
    const made = await examine(settings, opened);
    await afterwards?.(opened);
    return made;
  } finally {
    await opened?.close();
  }
}

/** A cache and a control store, one server each. */
async function single(flavour: Flavour, folder: string): Promise<number> {
  const users = openUsers('users.acl', folder);
  const shared = { flavour, operator: operatorOf(users.passwords) };
  const own = ['protected-mode yes', ...userLines(users)];
  const cache = await startStandalone({ ...shared, config: own });
  try {
    const control = await startStandalone({ ...shared, config: [...own, includeLine('control.conf')] });
    try {
      const connection = { kind: 'standalone', ...credentialsOf(users.passwords) };
      return await proved(folder, {
        store: { ...connection, nodes: addressesOf(cache) },
        control: { ...connection, nodes: addressesOf(control) },
        nodes: 1,
      });
    } finally {
      await control.stop();
    }
  } finally {
    await cache.stop();
  }
}

const MASTERS = 3;
const READ_MS = 1000;

/** A replica takes over for a killed master within the bound of cluster.conf. */
async function clusterFailover({ nodes }: RedisStack, { store }: OpenedStores): Promise<void> {
  const boundMs = clusterFailoverBoundMs(numberOf('cluster.conf', 'cluster-node-timeout'));
  const name = 'sc1:goods:{failover}';
  const lost = store.locate(name).node;
  const others = Array.from({ length: 100 }, (_, at) => `sc1:goods:{other${at}}`);
  const elsewhere = others.find((one) => store.locate(one).node !== lost);
  hold(elsewhere !== undefined, 'every key is on one node');
  await nodes.find(({ address }) => address === lost)?.kill();
  const isBack = async (): Promise<boolean> => {
    const { kind } = await store.write(name, Buffer.from('a page'), boundMs);
    return kind === 'stored' && store.locate(name).node !== lost;
  };
  let refused = 0;
  await until(
    'a replica to take over in the cluster',
    async () => {
      const [other] = await store.readMany([elsewhere], READ_MS);
      if (other?.kind === 'fault') refused += 1;
      return isBack();
    },
    boundMs,
  );
  hold(refused === 0, `cluster.conf: a shard is lost, and ${refused} reads of another one failed`);
}

/** Three masters with a replica each that speak TLS alone, by the lines that the file has as comments. */
async function cluster(flavour: Flavour, folder: string): Promise<number> {
  const users = openUsers('users.acl', folder);
  const directory = join(folder, 'cluster');
  mkdirSync(directory);
  const tls = optionalDirectivesOf(`${flavour}-cache.conf`, /^(?:port|tls-(?!port$).*)$/);
  hold(tls.length >= 6, `deploy/redis/${flavour}-cache.conf: the comment about TLS has ${tls.length} lines, not 7`);
  const stack = await startCluster({
    flavour,
    masters: MASTERS,
    replicasPerMaster: 1,
    tls: true,
    directory,
    operator: operatorOf(users.passwords),
    config: [
      'protected-mode yes',
      ...userLines(users),
      ...['replicas.conf', 'cluster.conf'].map(includeLine),
      ...tls.map((line) => line.replace(`/etc/${flavour}/tls`, directory)),
    ],
  });
  try {
    const tlsOf = { ca: join(directory, 'ca.crt') };
    const store = { kind: 'cluster', nodes: addressesOf(stack), tls: tlsOf, ...credentialsOf(users.passwords) };
    return await proved(folder, { store, nodes: MASTERS, afterwards: (opened) => clusterFailover(stack, opened) });
  } finally {
    await stack.stop();
  }
}

function serverChecker(flavour: Flavour): Checker {
  return {
    name: flavour,
    about: `${flavour}-cache.conf alone, with control.conf and as a cluster with replicas, in use and examined by the doctor`,
    run: async ({ folder, say, signal }) => {
      install(flavour);
      say('a cache and a control store');
      const alone = await single(flavour, folder);
      signal.throwIfAborted();
      say('a cluster of three masters and three replicas over TLS, and the loss of one');
      const clustered = await cluster(flavour, folder);
      return `standalone, control store, cluster of ${MASTERS} with replicas over TLS, all as ACL users; a replica took over; the doctor made ${alone} and ${clustered} checks and found nothing`;
    },
  };
}

async function failoverOf(flavour: Flavour, { folder, say, signal }: CheckRun): Promise<string> {
  let servers: Servers | undefined;
  try {
    say(`${flavour}: a master, its replica and three sentinels`);
    servers = await startServers(flavour, folder);
    const { settings, store, stores } = servers;
    await useStore({ store, stores, close: async () => {} });
    await examine(settings, { store });
    signal.throwIfAborted();
    say(`${flavour}: a replica that is cut off`);
    const resumed = await resumption(servers);
    signal.throwIfAborted();
    say(`${flavour}: the master is lost under writes`);
    const lost = await failover(servers, flavour === 'redis' ? 'kill' : 'pause');
    signal.throwIfAborted();
    say(`${flavour}: a master that sees nobody`);
    const apart = await partition(servers);
    signal.throwIfAborted();
    say(`${flavour}: a master that restarts at once`);
    return `${flavour}: ${lost}; ${apart}; ${resumed}; ${await masterThatRestarts(servers)}`;
  } finally {
    await servers?.stop();
  }
}

const SENTINEL: Checker = {
  name: 'sentinel',
  about:
    'replicas.conf and sentinel.conf: failover, loss window, partial resync and restart, measured against their bounds',
  run: async (check) => {
    install(...FLAVOURS);
    const lines: string[] = [];
    for (const flavour of FLAVOURS) lines.push(await failoverOf(flavour, check));
    return lines.join('. ');
  },
};

// --- users ------------------------------------------------------------------------------------------------------------

/** A command or subcommand as rules name it, `client|list`, with the least number of words. */
interface KnownCommand {
  readonly name: string;
  readonly words: number;
}

/** COMMAND INFO: name, arity, …, and at the tenth place the subcommands in the same shape. */
function commandsIn(reply: unknown): readonly KnownCommand[] {
  if (!Array.isArray(reply)) return [];
  const [name, arity, flags] = reply as readonly unknown[];
  // AUTH and its like are open to everybody.
  if (Array.isArray(flags) && flags.includes('no_auth')) return [];
  const subcommands: readonly unknown[] = Array.isArray(reply[9]) ? reply[9] : [];
  if (subcommands.length > 0) return subcommands.flatMap(commandsIn);
  return [{ name: String(name), words: Math.abs(Number(arity)) }];
}

const REFUSED = /no permissions to run/;

/** The commands that the server would let the user send, by ACL DRYRUN of every command that it knows. */
async function allowedTo(
  node: RedisNode,
  user: string,
  commands: readonly KnownCommand[],
): Promise<ReadonlySet<string>> {
  const allowed = new Set<string>();
  for (const { name, words } of commands) {
    const parts = name.split('|');
    const rest = Array.from({ length: words - parts.length }, () => 'x');
    const reply = await node.command('ACL', 'DRYRUN', user, ...parts, ...rest);
    if (!REFUSED.test(String(reply))) allowed.add(name);
  }
  return allowed;
}

/** Every user of the file may send what its line names, and no other command. @returns the number of users. */
async function compareUsers(node: RedisNode, file: string): Promise<number> {
  const reply = await node.command('COMMAND');
  const commands = (Array.isArray(reply) ? reply : []).flatMap(commandsIn);
  hold(commands.length > 20, `${file}: the server knows ${commands.length} commands`);
  const lines = [...textOf(file).matchAll(/^user (\S+) off (.*)$/gm)];
  for (const [, user = '', rules = ''] of lines) {
    if (rules.includes('+@all')) continue;
    const named = new Set(rules.split(' ').flatMap((rule) => (rule.startsWith('+') ? [rule.slice(1)] : [])));
    const allowed = await allowedTo(node, user, commands);
    const wrong = [...named.symmetricDifference(allowed)];
    hold(wrong.length === 0, `deploy/redis/${file}: ${user} is named or allowed, and not both: ${wrong.join(', ')}`);
  }
  return lines.length;
}

/** Names of keys and channels that a user may and may not reach. */
const NAMES: readonly (readonly [user: string, isAllowed: boolean, ...command: readonly string[]])[] = [
  ['serpcache', true, 'get', 'sc1:goods:{a}'],
  ['serpcache', true, 'get', 'sc9:goods:{a}'],
  ['serpcache', false, 'get', 'another:service'],
  ['serpcache', false, 'get', 'scx:goods:{a}'],
  ['serpcache-doctor', true, 'memory', 'usage', 'another:service'],
  ['sentinel', true, 'publish', '__sentinel__:hello', 'x'],
  ['sentinel', false, 'publish', 'another', 'x'],
];

async function usersOn(flavour: Flavour, folder: string): Promise<string> {
  const users = openUsers('users.acl', folder);
  const operator = operatorOf(users.passwords);
  const { nodes, stop } = await startStandalone({ flavour, operator, config: userLines(users) });
  try {
    const [node] = nodes;
    if (node === undefined) throw new Error('there is no server');
    const count = await compareUsers(node, 'users.acl');
    for (const [user, isAllowed, ...command] of NAMES) {
      const reply = String(await node.command('ACL', 'DRYRUN', user, ...command));
      hold((reply === 'OK') === isAllowed, `deploy/redis/users.acl: ${user} sends ${command.join(' ')}: ${reply}`);
    }
    return `${flavour} ${count} users and ${await sentinelUsers(flavour, folder)} of sentinels`;
  } finally {
    await stop();
  }
}

async function sentinelUsers(flavour: Flavour, folder: string): Promise<number> {
  const { path, passwords } = openUsers('sentinel-users.acl', folder);
  const [port = 0] = await freePorts(1);
  const sentinel = await startRedisNode({
    flavour,
    port,
    sentinel: true,
    operator: operatorOf(passwords),
    directory: join(folder, `${flavour}-sentinel`),
    config: [`aclfile ${path}`],
  });
  try {
    return await compareUsers(sentinel, 'sentinel-users.acl');
  } finally {
    await sentinel.stop();
  }
}

const ACL: Checker = {
  name: 'acl',
  about:
    'users.acl and sentinel-users.acl: each user may send the commands of its line, and no other that the server knows',
  run: async ({ folder, say }) => {
    install(...FLAVOURS);
    const lines: string[] = [];
    for (const flavour of FLAVOURS) {
      say(`every command of ${flavour} as each user`);
      lines.push(await usersOn(flavour, folder));
    }
    return lines.join(', ');
  },
};

export const CHECKERS: readonly Checker[] = [...FLAVOURS.map(serverChecker), SENTINEL, ACL];
