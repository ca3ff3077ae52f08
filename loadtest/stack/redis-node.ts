import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import type { Certificates } from './certificates.ts';
import { accepts, type RunningProcess, startProcess } from './process.ts';

/** `redis` and `valkey` are the installed ones; anything else is the path of a Redis-protocol server. */
export type Flavour = 'redis' | 'valkey' | (string & {});

export interface AclUser {
  readonly username: string;
  readonly password: string;
  /** ACL rules after the password, as in `user` lines: `~* +@all`. */
  readonly rules: string;
}

/** One server process that can be hurt and healed: its port and directory outlive each run. */
export interface RedisNode {
  readonly host: string;
  readonly port: number;
  /** `host:port`, as `CLUSTER SLOTS` names it. */
  readonly address: string;
  readonly pid: () => number;
  /** SIGKILL; resolves when it is gone. */
  readonly kill: () => Promise<void>;
  /** SIGSTOP: connections stay, nothing answers. */
  readonly pause: () => Promise<void>;
  readonly resume: () => void;
  /** Starts it again (ends it first when it runs). */
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** One command over a connection of its own, as the user that may do everything. @throws on an error reply. */
  readonly command: (...parts: readonly (string | number)[]) => Promise<unknown>;
}

export interface RedisNodeOptions {
  readonly flavour: Flavour;
  readonly port: number;
  /** In a cluster: where clients are sent instead, to a proxy before this node. */
  readonly announcedPort?: number;
  readonly directory: string;
  /** Lines of configuration after the included deploy/redis file. */
  readonly config?: readonly string[];
  readonly sentinel?: boolean;
  readonly tls?: Certificates;
  readonly acl?: AclUser;
  /** Let it outlive this process (the local stack). */
  readonly detached?: boolean;
  /** Where it listens; loopback unless said. */
  readonly host?: string;
  /** Program and arguments that start it in their place: `nsenter --net=…`. */
  readonly through?: readonly string[];
}

const LOOPBACK = '127.0.0.1';

/** @throws with one clear line when the server is not installed, and with the end of its log when it will not start. */
export async function startRedisNode(options: RedisNodeOptions): Promise<RedisNode> {
  mkdirSync(options.directory, { recursive: true });
  const { host = LOOPBACK } = options;
  const logFile = join(options.directory, 'server.log');
  const args = argumentsOf(options);
  let running: RunningProcess | undefined;

  const command = async (...parts: readonly (string | number)[]): Promise<unknown> => {
    const [name = '', ...rest] = parts;
    const client = new Redis({
      host,
      port: options.port,
      lazyConnect: true,
      enableReadyCheck: false,
      protocol: 2,
      retryStrategy: null,
      commandTimeout: 5000,
      ...(options.acl && { username: ADMIN.username, password: ADMIN.password }),
      ...(options.tls && { tls: { ca: options.tls.ca } }),
    });
    client.on('error', () => {}); // `connect` and `call` reject with it
    try {
      await client.connect();
      return await client.call(String(name), rest.map(String));
    } finally {
      client.disconnect();
    }
  };

  const start = async (): Promise<void> => {
    const whole = [...(options.through ?? []), program(options.flavour), ...args];
    running = await startProcess({
      name: `${basename(options.flavour)} ${options.port}`,
      command: whole[0] ?? '',
      args: whole.slice(1),
      cwd: options.directory,
      logFile,
      detached: options.detached ?? false,
      ready: async () => (await accepts(options.port, host)) && (await command('PING')) === 'PONG',
    });
  };
  const stop = async (): Promise<void> => running?.stop();
  await start();

  return {
    host,
    port: options.port,
    address: `${host}:${options.announcedPort ?? options.port}`,
    pid: () => running?.pid ?? 0,
    kill: async () => {
      running?.signal('SIGKILL');
      await running?.ended;
    },
    pause: async () => running?.pause(),
    resume: () => running?.signal('SIGCONT'),
    restart: async () => {
      await stop();
      await start();
    },
    stop,
    command,
  };
}

/** Beside an application user there must be one that may set up the cluster. */
const ADMIN = { username: 'stack', password: 'stack-only-on-loopback' };

function program(flavour: Flavour): string {
  return flavour === 'redis' || flavour === 'valkey' ? `${flavour}-server` : flavour;
}

function argumentsOf(options: RedisNodeOptions): string[] {
  const { flavour, port, directory, host = LOOPBACK } = options;
  const kind = basename(flavour).match(/^(redis|valkey)/)?.[1];
  // An unknown server gets only what every Redis-protocol server understands.
  if (kind === undefined) return ['--port', String(port), '--bind', host];
  const file = join(directory, 'server.conf');
  // Sentinel keeps its state in this file and `nodes.conf` beside it: a second start must find what the first wrote.
  if (!existsSync(file)) writeFileSync(file, '');
  else return options.sentinel ? [file, '--sentinel'] : [file];
  const deployed = fileURLToPath(new URL(`../../deploy/redis/${kind}-cache.conf`, import.meta.url));
  const lines = [
    ...(options.sentinel ? [] : [`include ${deployed}`]),
    `bind ${host}`,
    'protected-mode no',
    options.tls ? 'port 0' : `port ${port}`,
    `dir ${directory}`,
    ...(options.tls
      ? [
          `tls-port ${port}`,
          `tls-cert-file ${options.tls.certFile}`,
          `tls-key-file ${options.tls.keyFile}`,
          `tls-ca-cert-file ${options.tls.caFile}`,
          'tls-auth-clients no',
          'tls-cluster yes',
          'tls-replication yes',
        ]
      : []),
    ...(options.acl
      ? [
          'user default off',
          `user ${ADMIN.username} on >${ADMIN.password} ~* &* +@all`,
          `user ${options.acl.username} on >${options.acl.password} ${options.acl.rules}`,
          ...(options.sentinel ? [] : [`masteruser ${ADMIN.username}`, `masterauth ${ADMIN.password}`]),
        ]
      : []),
    // The bus stays where it is, 10000 above the node's own port.
    ...(options.announcedPort === undefined
      ? []
      : [`cluster-announce-ip ${host}`, `cluster-announce-port ${options.announcedPort}`]),
    ...(options.config ?? []),
  ];
  appendFileSync(file, `${lines.join('\n')}\n`);
  return options.sentinel ? [file, '--sentinel'] : [file];
}
