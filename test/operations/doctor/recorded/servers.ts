import type { ProbedNode, ProbeReply, StoreProbe } from '../../../../src/operations/doctor/doctor.ts';
import type { Figure } from '../../../../src/operations/doctor/facts.ts';
import type { FakeClock } from '../../../fakes/clock.ts';

/**
 * Servers that are not installed here, by their replies as documentation and field reports show them, and a probe that
 * answers from them. Figures that no test reads are left out.
 */

export interface RecordedServer {
  readonly info: string;
  readonly errorstats: string;
  /** More names than this in one CONFIG GET are refused. */
  readonly maxConfigNames: number;
  readonly config: Readonly<Record<string, string>>;
  /** Refusals by command, or by command and subcommand. */
  readonly refused: Readonly<Record<string, string>>;
  readonly clients: string;
  readonly memoryDoctor: string;
  readonly keys: Readonly<Record<string, RecordedKey>>;
}

interface RecordedKey {
  readonly type: 'string' | 'hash';
  readonly bytes: number;
  readonly members?: number;
  readonly pttl: number;
}

/** The words of servers before Redis 7. */
const ONE_NAME = "ERR Unknown subcommand or wrong number of arguments for 'GET'. Try CONFIG HELP.";
const lines = (...all: readonly string[]): string => `${all.join('\r\n')}\r\n`;
const PAGE = `sc1:goods:{${'a'.repeat(22)}}`;
const ENDLESS = `sc1:goods:{${'b'.repeat(22)}}`;

const COMMON: Omit<RecordedServer, 'info' | 'clients'> = {
  errorstats: '',
  maxConfigNames: 1,
  config: { maxmemory: '1073741824', 'maxmemory-policy': 'allkeys-lru', save: '', timeout: '0', databases: '16' },
  refused: {},
  memoryDoctor: 'Hi Sam, I can’t find any memory issue in your instance.',
  keys: {
    [PAGE]: { type: 'string', bytes: 4000, pttl: 60_000 },
    [ENDLESS]: { type: 'string', bytes: 4000, pttl: -1 },
    'sc1:goods:{control:goods}': { type: 'string', bytes: 900, pttl: -1 },
    'cart:9': { type: 'hash', bytes: 300_000, members: 5000, pttl: -1 },
  },
};

export const REDIS_5: RecordedServer = {
  ...COMMON,
  info: lines(
    ...['# Server', 'redis_version:5.0.14', 'redis_mode:standalone', 'executable:/data/redis-server', 'config_file:'],
    ...['# Clients', 'connected_clients:2', '# Stats', 'total_commands_processed:9', 'role:master'],
    ...['# Cluster', 'cluster_enabled:0', 'db0:keys=4,expires=1,avg_ttl=0'],
  ),
  clients:
    'id=3 addr=10.0.0.1:52555 fd=8 name= age=5 idle=0 flags=N db=0 sub=0 psub=0 multi=-1 qbuf=26 qbuf-free=32742 obl=0 oll=0 omem=0 events=r cmd=get\n',
  // io-threads came with Redis 6, maxmemory-clients with Redis 7.
};

export const REDIS_6_2: RecordedServer = {
  ...COMMON,
  info: lines(
    ...['# Server', 'redis_version:6.2.14', 'redis_mode:standalone', 'executable:/usr/local/bin/redis-server'],
    ...['# Clients', 'connected_clients:2', 'maxclients:10000', 'total_error_replies:3', 'role:master'],
    ...['# Cluster', 'cluster_enabled:0', 'db0:keys=4,expires=1,avg_ttl=0'],
  ),
  errorstats: lines('# Errorstats', 'errorstat_ERR:count=3'),
  config: { ...COMMON.config, 'io-threads': '1' },
  clients:
    'id=3 addr=10.0.0.1:52555 laddr=10.0.0.9:6379 fd=8 name=worker age=500 idle=4 flags=N db=2 sub=0 psub=0 multi=-1 qbuf=26 qbuf-free=40928 argv-mem=10 obl=0 oll=0 omem=0 tot-mem=61466 events=r cmd=get user=default redir=-1\n',
};

export const KEYDB_6_3: RecordedServer = {
  ...REDIS_6_2,
  info: lines(
    ...['# Server', 'redis_version:6.3.4', 'redis_mode:standalone', 'executable:/data/keydb-server', 'config_file:'],
    ...['# Clients', 'connected_clients:2', 'maxclients:10000', 'role:master', '# CPU', 'server_threads:2'],
    ...['# Cluster', 'cluster_enabled:0', '# KeyDB', 'mvcc_depth:0'],
  ),
};

/** The names that follow the refused command are part of the server's words. */
export const NO_CONFIG =
  "ERR unknown command 'CONFIG', with args beginning with: 'GET' 'maxmemory' 'maxmemory-policy' 'maxmemory-clients' 'save' 'appendonly' ";

export const MANAGED: RecordedServer = {
  ...REDIS_6_2,
  info: lines(
    ...['# Server', 'redis_version:7.1.0', 'redis_mode:standalone', 'os:Amazon ElastiCache', 'role:master'],
    ...['# Clients', 'connected_clients:2', 'maxclients:65000', 'cluster_enabled:0'],
  ),
  maxConfigNames: 100,
  refused: { CONFIG: NO_CONFIG },
};

