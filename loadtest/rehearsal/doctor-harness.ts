import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Report } from '../../src/operations/doctor/report.ts';
import { createDnsNames } from '../fault-proxy/dns-names.ts';
import { namespacesProblem, startNamespace } from '../labs/kit/namespace.ts';
import { installParts } from '../stack/parts.ts';
import { freePorts } from '../stack/process.ts';
import { linkUp, startCluster, startStandalone, until } from '../stack/redis.ts';
import { type RedisNode, startRedisNode } from '../stack/redis-node.ts';
import { declarationOf, startService } from '../stack/service.ts';
import { sampleGoods, startSearchd } from '../stack/sphinx.ts';
import { queriesOf } from '../traffic/queries.ts';
import { startLoad } from './load.ts';

export type DoctorHarness = Awaited<ReturnType<typeof startDoctorHarness>>;
/** Three domains on three stores, one search engine, one service under load. */
export type Patients = DoctorHarness['patients'];

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
  installParts(['redis', 'valkey', 'sphinx']);
  await using parts = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), 'serpcache-doctor-'));
  parts.defer(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  say('three stores, a control store and searchd');
  const { domain, documents } = sampleGoods(DOCUMENTS);
  const [{ nodes, ...cluster }, control, stores, searchd] = await Promise.all([
    startCluster({ flavour: 'redis', masters: 3 }),
    startStandalone({ flavour: 'redis' }),
    startJobsAndCars(directory, parts),
    startSearchd({
      directory: join(directory, 'searchd'),
      from: { domains: [{ domain, index: 'goods', documents }] },
      maxConnections: MAX_CHILDREN,
    }),
  ]);
  for (const { stop } of [cluster, control, searchd]) parts.defer(stop);
  for (const node of control.nodes) await node.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
  const names = createDnsNames(directory);
  names.set(JOBS_NAME, ['127.0.0.1']);
  const acknowledged = join(directory, 'acknowledged.yaml');
  writeFileSync(acknowledged, JSON.stringify(ACKNOWLEDGED));
  const addresses = (all: readonly RedisNode[]): readonly string[] => all.map(({ address }) => address);
  const engine = {
    kind: 'sphinx',
    host: '127.0.0.1',
    port: searchd.port,
    index: 'goods',
    idAttribute: 'doc_id',
    maxConcurrent: 4,
  };
  const domains = {
    goods: { kind: 'cluster', nodes: addresses(nodes) },
    jobs: { kind: 'standalone', nodes: [`${JOBS_NAME}:${stores.jobs.port}`] },
    cars: { kind: 'standalone', nodes: [stores.cars.address], deadline: '30ms' },
  };
  const own = { engine, freshness: { ttl: '1h', emptyTtl: '1h' }, ...declarationOf(domain) };
  say('serpcache');
  const service = await startService({
    name: 'serpcache',
    directory,
    env: { NODE_OPTIONS: names.nodeOptions },
    configuration: {
      log: { hitSample: 0 },
      // It holds a part of the pages only, so that every store is read.
      memory: { maxBytes: '3MiB' },
      compression: { coding: 'identity' },
      doctor: { interval: '2s', acknowledged },
      control: { kind: 'standalone', nodes: addresses(control.nodes) },
      domains: Object.fromEntries(Object.entries(domains).map(([name, store]) => [name, { ...own, store }])),
    },
  });
  parts.defer(service.stop);
  const started = parts.move();
  return {
    /** `goods`: three masters of a Redis cluster. */
    patients: { goods: nodes as [RedisNode, RedisNode, RedisNode], names, searchd, ...stores },
    directory,
    env: service.env,
    /** Repeated searches of the three domains in turn. */
    load: (ratePerSecond: number) =>
      startLoad(
        {
          replicas: Object.keys(domains).map((name) => ({ url: service.url, domain: name })),
          queries: queriesOf([...documents], TEXTS),
        },
        ratePerSecond,
        EXPONENT,
      ),
    /** One examination of three windows. */
    examine: async (): Promise<Report> => {
      const query = [['window', String(WINDOW_MS)]] as const;
      return (await service.admin.get<{ readonly report: Report }>('/admin/doctor/examination', { query })).report;
    },
    stop: () => started.disposeAsync(),
  };
}

/** `jobs`: a Valkey server with a replica, configured by a name; `cars`: a Redis server behind a virtual network. */
async function startJobsAndCars(directory: string, parts: AsyncDisposableStack) {
  const [jobsPort = 0, replicaPort = 0, carsPort = 0] = await freePorts(3);
  const started = async (options: Parameters<typeof startRedisNode>[0]): Promise<RedisNode> => {
    const node = await startRedisNode(options);
    parts.defer(node.stop);
    return node;
  };
  const at = (name: string): string => join(directory, name);
  const config = ['maxmemory 256mb', 'maxmemory-clients 0', 'repl-backlog-size 1mb'];
  const jobs = await started({ flavour: 'valkey', port: jobsPort, directory: at('jobs'), config });
  const jobsReplica = await started({
    flavour: 'valkey',
    port: replicaPort,
    directory: at('jobs-replica'),
    config: [...config, `replicaof 127.0.0.1 ${jobsPort}`],
  });
  const wire = await startNamespace({
    signal: new AbortController().signal,
    atEnd: (end) => parts.defer(async () => void (await end())),
    startStore: () => {
      throw new Error('the rehearsal starts its stores itself');
    },
  });
  mkdirSync(at('cars'), { recursive: true });
  const cars = await started({
    flavour: 'redis',
    port: carsPort,
    directory: at('cars'),
    config: ['maxmemory 256mb'],
    host: wire.insideAddress,
    through: wire.through,
  });
  await until('the replica of jobs', () => linkUp(jobsReplica));
  return { jobs, jobsReplica, cars, wire };
}
