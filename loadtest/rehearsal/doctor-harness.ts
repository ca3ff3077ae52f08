import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAdminClient } from '../../src/commands/admin-client.ts';
import type { Report } from '../../src/operations/doctor/report.ts';
import type { SearchDomain } from '../../src/search/domain.ts';
import { createDnsNames, type DnsNames } from '../fault-proxy/dns-names.ts';
import { createClient } from '../http-driver/client.ts';
import { openLoop } from '../http-driver/loops.ts';
import { type LabNamespace, namespacesProblem, startNamespace } from '../labs/kit/namespace.ts';
import { newToken } from '../stack/plan.ts';
import { freePorts, type RunningProcess, startProcess } from '../stack/process.ts';
import { startCluster, startStandalone, until } from '../stack/redis.ts';
import { type RedisNode, startRedisNode } from '../stack/redis-node.ts';
import { type RunningSearchd, sampleGoods, startSearchd } from '../stack/sphinx.ts';
import { queriesOf } from '../traffic/queries.ts';
import { createZipf } from '../traffic/zipf.ts';

/** The patients: three domains on three stores, one search engine, one service under load. */
export interface Patients {
  /** Three masters of a Redis cluster: the store of `goods`. */
  readonly goods: readonly [RedisNode, RedisNode, RedisNode];
  /** A Valkey server with a replica: the store of `jobs`, configured by a name. */
  readonly jobs: RedisNode;
  readonly jobsReplica: RedisNode;
  readonly names: DnsNames;
  /** A Redis server behind a virtual network: the store of `cars`. */
  readonly cars: RedisNode;
  readonly wire: LabNamespace;
  readonly searchd: RunningSearchd;
}

export type DoctorHarness = Awaited<ReturnType<typeof startDoctorHarness>>;

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENTS = 2000;
const TEXTS = 800;
/** Connections that searchd accepts; the service may use 12 of them. */
export const MAX_CHILDREN = 24;
export const JOBS_NAME = 'jobs-store.test';
const WINDOW_MS = 1000;
const EXPONENT = 0.8;

/** A fact of the machine on which the rehearsal runs, which no fault of it may change. */
const ACKNOWLEDGED = [
  {
    check: 'host-swap',
    reason: 'the machine of the rehearsal, shared and not configured for it',
    until: '2099-12-31',
  },
];