/** Redis 7 in reply shapes: several names in one CONFIG GET. */
export const REDIS_7: RecordedServer = {
  ...REDIS_6_2,
  info: REDIS_6_2.info.replace('6.2.14', '7.0.15'),
  maxConfigNames: 100,
};

export interface RecordedNode extends ProbedNode {
  /** Absent: it does not answer. */
  readonly server?: RecordedServer;
}

export interface RecordedProbe {
  readonly probe: StoreProbe;
  /** The commands that were sent, by node, as `CONFIG GET`. */
  readonly sent: (address: string) => readonly string[];
  readonly forget: () => void;
  readonly setNodes: (nodes: Figure<readonly RecordedNode[]>) => void;
}

export const ADDRESS = '10.0.0.9:6379';

/** @param tookMs time on the clock that each call takes */
export function createRecordedProbe(options: {
  readonly clock: FakeClock;
  readonly nodes: readonly RecordedNode[];
  readonly tookMs?: number;
}): RecordedProbe {
  const { clock, tookMs = 0 } = options;
  let nodes: Figure<readonly RecordedNode[]> = { known: options.nodes };
  const sent = new Map<string, string[]>();

  const send = async (address: string, commands: readonly (readonly string[])[]): Promise<readonly ProbeReply[]> => {
    const node = 'known' in nodes ? nodes.known.find((one) => one.address === address) : undefined;
    const names = sent.get(address) ?? [];
    sent.set(address, [...names, ...commands.map(nameOf)]);
    clock.advance(tookMs);
    return commands.map((command) => {
      if (node?.server === undefined) return { kind: 'unreachable', detail: 'connect ECONNREFUSED 10.0.0.9:6379' };
      const reply = replyOf(node.server, command, clock);
      return reply instanceof Error
        ? { kind: 'refused', detail: reply.message, ms: 0.1 }
        : { kind: 'reply', reply, ms: tookMs === 0 ? 0.1 : tookMs };
    });
  };
  const ask: StoreProbe['ask'] = async (address, command) => {
    const [reply] = await send(address, [command]);
    return reply ?? { kind: 'unreachable', detail: 'no reply' };
  };
  return {
    probe: {
      facts: {
        name: 'store of goods',
        domains: ['goods'],
        kind: 'standalone',
        isCache: true,
        settings: { deadlineMs: 50, names: [] },
      },
      nodes: async () =>
        'known' in nodes ? { known: nodes.known.map(({ address, role }) => ({ address, role })) } : nodes,
      ask,
      askMany: send,
      change: ask,
      close: async () => {},
    },
    sent: (address) => sent.get(address) ?? [],
    forget: () => sent.clear(),
    setNodes: (next) => {
      nodes = next;
    },
  };
}

const WITH_SUBCOMMAND = new Set(['CONFIG', 'SLOWLOG', 'LATENCY', 'MEMORY', 'CLIENT', 'CLUSTER']);

function nameOf([name = '', sub = '']: readonly string[]): string {
  return WITH_SUBCOMMAND.has(name) ? `${name} ${sub}` : name;
}

function replyOf(server: RecordedServer, command: readonly string[], clock: FakeClock): unknown {
  const [name = '', sub = '', key = ''] = command;
  const refusal = server.refused[nameOf(command)] ?? server.refused[name];
  if (refusal !== undefined) return new Error(refusal);
  const about = (wanted: string): RecordedKey | undefined => server.keys[wanted];
  switch (nameOf(command)) {
    case 'PING':
      return 'PONG';
    case 'INFO':
      return sub === '' ? server.info : sub === 'errorstats' ? server.errorstats : lines('cmdstat_get:calls=9,usec=40');
    case 'TIME': {
      const ms = clock.wallMs() + 250;
      return [String(Math.floor(ms / 1000)), String((ms % 1000) * 1000)];
    }
    case 'CONFIG GET': {
      const names = command.slice(2);
      if (names.length > server.maxConfigNames) return new Error(ONE_NAME);
      return names.flatMap((one) => (server.config[one] === undefined ? [] : [one, server.config[one]]));
    }
    case 'SLOWLOG GET':
      return [[1, 1_795_000_000, 12_000, ['GET', 'private'], '10.0.0.1:1', 'worker']];
    case 'LATENCY LATEST':
      return [['command', 1_795_000_000, 60, 120]];
    case 'MEMORY DOCTOR':
      return server.memoryDoctor;
    case 'CLIENT LIST':
      return server.clients;
    case 'DBSIZE':
      return Object.keys(server.keys).length;
    case 'SCAN':
      return ['0', Object.keys(server.keys)];
    case 'TYPE':
      return about(sub)?.type ?? 'none';
    case 'MEMORY USAGE':
      return about(key)?.bytes ?? null;
    case 'PTTL':
      return about(sub)?.pttl ?? -2;
    case 'STRLEN':
      return about(sub)?.bytes ?? 0;
    case 'HLEN':
      return about(sub)?.members ?? 0;
    default:
      return new Error(`ERR unknown command '${name}'`);
  }
}
