import { execFile } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { accepts, type RunningProcess, startProcess } from './process.ts';

/** `redis` and `valkey` are the installed ones; anything else is the path of a Redis-protocol server. */
export type Flavour = 'redis' | 'valkey' | (string & {});

export interface AclUser {
  readonly username: string;
  readonly password: string;
  /** ACL rules after the password, as in `user` lines: `~* +@all`. */
  readonly rules: string;
}

/** One server process that can be killed, paused and restarted: its port and directory outlive each run. */
export type RedisNode = Awaited<ReturnType<typeof startRedisNode>>;

interface RedisNodeOptions {
  readonly flavour: Flavour;
  readonly port: number;
  /** In a cluster: the port that clients are sent to, of a proxy before this node. */
  readonly announcedPort?: number | undefined;
  readonly directory: string;
  /** Lines of configuration after the included deploy/redis file. */
  readonly config?: readonly string[];
  readonly sentinel?: boolean;
  readonly tls?: Certificates | undefined;
  readonly acl?: AclUser | undefined;
  /** The user of `command`, where an `aclfile` of `config` names the users. */
  readonly operator?: Omit<AclUser, 'rules'> | undefined;
  /** Let it outlive this process (the local stack). */
  readonly detached?: boolean | undefined;
  /** Address to listen on. Default: loopback. */
  readonly host?: string;
  /** Program and arguments that start the server: `nsenter --net=…`. */
  readonly through?: readonly string[];
}

const LOOPBACK = '127.0.0.1';

/** @throws with one clear line when the server is not installed, and with the end of its log when it will not start. */
export async function startRedisNode(options: RedisNodeOptions) {
  mkdirSync(options.directory, { recursive: true });
  const { host = LOOPBACK } = options;
  const logFile = join(options.directory, 'server.log');
  const args = argumentsOf(options);
  const { username, password } = options.operator ?? (options.acl && ADMIN) ?? {};
  let running: RunningProcess | undefined;

  /** Opens a connection, as the user with all rights, and closes it after `use`. @throws when the server refuses */
  const onConnection = async (use: (client: Redis) => Promise<unknown>): Promise<unknown> => {
    const client = new Redis({
      host,
      port: options.port,
      lazyConnect: true,
      enableReadyCheck: false,
      protocol: 2,
      retryStrategy: null,
      commandTimeout: 5000,
      username,
      password,
      tls: options.tls && { ca: options.tls.ca },
    });
    client.on('error', () => {}); // `connect` and `call` reject with it
    try {
      await client.connect();
      return await use(client);
    } finally {
      client.disconnect();
    }
  };
  /** One command over its own connection, as the user with all rights. @throws on an error reply. */
  const command = (...[name = '', ...rest]: readonly (string | number)[]): Promise<unknown> =>
    onConnection((client) => client.call(String(name), rest.map(String)));
  /** The same for values that are no text. */
  const commandBuffer = (name: string, ...rest: readonly (string | Buffer)[]): Promise<unknown> =>
    onConnection((client) => client.callBuffer(name, [...rest]));

  const start = async (): Promise<void> => {
    const whole = [...(options.through ?? []), program(options.flavour), ...args];
    running = await startProcess({
      name: `${basename(options.flavour)} ${options.port}`,
      command: whole[0] ?? '',
      args: whole.slice(1),
      cwd: options.directory,
      logFile,
      detached: options.detached,
      ready: async () => (await accepts(options.port, host)) && (await command('PING')) === 'PONG',
    });
  };
  const stop = async (): Promise<void> => running?.stop();
  await start();

  return {
    host,
    port: options.port,
    /** `host:port`, as `CLUSTER SLOTS` names it. */
    address: `${host}:${options.announcedPort ?? options.port}`,
    pid: (): number => running?.pid ?? 0,
    /** SIGKILL; resolves when it is gone. */
    kill: async (): Promise<void> => {
      running?.signal('SIGKILL');
      await running?.ended;
    },
    /** SIGSTOP: connections stay, nothing answers. */
    pause: async (): Promise<void> => running?.pause(),
    resume: (): void => running?.signal('SIGCONT'),
    /** Starts it again (ends it first when it runs). */
    restart: async (): Promise<void> => {
      await stop();
      await start();
    },
    stop,
    onConnection,
    command,
    commandBuffer,
  };
}

/** An application user may not set up the cluster, so this second user does. */
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
    // The bus keeps its port, 10000 above the node's own.
    ...(options.announcedPort === undefined
      ? []
      : [`cluster-announce-ip ${host}`, `cluster-announce-port ${options.announcedPort}`]),
    ...(options.config ?? []),
  ];
  appendFileSync(file, `${lines.join('\n')}\n`);
  return options.sentinel ? [file, '--sentinel'] : [file];
}

const run = promisify(execFile);

export type Certificates = Awaited<ReturnType<typeof makeCertificates>>;

/**
 * A throw-away CA and one server certificate of it, valid a day for loopback. PEM. Made at run time, so that no key is ever
 * kept in the project. @throws when `openssl` is missing.
 */
export async function makeCertificates(directory: string) {
  const file = (name: string): string => join(directory, name);
  const openssl = (words: string, ...more: readonly string[]) => run('openssl', [...words.split(' '), ...more]);
  const curve = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';
  const [caFile, keyFile, certFile] = [file('ca.crt'), file('server.key'), file('server.crt')];
  const ca = ['-subj', '/CN=serpcache test CA', '-keyout', file('ca.key'), '-out', caFile];
  await openssl(`req -x509 ${curve} -days 1`, ...ca);
  await openssl(`req ${curve} -subj /CN=localhost`, '-keyout', keyFile, '-out', file('server.csr'));
  // Node checks the address it dials against the alternative names only; a cluster is dialled by address.
  writeFileSync(file('names.ext'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  const signing = ['-in', file('server.csr'), '-CA', caFile, '-CAkey', file('ca.key'), '-extfile', file('names.ext')];
  await openssl('x509 -req -CAcreateserial -days 1', ...signing, '-out', certFile);
  return { ca: readFileSync(caFile, 'utf8'), caFile, certFile, keyFile };
}
