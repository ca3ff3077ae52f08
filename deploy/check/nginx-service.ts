import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { accepts, freePorts, type RunningProcess, startProcess } from '../../loadtest/stack/process.ts';
import { type Certificates, makeCertificates } from '../../loadtest/stack/redis-node.ts';
import { hold } from './checker.ts';
import { startServer } from './serpcache.ts';
import { ROOT, run } from './tools.ts';

const HOST = '127.0.0.1';
/** `server_name` of the file. */
export const NAME = 'search.example';
const ANSWER_LIMIT_MS = 20_000;

/** The file that turns the microcache off. */
export const SWITCH = 'microcache-off';

const CONF = join(ROOT, 'deploy', 'nginx', 'serpcache.conf');

/** nginx with deploy/nginx/serpcache.conf, with other addresses, ports and paths and nothing else changed. */
export interface Front {
  readonly port: number;
  readonly plainPort: number;
  readonly ca: string;
  /** Loads the file again, in new workers. */
  readonly reload: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface FrontOptions {
  /** An empty folder. */
  readonly folder: string;
  /** Ports of the processes of serpcache on loopback; with one, both servers of the file are it. */
  readonly upstreamPorts: readonly number[];
}

/** @throws when `nginx -t` has anything to say but that the file is right. */
export async function startFront({ folder, upstreamPorts }: FrontOptions): Promise<Front> {
  const [port = 0, plainPort = 0, hopPort = 0] = await freePorts(3);
  const certificates = await makeCertificates(folder);
  const shipped = readFileSync(CONF, 'utf8');
  const conf = join(folder, 'serpcache.conf');
  const places = { folder, port, plainPort, hopPort, upstreamPorts, certificates };
  writeFileSync(conf, relocated(shipped, places));
  const main = join(folder, 'nginx.conf');
  writeFileSync(main, mainOf(folder));
  mkdirSync(join(folder, 'logs'));
  const args = ['-p', folder, '-e', 'stderr', '-c', main];
  const { stderr: tested } = await run('nginx', ['-t', ...args]);
  hold(!/\[\w+\]/.test(tested.replaceAll('[notice]', '')), `deploy/nginx/serpcache.conf: nginx -t says: ${tested}`);
  const nginx = await startProcess({
    name: 'nginx',
    command: 'nginx',
    args,
    cwd: folder,
    logFile: join(folder, 'nginx.log'),
    ready: () => accepts(port),
  });
  return {
    port,
    plainPort,
    ca: certificates.ca,
    reload: async () => {
      await run('nginx', ['-s', 'reload', ...args]);
    },
    stop: () => nginx.stop(),
  };
}

interface Places {
  readonly folder: string;
  readonly port: number;
  readonly plainPort: number;
  readonly hopPort: number;
  readonly upstreamPorts: readonly number[];
  readonly certificates: Certificates;
}

/** The file with the places of this machine. @throws when a place is not in it: then the file is no longer what is tested. */
function relocated(text: string, places: Places): string {
  const { folder, port, plainPort, hopPort, upstreamPorts, certificates } = places;
  const [first = 0, second = first] = upstreamPorts;
  const changes: readonly (readonly [from: RegExp, to: string])[] = [
    [/^ *listen \[::\]:.*\n/gm, ''],
    // So that another address of loopback is a stranger to /readyz.
    [/allow 127\.0\.0\.0\/8;/, `allow ${HOST};`],
    [/listen 80;/, `listen ${HOST}:${plainPort};`],
    [/listen 443 /g, `listen ${HOST}:${port} `],
    [/\b127\.0\.0\.1:8079\b/g, `${HOST}:${hopPort}`],
    [/\b10\.0\.0\.11:8080\b/g, `${HOST}:${first}`],
    [/\b10\.0\.0\.12:8080\b/g, `${HOST}:${second}`],
    [/\/etc\/nginx\/tls\/search\.example\.crt/, certificates.certFile],
    [/\/etc\/nginx\/tls\/search\.example\.key/, certificates.keyFile],
    [/\/var\/cache\/nginx-serpcache/, join(folder, 'cache')],
    [/\/etc\/nginx\/serpcache-microcache-off/, join(folder, SWITCH)],
    [/\/var\/log\/nginx\/serpcache\.log/, join(folder, 'access.log')],
  ];
  return changes.reduce((changed, [from, to]) => {
    const next = changed.replace(from, to);
    hold(next !== changed, `deploy/nginx/serpcache.conf has no ${from.source}`);
    return next;
  }, text);
}

/** The lines for nginx.conf in the head of the file. */
function mainSettings(text: string): string {
  const lines = [...text.matchAll(/^# {3}(worker_rlimit_nofile .+|events .+)$/gm)].map(([, line]) => line);
  hold(lines.length === 2, `deploy/nginx/serpcache.conf: its head has ${lines.length} lines for nginx.conf, not 2`);
  return lines.join('\n');
}

/** The rest of the configuration, with gzip on as in Debian's nginx.conf. */
function mainOf(folder: string): string {
  // The worker of a master that runs as root would drop to a user that may not enter the folder.
  const user = process.getuid?.() === 0 ? 'user root;\n' : '';
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `  ${kind}_temp_path ${join(folder, `${kind}-temp`)};`)
    .join('\n');
  return `${user}daemon off;
pid ${join(folder, 'nginx.pid')};
error_log stderr warn;
worker_processes 2;
${mainSettings(readFileSync(CONF, 'utf8'))}
http {
${temporary}
  access_log off;
  gzip on;
  include ${join(folder, 'serpcache.conf')};
}
`;
}

// --- serpcache --------------------------------------------------------------------------------------------------------

/** `clientMaxAge`, which also bounds stale-while-revalidate. */
export const MAX_AGE_MS = 3000;
/** Misses of one client at once, in each process. */
export const MISS_BURST = 10;
const TOKEN = 'a-token-for-one-check';
const WORDS = ['alpha', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot', 'golf'];
const DOCUMENTS_PER_WORD = 30;

/** Two processes over one embedded index, without a store. */
export interface Fleet {
  readonly ports: readonly number[];
  /** Fills the memory of each process with a page. */
  readonly warm: (path: string) => Promise<void>;
  /** In each process: without a store they do not hear of each other's changes. */
  readonly admin: (path: string, body: object) => Promise<void>;
  /** Searches read in the fast path, of both processes. */
  readonly laneSearches: () => Promise<number>;
  /** SIGTERM, and a new process when it has ended. */
  readonly restart: (at: number) => Promise<void>;
  /** SIGKILL to both. */
  readonly kill: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export async function startFleet(folder: string): Promise<Fleet> {
  const [first = 0, second = 0, ...adminPorts] = await freePorts(4);
  const ports = [first, second];
  const config = join(folder, 'serpcache.yaml');
  // JSON is YAML.
  writeFileSync(config, JSON.stringify(configurationIn(folder)));
  const documents = WORDS.flatMap((word) =>
    Array.from({ length: DOCUMENTS_PER_WORD }, (_, at) => `${word[0]}-${at},${word} number ${at},${at}`),
  );
  const catalogue = join(folder, 'goods.csv');
  writeFileSync(catalogue, `id,title,price\n${documents.join('\n')}\n`);
  const cli = join(ROOT, 'src', 'cli.ts');
  await run(process.execPath, [cli, 'index', 'goods', catalogue], {
    cwd: folder,
    env: { ...process.env, SERPCACHE_CONFIG: config },
  });
  const start = (at: number): Promise<RunningProcess> =>
    startServer({
      name: `serpcache ${at}`,
      cwd: folder,
      logFile: join(folder, `serpcache-${at}.log`),
      configFile: config,
      host: HOST,
      port: ports[at] ?? 0,
      adminPort: adminPorts[at] ?? 0,
      env: { ADMIN_TOKEN: TOKEN },
    });
  const running: RunningProcess[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(running.map((one) => one.stop()));
  };
  try {
    for (const at of ports.keys()) running.push(await start(at));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ports,
    warm: async (path) => {
      for (const port of ports) await fetch(`http://${HOST}:${port}${path}`).then((reply) => reply.arrayBuffer());
    },
    admin: async (path, body) => {
      for (const port of adminPorts) await change(`http://${HOST}:${port}${path}`, body);
    },
    laneSearches: async () => {
      const counts = await Promise.all(adminPorts.map((port) => laneSearches(`http://${HOST}:${port}/metrics`)));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    restart: async (at) => {
      await running[at]?.stop();
      running[at] = await start(at);
    },
    kill: async () => {
      for (const one of running) one.signal('SIGKILL');
      await Promise.all(running.map(({ ended }) => ended));
    },
    stop,
  };
}

function configurationIn(folder: string): object {
  return {
    public: {
      // Other work runs on this machine: a late event loop is no reason to shed.
      maxLoopDelay: '2s',
      trustedProxies: [HOST],
      clientHeader: 'x-api-key',
      missBudget: { perMinute: 1, burst: MISS_BURST },
    },
    domains: {
      goods: {
        store: { kind: 'none' },
        engine: { kind: 'sqlite', directory: folder },
        freshness: { clientMaxAge: `${MAX_AGE_MS / 1000}s`, staleWhileRevalidate: '1m', emptyTtl: '5m' },
        attributes: { price: { type: 'integer', sort: true } },
      },
    },
  };
}

async function change(url: string, body: object): Promise<void> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
  });
  const text = await reply.text();
  hold(reply.ok, `${url}: ${reply.status} ${text}`);
}

async function laneSearches(url: string): Promise<number> {
  const reply = await fetch(url, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
  return Number(/^serpcache_lane_searches_total(?:\{[^}]*\})? (\d+)$/m.exec(await reply.text())?.[1] ?? 0);
}

// --- clients ----------------------------------------------------------------------------------------------------------

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly cacheStatus: string;
  readonly body: string;
}

interface Asking {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Asks nginx by HTTPS from an address of its own: limits and budgets are for each address. */
export function clientOf({ port, ca }: Pick<Front, 'port' | 'ca'>, address: string) {
  // The certificate of the check is for loopback, and the file serves one name.
  const identity = { servername: NAME, checkServerIdentity: () => undefined };
  const agent = new Agent({ keepAlive: true, ca, maxSockets: 256, ...identity });
  const askOnce = ({ path, method = 'GET', headers = {}, body }: Asking): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const sent = request(
        {
          host: HOST,
          port,
          path,
          method,
          agent,
          signal,
          localAddress: address,
          headers: { host: NAME, ...length, ...headers },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.once('error', reject).once('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              cacheStatus: String(response.headers['cache-status'] ?? ''),
              body: Buffer.concat(chunks).toString('utf8'),
            }),
          );
        },
      );
      // A server may close a kept connection while a request is on its way. Every client sends such a request again.
      sent
        .once('error', (error) => reject(sent.reusedSocket && isReset(error) ? new ClosedMeanwhile() : error))
        .end(body);
    });
  return {
    ask: (asking: Asking): Promise<Reply> =>
      askOnce(asking).catch((error: unknown) => {
        if (error instanceof ClosedMeanwhile) return askOnce(asking);
        throw error;
      }),
    close: (): void => agent.destroy(),
  };
}

class ClosedMeanwhile extends Error {}

function isReset(error: Error): boolean {
  return 'code' in error && error.code === 'ECONNRESET';
}

export type Client = ReturnType<typeof clientOf>;

export function searchPath(text: string, more = ''): string {
  return `/search?q=${encodeURIComponent(text)}${more}`;
}
