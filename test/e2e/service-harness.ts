import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accepts, freePorts, type RunningProcess, startProcess } from '../../loadtest/stack/process.ts';
import { embeddedDomains } from '../../src/config/load.ts';

/**
 * The goods of the demo catalogue, as `npm start` has them. The files of one run share the index, which the first process
 * makes. @param directory of the index for a file that is run alone
 */
export const demoGoods = (directory: string): Readonly<Record<string, unknown>> => {
  const run = process.env['SERPCACHE_TEST_RUN'];
  return embeddedDomains(run === undefined ? directory : join(run, 'demo'))['goods'] ?? {};
};

/** The same as the `domains:` of a configuration. */
export const demoDomains = (directory: string): string => `  goods: ${JSON.stringify(demoGoods(directory))}\n`;

export type Service = Awaited<ReturnType<typeof startService>>;

/**
 * `src/main.ts` in a process of its own, as operators run it.
 * @param domains the `domains:` part of the configuration, as YAML indented by two.
 */
export async function startService(domains: string, env: Readonly<Record<string, string>> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'serpcache-e2e-'));
  const config = join(directory, 'config.yaml');
  const logFile = join(directory, 'serpcache.log');
  // On a busy machine a late event loop is no reason to shed.
  writeFileSync(config, `public: { maxLoopDelay: 1m }\ndomains:\n${domains}`);
  writeFileSync(logFile, '');
  const [port = 0, adminPort = 0] = await freePorts(2);
  const start = (): Promise<RunningProcess> =>
    startProcess({
      name: 'serpcache',
      command: process.execPath,
      args: [join(import.meta.dirname, '../../src/main.ts')],
      cwd: directory,
      env: { SERPCACHE_CONFIG: config, PORT: `${port}`, ADMIN_PORT: `${adminPort}`, LOG_LEVEL: 'debug', ...env },
      logFile,
      ready: () => accepts(port),
    });
  let running = await start();
  return {
    url: `http://127.0.0.1:${port}`,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    /** Its working directory. */
    directory,
    process: () => running,
    /** Stops it gracefully and starts it again on the same ports: only L1 is lost. */
    restart: async (): Promise<void> => {
      await running.stop();
      running = await start();
    },
    log: () => readFileSync(logFile, 'utf8'),
    stop: async (): Promise<void> => {
      await running.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export type Reply = Awaited<ReturnType<typeof ask>>;

/** One search. `more` is further parameters, as in a URL. */
export async function ask(service: Pick<Service, 'url'>, q: string, more = '', headers: Record<string, string> = {}) {
  const response = await fetch(`${service.url}/search?q=${encodeURIComponent(q)}${more}`, { headers });
  const body = await response.text();
  return {
    status: response.status,
    cacheStatus: response.headers.get('cache-status') ?? '',
    etag: response.headers.get('etag'),
    headers: response.headers,
    body,
  };
}
