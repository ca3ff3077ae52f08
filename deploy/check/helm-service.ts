import { existsSync, mkdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts, waitUntil } from '../../loadtest/stack/process.ts';
import { startStandalone } from '../../loadtest/stack/redis.ts';
import { type CheckRun, hold } from './checker.ts';
import { environmentOf, type Release, writeConfiguration } from './helm-release.ts';
import { startServer } from './serpcache.ts';
import { run } from './tools.ts';

const HOST = '127.0.0.1';
/** Addresses and names as a scraper and operators write them. */
const POD_ADDRESS = '10.244.3.7:8081';
const REQUEST_LIMIT_MS = 5000;
const STORE_LIMIT_MS = 10_000;
/** The store of small.yaml. */
const STORE = 'valkey.stores.svc:6379';
const SEARCH = '/search?domain=goods&q=samsung';

interface Service {
  readonly publicPort: number;
  readonly adminPort: number;
  readonly release: Release;
}

/**
 * A release as a process of this machine: its configuration and environment with other addresses, its probes, a scrape, and
 * its end as a kubelet causes it. @returns what was seen.
 */
export async function checkRunning(release: Release, { folder, signal }: CheckRun): Promise<string> {
  const env = environmentOf(release);
  hold(release.configuration.includes(STORE), `deploy/helm/values/${release.name}.yaml has no store ${STORE}`);
  const acl = { username: 'serpcache', password: env['STORE_PASSWORD'] ?? '', rules: '~* &* +@all' };
  const store = await startStandalone({ flavour: 'valkey', acl });
  try {
    const [publicPort = 0, adminPort = 0] = await freePorts(2);
    const configuration = release.configuration.replaceAll(STORE, store.nodes[0]?.address ?? '');
    const file = writeConfiguration({ ...release, configuration }, folder);
    const home = join(folder, 'app');
    mkdirSync(home);
    const service = await startServer({
      cwd: home,
      logFile: join(folder, 'serpcache.log'),
      configFile: file,
      host: HOST,
      port: publicPort,
      adminPort,
      env,
      readyPath: release.container.startupProbe.httpGet.path,
    });
    try {
      signal.throwIfAborted();
      await checkAnswers({ publicPort, adminPort, release });
      hold(existsSync(join(home, 'data', 'goods.sqlite')), 'the index was not built in data');
      const seconds = await leave(service, { publicPort, adminPort, release });
      return `${release.name} started, probed, scraped by address and ended in ${seconds} of ${release.graceSeconds} s`;
    } finally {
      await service.stop();
    }
  } finally {
    await store.stop();
  }
}

async function checkAnswers({ publicPort, adminPort, release }: Service): Promise<void> {
  for (const name of ['livenessProbe', 'readinessProbe'] as const) {
    const { path, port } = release.container[name].httpGet;
    const status = await ask({ port: port === 'public' ? publicPort : adminPort, path });
    hold(status === 200, `${name} ${path} of port ${port}: ${status}`);
  }
  const isServed = async (): Promise<boolean> => (await ask({ port: publicPort, path: SEARCH })) === 200;
  hold(await waitUntil(isServed, STORE_LIMIT_MS), `${SEARCH} is not answered`);
  // Prometheus asks each Pod by address, operators by the name of the Service; neither scrape has a token.
  for (const host of [POD_ADDRESS, 'serpcache-admin:8081']) {
    const status = await ask({ port: adminPort, path: '/metrics', host });
    hold(status === 200, `/metrics by ${host}: ${status}`);
  }
  const status = await ask({ port: adminPort, path: '/admin/domains', host: POD_ADDRESS });
  hold(status === 401, `/admin/domains without the token: ${status}`);
}

interface Running {
  readonly signal: (signal: NodeJS.Signals) => void;
  readonly ended: Promise<void>;
}

/** preStop, during which it serves, then SIGTERM: not ready at once, and ended within the grace period. @returns seconds. */
async function leave(service: Running, { publicPort, release }: Service): Promise<number> {
  const startedMs = performance.now();
  const [command = '', ...args] = release.container.lifecycle.preStop.exec.command;
  const stopping = run(command, args);
  const ready = { port: publicPort, path: release.container.readinessProbe.httpGet.path };
  hold((await ask(ready)) === 200, 'it is not ready during preStop, when proxies still send requests');
  await stopping;
  const waitedSeconds = (performance.now() - startedMs) / 1000;
  hold(waitedSeconds >= Number(args[0]) - 0.1, `preStop ended after ${waitedSeconds.toFixed(1)} s`);
  service.signal('SIGTERM');
  const drains = await waitUntil(async () => (await ask(ready).catch(() => undefined)) === 503, REQUEST_LIMIT_MS, 10);
  hold(drains, 'SIGTERM came, and /readyz was never 503');
  const leftMs = release.graceSeconds * 1000 - (performance.now() - startedMs);
  const result = await Promise.race([service.ended.then(() => 'ended'), sleep(leftMs, 'late', { ref: false })]);
  hold(result === 'ended', `it has not ended within the grace period of ${release.graceSeconds} s`);
  return Math.round((performance.now() - startedMs) / 1000);
}

interface Question {
  readonly port: number;
  readonly path: string;
  /** In Host, which fetch does not let anybody choose. */
  readonly host?: string;
}

/** @returns the status. */
function ask({ port, path, host }: Question): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = host === undefined ? {} : { host };
    const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
    request({ host: HOST, port, path, headers, signal, agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    })
      .once('error', reject)
      .end();
  });
}
