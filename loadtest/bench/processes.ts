/** The processes of a bench: services, peers and stores, each on its processor, ended together. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeDemoIndexes } from '../../src/commands/demo.ts';
import { embeddedDomains, loadSettings } from '../../src/config/load.ts';
import { systemClock } from '../../src/runtime.ts';
import { parseMetrics, type Series } from '../k6/kit/metrics-text.ts';
import { type Peer, processTree, type ReplicaSetup } from '../labs/peers/peer.ts';
import { serviceConfig } from '../labs/peers/serpcache.ts';
import { accepts, freePort, pin, startProcess } from '../stack/process.ts';
import { startStandalone } from '../stack/redis.ts';
import type { RedisNode } from '../stack/redis-node.ts';
import { sampleGoods, startSearchd } from '../stack/sphinx.ts';
import type { ServerPlan } from './server.ts';

/** Processors, as taskset counts them. */
export interface BenchCores {
  readonly server: number;
  /** The processor of wrk and of the stores. */
  readonly client: number;
}

export interface Server {
  readonly url: string;
  /** All its processes, for processor time. */
  readonly pids: () => readonly number[];
}

export interface ServiceOptions {
  readonly name: string;
  /** YAML of the domain's store. */
  readonly store?: string;
  /** `64MiB` */
  readonly memory?: string;
  /** YAML of further sections, such as a control store. */
  readonly more?: string;
  readonly coding?: 'identity' | 'gzip';
  /** Instead of the embedded engine. */
  readonly engine?: ReplicaSetup['engine'];
  /** Another checkout to run; this one when absent. Configuration and indexes are this one's. */
  readonly checkout?: string;
  readonly nodeOptions?: readonly string[];
}

export interface Service extends Server {
  readonly settings: ReturnType<typeof loadSettings>;
  /** The port of its debugger, when it was started with one. */
  readonly debugPort?: number;
}

export type Processes = ReturnType<typeof createProcesses>;

const ROOT = resolve(import.meta.dirname, '..', '..');
/** Port of the admin listener, above the service's own; `freePorts` finds both free. */
const ADMIN_OFFSET = 10_000;
const ORIGIN = 'loadtest/labs/peers/origin-server.ts';
const DOCUMENTS = 6000;
const TTL_SECONDS = 3600;

/** @param isDebugged services open a debugger, for a profile */
export function createProcesses(folder: string, cores: BenchCores, isDebugged = false) {
  const cleanUp = new AsyncDisposableStack();

  async function start(name: string, port: number, args: readonly string[], env: Record<string, string> = {}) {
    const started = await startProcess({
      name,
      command: 'taskset',
      args: ['-c', `${cores.server}`, process.execPath, ...args],
      cwd: ROOT,
      env,
      logFile: join(folder, `${name}.log`),
      ready: () => accepts(port),
    });
    cleanUp.defer(() => started.stop());
    return { url: `http://127.0.0.1:${port}`, pids: () => processTree(started.pid) };
  }

  return {
    startService: async (options: ServiceOptions): Promise<Service> => {
      const { name, checkout = ROOT, nodeOptions = [] } = options;
      const file = join(folder, `${name}.yaml`);
      writeFileSync(file, configOf(options));
      const settings = loadSettings({ env: { SERPCACHE_CONFIG: file }, cwd: ROOT });
      await makeDemoIndexes(settings, { clock: systemClock, output: process.stderr });
      const port = await freePort();
      const env = {
        SERPCACHE_CONFIG: file,
        PORT: `${port}`,
        ADMIN_PORT: `${port + ADMIN_OFFSET}`,
        LOG_LEVEL: 'warn',
      };
      const debugPort = isDebugged ? await freePort() : undefined;
      const debug = debugPort === undefined ? [] : [`--inspect=127.0.0.1:${debugPort}`];
      const started = await start(name, port, [...debug, ...nodeOptions, join(checkout, 'src/main.ts')], env);
      return { ...started, settings, debugPort };
    },
    /** A server of server.ts. */
    startNode: async (plan: Omit<ServerPlan, 'port'>): Promise<Server> => {
      const port = await freePort();
      const file = join(folder, `node-${port}.json`);
      writeFileSync(file, JSON.stringify({ ...plan, port }));
      return start(`node-${plan.kind}`, port, ['loadtest/bench/server.ts', file]);
    },
    /** node:http, the engine of serpcache and nothing else: each request is a search. */
    startOrigin: async (engine: ReplicaSetup['engine']): Promise<Server> => {
      const port = await freePort();
      const file = join(folder, 'origin.json');
      writeFileSync(file, configOf({ name: 'origin', engine }));
      return start('origin', port, [ORIGIN, `${port}`, file, `${TTL_SECONDS}`]);
    },
    startPeer: async (
      peer: Peer,
      setup: Partial<Pick<ReplicaSetup, 'origin' | 'store' | 'headers'>>,
    ): Promise<Server> => {
      const port = await freePort();
      const own = join(folder, `peer-${port}`);
      mkdirSync(own);
      const nowhere = { host: '127.0.0.1', port: 1 };
      const running = await peer.start({
        folder: own,
        port,
        origin: 'http://127.0.0.1:1',
        store: nowhere,
        engine: { ...nowhere, index: '' },
        cores: `${cores.server}`,
        ttlSeconds: TTL_SECONDS,
        staleSeconds: 60,
        ...setup,
      });
      cleanUp.defer(running.stop);
      return running;
    },
    startSearchd: async (): Promise<ReplicaSetup['engine']> => {
      const domains = [{ ...sampleGoods(DOCUMENTS), index: 'goods' }];
      const searchd = await startSearchd({ directory: join(folder, 'searchd'), from: { domains } });
      cleanUp.defer(searchd.stop);
      await pin([searchd.process.pid], `${cores.client}`);
      return { host: searchd.host, port: searchd.port, index: 'goods' };
    },
    startRedis: async (): Promise<RedisNode> => {
      const { nodes, stop } = await startStandalone({ flavour: 'redis' });
      cleanUp.defer(stop);
      await pin([nodes[0].pid()], `${cores.client}`);
      return nodes[0];
    },
    /** Called before the processes end. */
    defer: (end: () => Promise<void>): void => cleanUp.defer(end),
    [Symbol.asyncDispose]: () => cleanUp.disposeAsync(),
  };
}

export async function metricsOf({ url }: Service): Promise<readonly Series[]> {
  const adminUrl = url.replace(/\d+$/, (port) => `${Number(port) + ADMIN_OFFSET}`);
  return parseMetrics(await (await fetch(`${adminUrl}/metrics`)).text());
}

/** Downstream caches may keep a page as long as the service does, so that none of them asks again during a bench. */
function configOf({ store = 'store: { kind: none }', memory = '64MiB', more = '', ...rest }: ServiceOptions): string {
  const { coding = 'identity', engine: searchd } = rest;
  if (searchd !== undefined)
    return serviceConfig({ engine: searchd, memory, ttlSeconds: TTL_SECONDS, staleSeconds: 0 });
  const { engine, attributes } = embeddedDomains(join(ROOT, 'data'))['goods'] ?? {};
  return `${more}memory: { maxBytes: ${memory} }
compression: { coding: ${coding} }
domains:
  goods:
    ${store}
    engine: ${JSON.stringify(engine)}
    freshness: { ttl: ${TTL_SECONDS}s, clientMaxAge: ${TTL_SECONDS}s }
    attributes: ${JSON.stringify(attributes)}
`;
}
