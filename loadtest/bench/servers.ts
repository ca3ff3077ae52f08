/** The processes of a bench: service, bare server and stores, each on its processor, ended together. */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeDemoIndexes } from '../../src/commands/index-catalogue.ts';
import { embeddedDomains, loadSettings } from '../../src/config/load.ts';
import { systemClock } from '../../src/runtime.ts';
import { accepts, freePorts, pin, startProcess } from '../stack/process.ts';
import type { RedisStack } from '../stack/redis.ts';
import type { BarePlan } from './bare.ts';

/** Processors, as taskset counts them. */
export interface BenchCores {
  readonly server: number;
  /** The processor of wrk and of the stores. */
  readonly client: number;
}

export interface Server {
  readonly url: string;
  readonly pid: number;
}

export interface ServiceOptions {
  readonly name: string;
  /** YAML of the domain's store. */
  readonly store: string;
  /** `64MiB` */
  readonly memory: string;
  /** YAML of further sections, such as a control store. */
  readonly more?: string;
  /** Another checkout to run; this one when absent. Configuration and indexes are this one's. */
  readonly checkout?: string;
}

export interface Service extends Server {
  readonly settings: ReturnType<typeof loadSettings>;
}

export type Servers = ReturnType<typeof createServers>;

const ROOT = resolve(import.meta.dirname, '..', '..');
/** Port of the admin listener, above the service's own; `freePorts` finds both free. */
const ADMIN_OFFSET = 10_000;

export function createServers(folder: string, cores: BenchCores) {
  const cleanUp = new AsyncDisposableStack();

  async function start(name: string, port: number, args: readonly string[], env: Record<string, string>) {
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
    return { url: `http://127.0.0.1:${port}`, pid: started.pid };
  }

  return {
    startService: async ({ name, store, memory, more = '', checkout = ROOT }: ServiceOptions): Promise<Service> => {
      const file = join(folder, `${name}.yaml`);
      writeFileSync(file, configOf(store, memory, more));
      const settings = loadSettings({ env: { SERPCACHE_CONFIG: file }, cwd: ROOT });
      await makeDemoIndexes(settings, { clock: systemClock, output: process.stderr });
      const [port = 0] = await freePorts(1);
      const ports = { PORT: `${port}`, ADMIN_PORT: `${port + ADMIN_OFFSET}` };
      const env = { SERPCACHE_CONFIG: file, ...ports, LOG_LEVEL: 'warn' };
      return { ...(await start(name, port, [join(checkout, 'src/main.ts')], env)), settings };
    },
    startBare: async (plan: Omit<BarePlan, 'port'>): Promise<Server> => {
      const [port = 0] = await freePorts(1);
      const file = join(folder, 'bare.json');
      writeFileSync(file, JSON.stringify({ ...plan, port }));
      return start('bare', port, ['loadtest/bench/bare.ts', file], {});
    },
    startStores: async (starting: Promise<RedisStack>): Promise<RedisStack> => {
      const stack = await starting;
      cleanUp.defer(stack.stop);
      const pids = stack.nodes.map((node) => node.pid());
      await pin(pids, `${cores.client}`);
      return stack;
    },
    /** Ends everything that was started here, in reverse order. */
    [Symbol.asyncDispose]: () => cleanUp.disposeAsync(),
  };
}

export function adminUrl(url: string): string {
  return url.replace(/\d+$/, (port) => `${Number(port) + ADMIN_OFFSET}`);
}

function configOf(store: string, memory: string, more: string): string {
  const { engine, attributes } = embeddedDomains(join(ROOT, 'data'))['goods'] ?? {};
  return `${more}memory: { maxBytes: ${memory} }
compression: { coding: identity }
domains:
  goods:
    ${store}
    engine: ${JSON.stringify(engine)}
    freshness: { ttl: 1h }
    attributes: ${JSON.stringify(attributes)}
`;
}