/** @throws with one clear line when a server or a right is missing. Everything started is ended by `stop`. */
export async function startDoctorHarness(say: (text: string) => void) {
  const problem = await namespacesProblem([['tbf', 'rate', '100mbit', 'burst', '32kb', 'latency', '20ms']]);
  if (problem !== undefined) throw new Error(`the network faults of the doctor ${problem}`);
  install('redis', 'valkey', 'sphinx');
  const ends: (() => unknown)[] = [];
  const stop = async (): Promise<void> => {
    for (const end of ends.splice(0).toReversed()) await end();
  };
  const stopping = new AbortController();
  try {
    const directory = mkdtempSync(join(tmpdir(), 'serpcache-doctor-'));
    ends.push(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
    say('three stores, a control store and searchd');
    const [goods, control, patients, searchd] = await Promise.all([
      startCluster({ flavour: 'redis', masters: 3 }),
      startStandalone({ flavour: 'redis' }),
      startJobsAndCars(directory, ends, stopping.signal),
      startIndex(join(directory, 'searchd')),
    ]);
    ends.push(goods.stop, control.stop, searchd.stop);
    const [controlNode] = control.nodes;
    await controlNode?.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    const names = createDnsNames(directory);
    names.set(JOBS_NAME, ['127.0.0.1']);
    const [port = 0, adminPort = 0] = await freePorts(2);
    const token = newToken();
    const acknowledged = join(directory, 'acknowledged.yaml');
    writeFileSync(acknowledged, JSON.stringify(ACKNOWLEDGED));
    const { domain, documents } = sampleGoods(DOCUMENTS);
    const configuration = configurationOf({
      domain,
      goods: goods.nodes.map(({ address }) => address),
      jobs: `${JOBS_NAME}:${patients.jobs.port}`,
      cars: patients.cars.address,
      control: controlNode?.address ?? '',
      searchd: searchd.port,
      acknowledged,
    });
    const configFile = join(directory, 'serpcache.yaml');
    writeFileSync(configFile, JSON.stringify(configuration));
    const env = { SERPCACHE_CONFIG: configFile, ADMIN_TOKEN: token, PORT: String(port), ADMIN_PORT: String(adminPort) };
    say('serpcache');
    const service: RunningProcess = await startProcess({
      name: 'serpcache',
      command: process.execPath,
      args: [join(ROOT, 'src', 'main.ts')],
      cwd: directory,
      logFile: join(directory, 'serpcache.log'),
      env: { ...env, NODE_OPTIONS: names.nodeOptions, LOG_LEVEL: 'warn' },
      ready: async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok,
    });
    ends.push(() => service.stop());
    const admin = createAdminClient({
      base: new URL(`http://127.0.0.1:${adminPort}`),
      token,
      operator: 'rehearsal',
      signal: stopping.signal,
    });
    ends.push(() => stopping.abort());
    const all: Patients = { goods: threeOf(goods.nodes), names, searchd, ...patients };
    return {
      patients: all,
      directory,
      configFile,
      env,
      service,
      url: `http://127.0.0.1:${port}`,
      texts: queriesOf([...documents], TEXTS).repeated,
      /** One examination of three windows. */
      examine: async (): Promise<Report> => {
        const path = '/admin/doctor/examination';
        const { report } = await admin.get<{ readonly report: Report }>(path, {
          query: [['window', String(WINDOW_MS)]],
        });
        return report;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function install(...parts: readonly string[]): void {
  const file = join(import.meta.dirname, '../stack/install.ts');
  const { status } = spawnSync(process.execPath, [file, ...parts], { stdio: 'inherit' });
  if (status !== 0) throw new Error('a server of the rehearsal cannot be installed, see above');
}

async function startJobsAndCars(directory: string, ends: (() => unknown)[], signal: AbortSignal) {
  const [jobsPort = 0, replicaPort = 0] = await freePorts(2);
  const at = (name: string): string => join(directory, name);
  const config = ['maxmemory 256mb', 'maxmemory-clients 0', 'repl-backlog-size 1mb'];
  const jobs = await startRedisNode({ flavour: 'valkey', port: jobsPort, directory: at('jobs'), config });
  ends.push(jobs.stop);
  const replicaConfig = [...config, `replicaof 127.0.0.1 ${jobsPort}`];
  const jobsReplica = await startRedisNode({
    flavour: 'valkey',
    port: replicaPort,
    directory: at('jobs-replica'),
    config: replicaConfig,
  });
  ends.push(jobsReplica.stop);
  const removals: (() => unknown)[] = [];
  const wire = await startNamespace({
    signal,
    atEnd: (end) => void removals.push(end),
    startStore: () => {
      throw new Error('the rehearsal starts its stores itself');
    },
  });
  ends.push(async () => {
    for (const remove of removals) await remove();
  });
  const [carsPort = 0] = await freePorts(1);
  mkdirSync(at('cars'), { recursive: true });
  const cars = await startRedisNode({
    flavour: 'redis',
    port: carsPort,
    directory: at('cars'),
    config: ['maxmemory 256mb'],
    host: wire.insideAddress,
    through: wire.through,
  });
  ends.push(cars.stop);
  await until('the replica of jobs', async () =>
    String(await jobsReplica.command('INFO', 'replication')).includes('master_link_status:up'),
  );
  return { jobs, jobsReplica, cars, wire };
}

function startIndex(directory: string): Promise<RunningSearchd> {
  const { domain, documents } = sampleGoods(DOCUMENTS);
  return startSearchd({
    directory,
    from: { domains: [{ domain, index: 'goods', documents }] },
    maxConnections: MAX_CHILDREN,
  });
}

function threeOf([first, second, third]: readonly RedisNode[]): readonly [RedisNode, RedisNode, RedisNode] {
  if (first === undefined || second === undefined || third === undefined) throw new Error('a cluster of three nodes');
  return [first, second, third];
}

/** JSON, which is valid YAML. The memory holds a part of the pages only, so that every store is read. */
function configurationOf(parts: {
  readonly domain: SearchDomain;
  readonly goods: readonly string[];
  readonly jobs: string;
  readonly cars: string;
  readonly control: string;
  readonly searchd: number;
  readonly acknowledged: string;
}) {
  const { domain, goods, jobs, cars, control, searchd, acknowledged } = parts;
  const stores = {
    goods: { kind: 'cluster', nodes: goods },
    jobs: { kind: 'standalone', nodes: [jobs] },
    cars: { kind: 'standalone', nodes: [cars], deadline: '30ms' },
  };
  const engine = {
    kind: 'sphinx',
    host: '127.0.0.1',
    port: searchd,
    index: 'goods',
    idAttribute: 'doc_id',
    maxConcurrent: 4,
  };
  const own = {
    engine,
    freshness: { ttl: '1h', emptyTtl: '1h' },
    attributes: Object.fromEntries(domain.attributes.map(({ name, ...declared }) => [name, declared])),
    context: Object.fromEntries(domain.context.map(({ name, ...declared }) => [name, declared])),
  };
  return {
    log: { hitSample: 0 },
    memory: { maxBytes: '3MiB' },
    compression: { coding: 'identity' },
    doctor: { interval: '2s', acknowledged },
    control: { kind: 'standalone', nodes: [control] },
    domains: Object.fromEntries(Object.entries(stores).map(([name, store]) => [name, { ...own, store }])),
  };
}

const PATIENCE_MS = 5000;
/** The load ends by itself after this time. */
const MAX_LOAD_MS = 20 * 60_000;

/** Repeated searches of the three domains in turn, in an open loop. */
export function startDoctorLoad({ url, texts }: Pick<DoctorHarness, 'url' | 'texts'>, ratePerSecond: number) {
  const client = createClient({ baseUrl: url, patienceMs: PATIENCE_MS, maxConnections: 256 });
  const rank = createZipf({ size: texts.length, exponent: EXPONENT });
  const domains = ['goods', 'jobs', 'cars'];
  let answers = 0;
  const send = async (n: number): Promise<void> => {
    const text = texts[rank(Math.random)] ?? '';
    const reply = await client.get(`/search?domain=${domains[n % domains.length]}&q=${encodeURIComponent(text)}`);
    if (reply.kind === 'answer' && reply.status === 200) answers += 1;
  };
  const loop = openLoop({ ratePerSecond, random: Math.random, send });
  const stop = (): void => {
    loop.stop();
    clearTimeout(limit);
    client.close();
  };
  const limit = setTimeout(stop, MAX_LOAD_MS);
  return { answers: () => answers, stop };
}
